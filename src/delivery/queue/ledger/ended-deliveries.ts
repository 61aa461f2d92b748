/** Changes deliveries that have ended: their mail bounces, they are queued again or removed, or a contact is erased from them. */
import type { Database } from 'better-sqlite3';
import { BY_PERSON, DELIVERY_STATE } from '../../../database/schema/index.ts';
import type { Said } from '../../../errors/sentences.ts';
import { stored } from '../../../errors/stored.ts';
import { advanceEnrolments } from '../enrolment-state.ts';
import { type ReasonChange, reasonCounter } from './reason-counts.ts';

/** A delivery with its state before the bounce. */
export interface ReturnedDelivery {
  id: number;
  mailing_id: number;
  state: number;
}

/**
 * Moves a delivery to `bounced`. Only a server that received the mail knows its return path, so a delivery that is still queued or sending
 * was sent, too: its acceptance was lost or is not on disk yet, and the mail must not be sent again. Returns false for deliveries in
 * another final state. Call it inside a transaction. `now` is in epoch milliseconds.
 */
export function bounceDelivery(client: Database, delivery: ReturnedDelivery, diagnostic: Said, now: number): boolean {
  const reply = stored(diagnostic);
  const { id, mailing_id } = delivery;
  const before = client.prepare<[number], string | null>('SELECT reply FROM deliveries WHERE id = ?').pluck().get(id);
  const { changes } = client
    .prepare(`
      UPDATE deliveries SET state = ${DELIVERY_STATE.bounced}, reply = ?, updated_at = ?
      WHERE id = ? AND state IN (${DELIVERY_STATE.queued}, ${DELIVERY_STATE.sending}, ${DELIVERY_STATE.accepted})`)
    .run(reply, now, id);
  if (changes === 0) return false;
  reasonCounter(client)([
    { mailing_id, state: delivery.state, reply: before ?? null, by: -1 },
    { mailing_id, state: DELIVERY_STATE.bounced, reply, by: 1 },
  ]);
  const wasAccepted = Number(delivery.state === DELIVERY_STATE.accepted);
  // An opened mail can bounce too, for example at a member of an alias, and then no longer counts as opened. A bounce with attempt 0
  // belongs to a mail sent after the backup from which this database was restored; it still counts as sent.
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

/**
 * Queues up to `limit` failed recipients of a mailing again. Returns their number. The recipients' mails keep their Message-ID. Recipients
 * who have unsubscribed, or were suppressed or deleted, are excluded at the claim as usual. Call it inside a transaction that also reopens
 * the mailing.
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

interface FormMails {
  /** Removes a finished or held mail for a request that was never confirmed, with its delivery and events. */
  remove(requestId: number): void;
  /** Removes the text of a finished mail. Each mail has its own text, because its link is for one contact. */
  empty(requestId: number): void;
}

/** Changes the confirmation mails of forms. Call the functions inside a transaction. */
export function formMails(client: Database): FormMails {
  const empty = client.prepare<[number]>(`
    UPDATE mailings SET content = json_set(content, '$.content.html', json('[]'), '$.content.text', json('[]'))
    WHERE owner_kind = 'form' AND owner_id = ? AND finished_at IS NOT NULL`);
  const find = client
    .prepare<[number], number>(
      "SELECT id FROM mailings WHERE owner_kind = 'form' AND owner_id = ? AND (finished_at IS NOT NULL OR state = 'held')",
    )
    .pluck();
  const removals = [
    'DELETE FROM events WHERE delivery_id IN (SELECT id FROM deliveries WHERE mailing_id = ?)',
    'DELETE FROM delivery_reasons WHERE mailing_id = ?',
    'DELETE FROM mailing_hours WHERE mailing_id = ?',
    'DELETE FROM mailing_devices WHERE mailing_id = ?',
    'DELETE FROM deliveries WHERE mailing_id = ?',
    'DELETE FROM mailings WHERE id = ?',
  ].map((text) => client.prepare(text));
  return {
    remove(requestId) {
      for (const mailing of find.all(requestId)) for (const removal of removals) removal.run(mailing);
    },
    empty: (requestId) => void empty.run(requestId),
  };
}

/** Selects the deliveries of a contact in the mailings with ids above `after`, up to `to`. */
interface ContactInMailings {
  account: number;
  address: number;
  after: number;
  to: number;
}

/**
 * Returns a function that erases a contact from their deliveries: removes the contact, the replies about them, and the values of their
 * mails. The deliveries stay, for the counts of their mailings. Call the function inside a transaction.
 */
export function deliveryEraser(client: Database): (person: ContactInMailings) => void {
  const ofContact = `FROM mailings m CROSS JOIN deliveries d INDEXED BY deliveries_person ON d.mailing_id = m.id AND d.address_id = @address
    WHERE m.id > @after AND m.id <= @to AND m.user_id = @account`;
  const replies = client.prepare<[ContactInMailings], Omit<ReasonChange, 'by'>>(
    `SELECT d.mailing_id, d.state, d.reply ${ofContact} AND d.reply IS NOT NULL`,
  );
  const erase = client.prepare<[ContactInMailings]>(
    `UPDATE deliveries SET contact_id = NULL, segment_recipient_id = NULL, reply = NULL WHERE id IN (SELECT d.id ${ofContact})`,
  );
  const forget = client.prepare<[ContactInMailings]>(
    `DELETE FROM sent_mails WHERE delivery_id IN (SELECT d.id ${ofContact})`,
  );
  const countReasons = reasonCounter(client);
  return (person) => {
    forget.run(person);
    countReasons(replies.all(person).map((delivery) => ({ ...delivery, by: -1 })));
    erase.run(person);
  };
}
