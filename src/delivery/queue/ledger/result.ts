/** What becomes of a recipient's hand-off in the ledger. */
import type { Said } from '../../../errors/sentences.ts';

export const FINAL_STATES = ['accepted', 'bounced', 'failed', 'suppressed', 'cancelled'] as const;
export type FinalState = (typeof FINAL_STATES)[number];

/** The result of a hand-off: a final state, or back in the queue until `due_at` (steady epoch milliseconds). */
export interface Result {
  id: number;
  mailing_id: number;
  address_id: number;
  user_id: number;
  state: FinalState | 'queued';
  reply: Said;
  due_at: number;
  /** Whether the address does not exist, so that no later mailing may try it. */
  suppress: boolean;
  /** 1: it is not known of the mail whether it was opened. */
  is_unmeasured: 0 | 1;
  /** Whether it is a mail of an automation, whose next mail waits for this one. */
  in_series: boolean;
}
