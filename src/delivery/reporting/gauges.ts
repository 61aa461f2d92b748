/** The figures about sending that /metrics publishes. */
import type { Database } from 'better-sqlite3';
import { DELIVERY_STATE } from '../../database/schema/index.ts';
import type { FinalState } from '../queue/ledger/ledger.ts';

export interface Gauges {
  /** The number of recipients that wait to be sent. */
  queued: number;
  /** The number of transactional mails that wait to be sent. */
  queuedTransactional: number;
  /** When the oldest unfinished send began, in epoch milliseconds; null if there is none. */
  oldestSending: number | null;
  /** The numbers of recipients by final result. A recipient whose mail was accepted and then bounced counts in both. */
  results: Record<FinalState, number>;
  /** The number of mailings that wait for someone to act, because they are paused, or held with a reason. */
  waitingMailings: number;
}

/** Reads the figures from partial indexes and the mailings' counters, never from the whole ledger. */
export function readGauges(client: Database): Gauges {
  const { queued, ...results } = client
    .prepare<[], Record<FinalState | 'queued', number>>(`
      SELECT (SELECT count(*) FROM deliveries INDEXED BY deliveries_queue WHERE state = ${DELIVERY_STATE.queued}) AS queued,
        ifnull(sum(delivered + returned), 0) AS accepted, ifnull(sum(bounces), 0) AS bounced, ifnull(sum(failed), 0) AS failed,
        ifnull(sum(suppressed), 0) AS suppressed, ifnull(sum(cancelled), 0) AS cancelled FROM mailings`)
    .get() ?? { queued: 0, accepted: 0, bounced: 0, failed: 0, suppressed: 0, cancelled: 0 };
  const oldestSending = client
    .prepare<[], number | null>(
      `SELECT min(updated_at) FROM deliveries INDEXED BY deliveries_sending WHERE state = ${DELIVERY_STATE.sending}`,
    )
    .pluck()
    .get();
  const waitingMailings = client
    .prepare<[], number>("SELECT count(*) FROM mailings WHERE finished_at IS NULL AND state IN ('paused', 'held')")
    .pluck()
    .get();
  const queuedTransactional = client
    .prepare<[], number>(
      `SELECT count(*) FROM transactional_mails INDEXED BY transactional_mails_queue WHERE state = ${DELIVERY_STATE.queued}`,
    )
    .pluck()
    .get();
  return {
    queuedTransactional: queuedTransactional ?? 0,
    queued,
    oldestSending: oldestSending ?? null,
    results,
    waitingMailings: waitingMailings ?? 0,
  };
}

/**
 * Returns when the mail that has been due longest became due, in epoch milliseconds; null if no mail is due. Paused and held mail is not
 * due. Only the first recipient in each mailing's queue is read.
 */
export function oldestDueAt(client: Database, now: number): number | null {
  const at = client
    .prepare<[object], number | null>(`SELECT min(at) FROM (
      SELECT CASE WHEN d.due_at > 0 THEN d.due_at
        ELSE ifnull((SELECT due_at FROM enrolments WHERE delivery_id = d.id), unixepoch(m.created_at, 'subsec') * 1000) END AS at
      FROM mailings m CROSS JOIN deliveries d ON d.id = (
        SELECT id FROM deliveries INDEXED BY deliveries_queue
        WHERE mailing_id = m.id AND state = ${DELIVERY_STATE.queued} ORDER BY due_at, id LIMIT 1)
      WHERE m.finished_at IS NULL AND m.state IN ('enqueueing', 'sending')
      UNION ALL
      SELECT max(due_at, created_at) FROM transactional_mails INDEXED BY transactional_mails_queue
      WHERE state = ${DELIVERY_STATE.queued})
    WHERE at <= @now`)
    .pluck()
    .get({ now });
  return at ?? null;
}
