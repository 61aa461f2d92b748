/** The state of a single send in one word, for lists: what its status and its mailing's state mean together. */
import { SINGLE_SEND_STATUS } from '../database/schema/index.ts';
import { keptMails } from '../delivery/reporting/kept-mails.ts';

/** Every state, in the order of a single send's life. */
export const SHOWN_STATES = [
  'draft',
  'scheduled',
  'preparing',
  'sending',
  'paused',
  'held',
  'cancelling',
  'cancelled',
  'done',
  'kept',
] as const;

/**
 * Whether a single send (its alias or table) that is not queued is held, as SQL. Copies and cancelled sends have a code as well, but
 * nobody needs to be told, since it was their owner who stopped them.
 */
export function isHeld(send: string): string {
  return `${send}.held_code NOT IN ('copy', 'cancelled')`;
}

/**
 * The state as SQL, of a single send `s` and its mailing `m`, which may be missing (LEFT JOIN). `cancelling` lasts until every recipient
 * has a final state; `kept` is a mailing that ended and all of whose mails the outbox took, so that nobody got it.
 */
export const SHOWN_STATE = `CASE
  WHEN m.id IS NULL AND s.status = ${SINGLE_SEND_STATUS.queued} THEN 'scheduled'
  WHEN m.id IS NULL AND ${isHeld('s')} THEN 'held'
  WHEN m.id IS NULL THEN 'draft'
  WHEN m.state = 'cancelled' THEN iif(m.finished_at IS NULL, 'cancelling', 'cancelled')
  WHEN m.state = 'enqueueing' THEN 'preparing'
  WHEN m.state = 'done' AND m.delivered > 0 AND ${keptMails('m')} >= m.delivered THEN 'kept'
  ELSE m.state END`;

/** How many recipients of a mailing `m` have their final state, as SQL. */
export const FINISHED = '(m.delivered + m.bounces + m.failed + m.suppressed + m.cancelled)';
