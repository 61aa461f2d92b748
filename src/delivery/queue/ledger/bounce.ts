/** Moves a delivery to `bounced` when its mail comes back. */
import type { Database } from 'better-sqlite3';
import { BY_PERSON, DELIVERY_STATE } from '../../../database/schema/index.ts';
import { advanceEnrolments } from '../enrolment-state.ts';
import { reasonCounter } from './reasons.ts';

/** A delivery as it was before the bounce. */
export interface ReturnedDelivery {
  id: number;
  mailing_id: number;
  state: number;
}

/**
 * Moves a delivery to `bounced`. Only a server that received the mail knows its return path, so a delivery that is still queued
 * or sending was sent too: its acceptance was lost or is not on disk yet, and it must not be sent again. False for deliveries
 * in another final state. Call inside a transaction; `now` is epoch milliseconds.
 */
export function bounceDelivery(client: Database, delivery: ReturnedDelivery, diagnostic: string, now: number): boolean {
  const { id, mailing_id } = delivery;
  const before = client.prepare<[number], string | null>('SELECT reply FROM deliveries WHERE id = ?').pluck().get(id);
  const { changes } = client
    .prepare(`
      UPDATE deliveries SET state = ${DELIVERY_STATE.bounced}, reply = ?, updated_at = ?
      WHERE id = ? AND state IN (${DELIVERY_STATE.queued}, ${DELIVERY_STATE.sending}, ${DELIVERY_STATE.accepted})`)
    .run(diagnostic, now, id);
  if (changes === 0) return false;
  reasonCounter(client)([
    { mailing_id, state: delivery.state, reply: before ?? null, by: -1 },
    { mailing_id, state: DELIVERY_STATE.bounced, reply: diagnostic, by: 1 },
  ]);
  const wasAccepted = Number(delivery.state === DELIVERY_STATE.accepted);
  // An opened mail can bounce too, for example at a member of an alias, and then no longer counts as opened. A bounce with
  // attempt 0 is for a mail sent after the backup that this database was restored from; it still counts as triggered.
  client
    .prepare(`
      UPDATE mailings SET delivered = delivered - @wasAccepted,
        unmeasured = unmeasured - @wasAccepted * (SELECT is_unmeasured FROM deliveries WHERE id = @id), bounces = bounces + 1, returned = returned + @wasAccepted,
        triggered = triggered + (SELECT attempt = 0 FROM deliveries WHERE id = @id),
        unique_opens = unique_opens - (SELECT opened_at IS NOT NULL FROM deliveries WHERE id = @id),
        people_opens = people_opens - (SELECT by_person & ${BY_PERSON.opened} FROM deliveries WHERE id = @id),
        proxied_only = proxied_only - (SELECT by_person = ${BY_PERSON.proxied} FROM deliveries WHERE id = @id)
      WHERE id = @mailing`)
    .run({ wasAccepted, id, mailing: mailing_id });
  advanceEnrolments(client, mailing_id, [id], 'through', now);
  return true;
}
