/** The records of the API that the pages of senders show. */

export interface Sender {
  id: number;
  nickname: string;
  from_name: string;
  from_email: string;
  reply_to_email: string;
  company_address: string;
  company_address2: string;
  zip_code: string;
  country_id: number;
  state_id: number;
  city_id: number;
}

export interface Verification {
  sender_id: number;
  is_verified: 0 | 1;
  sent_at: string | null;
  state: 'queued' | 'sending' | 'accepted' | 'bounced' | 'failed' | 'suppressed' | 'cancelled' | null;
  reply: string | null;
  held_reason: string | null;
  resend_at: string | null;
}

export interface TxtRecord {
  name: string;
  value: string;
}

export interface DnsCheck {
  name: 'SPF' | 'DKIM' | 'DMARC' | 'Alignment';
  state: 'ok' | 'warn' | 'fail';
  found: string;
  advice: readonly string[];
  record: TxtRecord | null;
}

export interface DkimKey extends TxtRecord {
  id: number;
  state: 'signing' | 'waiting' | 'former';
  is_published: 0 | 1 | null;
  created_at: string;
}

export interface SenderDomain {
  domain: string;
  return_path: string;
  dkim: readonly DkimKey[];
  may_sign: 0 | 1;
  checked_at: string | null;
  checks: readonly DnsCheck[];
}

/** The warm-up of a domain. Days are YYYY-MM-DD. */
export interface WarmUp {
  domain: string;
  state: 'waiting' | 'on' | 'over';
  starts_on: string;
  until_volume: number;
  today: number;
  sent_today: number;
  ends_on: string;
}

export interface Checks {
  verifications: readonly Verification[];
  domains: readonly SenderDomain[];
}

export interface Usage {
  queued: number;
  sending: number;
  live_automations: number;
  drafts: number;
}

interface Place {
  id: number;
  name: string;
}

export interface City extends Place {
  state_id: number | null;
}

export interface Places {
  countries: readonly Place[];
  states: readonly Place[];
  cities: readonly City[];
}
