/**
 * Moves a person's enrolments when the address of their contact is corrected, so that they keep their place in every automation. The
 * old address stays enrolled as having left, so that it gets no more mails of the automation even if it is imported again.
 */
import type { Database } from 'better-sqlite3';
import { type ContactInput, type Readdressed, updateContact } from '../audience/contacts/contacts.ts';
import type { Db } from '../database/open.ts';
import { inTransaction } from '../database/transaction.ts';
import { isMember } from '../delivery/queue/automation-waits.ts';
import { addReaddressed, type Enrolment, joinEnrolments } from '../delivery/queue/enrolment-state.ts';
import { moveAhead } from './moves.ts';

/** Changes a contact like `updateContact`, and moves its person's enrolments in the same transaction. */
export function updateContactKeepingPlaces(
  db: Db,
  accountId: number,
  id: unknown,
  input: ContactInput,
  now: string,
): void {
  inTransaction(db, () => {
    const readdressed = updateContact(db, accountId, id, input, now);
    if (readdressed !== null) movePlaces(db.$client, accountId, readdressed);
  });
}

function movePlaces(client: Database, accountId: number, { contact, from, to }: Readdressed): void {
  moveAhead(client, accountId, [from, to]);
  // If the old address is still in the target, through another contact or by hand, it belongs to another person, who stays enrolled.
  const places = client
    .prepare<Record<string, number>, Enrolment>(`
      SELECT e.* FROM automations au CROSS JOIN enrolments e ON e.automation_id = au.id AND e.address_id = @from
      WHERE au.user_id = @user AND au.deleted_at IS NULL AND NOT (${isMember('e')}) AND NOT EXISTS (SELECT 1 FROM contacts o
        WHERE o.id = e.contact_id AND o.address_id = @from AND o.deleted_at IS NULL)`)
    .all({ user: accountId, from });
  const present = client.prepare<[number, number], Enrolment>(
    'SELECT * FROM enrolments WHERE automation_id = ? AND address_id = ?',
  );
  for (const place of places) {
    const other = present.get(place.automation_id, to);
    if (other === undefined) movePlace(client, place, to);
    else joinPlaces(client, place, other, contact);
  }
}

/**
 * Moves the enrolment to the new address and leaves a row for the old one that has left the automation. The enrolment keeps its
 * contact: another contact with the new address gets the next mail only if it is in the target when the mail is claimed.
 */
function movePlace(client: Database, place: Enrolment, to: number): void {
  client.prepare('UPDATE enrolments SET address_id = ? WHERE id = ?').run(to, place.id);
  addReaddressed(client, place);
}

/**
 * Joins two enrolments when the new address has been in the automation too: from now on both are one person, at the place of the one
 * further on, so that no mail that reached one goes to the other as well. A mail queued for the enrolment given up is not sent.
 */
function joinPlaces(client: Database, place: Enrolment, other: Enrolment, contact: number): void {
  const further = place.position >= other.position ? place : other;
  const behind = further === place ? other : place;
  // If the same mail is queued for both, the new address keeps its own.
  const isSame = place.position === other.position && other.delivery_id !== null;
  const [kept, dropped] = isSame ? [other, place] : [further, behind];
  const isActive = further.state === 'active' || (further.state === 'left' && behind.state === 'active');
  client
    .prepare(`
      INSERT INTO steps (enrolment_id, schedule_id, delivery_id, taken_at)
      SELECT ?, schedule_id, delivery_id, taken_at FROM steps WHERE enrolment_id = ? AND delivery_id IS NOT ?
      ON CONFLICT DO NOTHING`)
    .run(other.id, place.id, dropped.delivery_id);
  const joined = {
    ...further,
    id: other.id,
    contact_id: place.contact_id === contact ? contact : other.contact_id,
    delivery_id: kept.delivery_id,
    ...(isActive && { state: 'active' as const, reason: null }),
  };
  joinEnrolments(client, joined, { id: place.id, delivery_id: dropped.delivery_id });
}
