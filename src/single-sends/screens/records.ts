/** What the API says about single sends. */

import type { ApiClient } from '../../dashboard/api-client.ts';
import type { PacedGroup } from '../../delivery/pacing/paced-groups.ts';
import type { MailingReport } from '../../delivery/reporting/mailing-report.ts';
import type { LocalWait } from '../../delivery/timing/local-times.ts';
import type { COURIERS } from '../../delivery/transport/relays/in-use.ts';
import type { WarmUpWait } from '../../delivery/warm-up/store.ts';
import type { Watch } from '../../delivery/watch/watched-mailings.ts';
import type { SHOWN_STATES } from '../shown-state.ts';
import type { ReportedTest } from './variants.tsx';

/** A single send in the list, with its counters. */
export interface Summary {
  id: number;
  utr: string;
  single_send_name: string;
  subject: string;
  state: (typeof SHOWN_STATES)[number];
  held_reason: string | null;
  starts_at: string;
  recipients: number;
  /** Those with a final state. */
  finished: number;
  delivered: number;
  /** Delivered ones that the outbox took, so that they never left. */
  kept: number;
  /** Delivered ones of whom it is not known whether they opened or clicked. */
  unmeasured: number;
  people_opens: number;
  people_clicks: number;
  bounces: number;
  unsubscribes: number;
}

export interface Report extends MailingReport {
  held_code: string | null;
  held_reason: string | null;
  courier: (typeof COURIERS)[number];
  tracking: 0 | 1;
  watch: Watch | null;
  paced: PacedGroup[];
  warm_up: WarmUpWait | null;
  /** Until when it waits for the hours in which mail leaves; null when it does not. */
  waits_until: string | null;
  /** Whose own time it waits for; null when it waits for nobody. */
  local_wait: LocalWait | null;
  ab_test: ReportedTest | null;
}

/** The single send with this utr; throws an ApiFailure where the account has none. */
export async function readSummary(api: ApiClient, utr: string): Promise<Summary> {
  const { summaries } = await api.get<{ summaries: Summary[] }>('/single-send/summaries', { utr });
  const [summary] = summaries;
  if (summary === undefined) throw new Error('the API gave no single send where it should have answered 404');
  return summary;
}
