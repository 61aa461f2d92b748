/** What the API gives of the addresses at which mail providers report events. */

export const PROVIDERS = ['ses', 'mailgun', 'postmark', 'sendgrid', 'brevo', 'sparkpost'] as const;
export type Provider = (typeof PROVIDERS)[number];

export interface Intake {
  id: number;
  provider: Provider;
  url: string;
  has_secret: 0 | 1;
  topic: string | null;
  permanent: number;
  returned: number;
  temporary: number;
  complaints: number;
  unsubscribes: number;
  others: number;
  unmatched: number;
  duplicates: number;
  last_event: string | null;
  last_event_at: string | null;
  refused: number;
  last_refusal: 'signature' | 'expired' | 'login' | 'topic' | 'malformed' | null;
  last_refused_at: string | null;
  created_at: string;
}

/** What is known of an address: `waits` for the first event, `works`, or `refuses` what arrived last. */
export function intakeState({ last_event_at: eventAt, last_refused_at: refusedAt }: Intake) {
  if (refusedAt !== null && (eventAt === null || refusedAt > eventAt)) return 'refuses';
  return eventAt === null ? 'waits' : 'works';
}
