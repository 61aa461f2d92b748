/** What Home reads from `GET /api/overview`. */
import type { COURIERS } from '../../../delivery/transport/relays/in-use.ts';
import type { DOMAIN_CHECKS } from '../../../health-checks/doctor-findings.ts';
import type { DNS_STATES, RELAY_STATES } from '../../../health-checks/ways-out.ts';
import type { CampaignState } from '../../components/campaign-state.tsx';

/** Something that is to be sent, is being sent or is held. */
export interface Campaign {
  kind: 'single_send' | 'automation';
  utr: string;
  name: string;
  state: CampaignState;
  held_code: string | null;
  held_reason: string | null;
  recipients: number;
  finished: number;
  delivered: number;
  /** Delivered ones that the outbox took, so that they never left. */
  kept: number;
  starts_at: string | null;
  /** 1: the rest of its A/B test waits until somebody chooses a variant. */
  waits_for_choice: 0 | 1;
}

/** A mailing that was launched, with its counters. */
export interface Mailing {
  utr: string;
  name: string;
  subject: string;
  state: CampaignState;
  sent_at: string;
  delivered: number;
  /** Delivered ones that the outbox took, so that they never left. */
  kept: number;
  /** Delivered ones of whom it is not known whether they opened or clicked. */
  unmeasured: number;
  people_opens: number;
  bounces: number;
  unsubscribes: number;
}

/** How the audience changed on one day. */
export interface Day {
  day: string;
  added: number;
  deleted: number;
  unsubscribed: number;
  suppressed: number;
}

export interface Overview {
  setup: {
    contacts: number;
    has_design: 0 | 1;
    has_sent: 0 | 1;
    public_url: 0 | 1;
    courier: (typeof COURIERS)[number];
    /** What was seen last of the relay, and when. */
    relay: { state: (typeof RELAY_STATES)[number]; seen_at: string | null; has_worked: 0 | 1 };
    /** What the doctor last saw in the DNS, of the domain that is worst. */
    dns: {
      state: (typeof DNS_STATES)[number];
      seen_at: string | null;
      domain: string | null;
      checks: (typeof DOMAIN_CHECKS)[number][];
    };
  };
  campaigns: Campaign[];
  last_mailings: Mailing[];
  audience: { contacts: number; days: Day[] };
  health: {
    version: string;
    background: 'running' | 'stalled';
    sending: 'on' | 'held';
    held_reason: string | null;
    clock: 'right' | 'wrong';
    free_bytes: number;
    last_backup_at: string | null;
  };
}
