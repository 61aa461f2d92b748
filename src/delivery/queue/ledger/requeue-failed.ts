/** Puts the failed recipients of a mailing back into its queue. */
import type { Database } from 'better-sqlite3';
import { DELIVERY_STATE } from '../../../database/schema/index.ts';
import { reasonCounter } from './reasons.ts';

/**
 * Queues up to `limit` failed recipients of a mailing again and gives how many there were. They keep their Message-ID, and whoever has
 * unsubscribed, is suppressed or was deleted meanwhile is left out at the claim, like everybody else. Call inside a transaction, which
 * also opens the mailing again.
 */
export function requeueFailed(client: Database, mailingId: number, limit: number): number {
  const requeued = client
    .prepare<[number, number], { reply: string | null }>(`
      UPDATE deliveries SET state = ${DELIVERY_STATE.queued}, due_at = 0, first_tried_at = NULL
      WHERE id IN (SELECT id FROM deliveries INDEXED BY deliveries_unaccepted
        WHERE mailing_id = ? AND state > ${DELIVERY_STATE.accepted} AND state = ${DELIVERY_STATE.failed} ORDER BY id LIMIT ?)
      RETURNING reply`)
    .all(mailingId, limit);
  client.prepare('UPDATE mailings SET failed = failed - ? WHERE id = ?').run(requeued.length, mailingId);
  reasonCounter(client)(
    requeued.flatMap(({ reply }) => [
      { mailing_id: mailingId, state: DELIVERY_STATE.failed, reply, by: -1 },
      { mailing_id: mailingId, state: DELIVERY_STATE.queued, reply, by: 1 },
    ]),
  );
  return requeued.length;
}
