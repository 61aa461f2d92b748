/**
 * Moves a person's enrolments when the address of their contact is corrected, so that they keep their place in every automation. The
 * old address stays enrolled as having left, so that it gets no more mails of the automation even if it is imported again.
 */
import type { Database } from 'better-sqlite3';
import { type ContactInput, type Readdressed, updateContact } from '../audience/contacts/contacts.ts';
import type { Db } from '../database/open.ts';
import { isMember, READDRESSED } from '../delivery/queue/series.ts';

interface Enrolment {
  id: number;
  automation_id: number;
  address_id: number;
  contact_id: number | null;
  state: 'active' | 'finished' | 'left';
  reason: string | null;
  entered_at: number;
  schedule_id: number;
  waiting_since: number;
  due_at: number;
  delivery_id: number | null;
}

/** Changes a contact like `updateContact`, and moves its person's enrolments in the same transaction. */
export function updateContactKeepingPlaces(
  db: Db,
  userId: number,
  id: unknown,
  input: ContactInput,
  now: string,
): void {
  db.transaction(
    () => {
      const readdressed = updateContact(db, userId, id, input, now);
      if (readdressed !== null) movePlaces(db.$client, userId, readdressed);
    },
    { behavior: 'immediate' },
  );
}

function movePlaces(client: Database, userId: number, { contact, from, to }: Readdressed): void {
  // If the old address is still in the target, through another contact or by hand, it belongs to another person, who stays enrolled.
  const places = client
    .prepare<Record<string, number>, Enrolment>(`
      SELECT e.* FROM automations au CROSS JOIN enrolments e ON e.automation_id = au.id AND e.address_id = @from
      WHERE au.user_id = @user AND au.deleted_at IS NULL AND NOT (${isMember('e')}) AND NOT EXISTS (SELECT 1 FROM contacts o
        WHERE o.id = e.contact_id AND o.address_id = @from AND o.deleted_at IS NULL)`)
    .all({ user: userId, from });
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
  client
    .prepare(`
      INSERT INTO enrolments (automation_id, address_id, state, reason, entered_at, schedule_id, waiting_since, due_at)
      VALUES (@automation_id, @address_id, 'left', '${READDRESSED}', @entered_at, @schedule_id, @waiting_since, @due_at)`)
    .run(place);
}

/**
 * Joins two enrolments when the new address has been in the automation too: from now on both are one person, at the place of the one
 * further on, so that no mail that reached one goes to the other as well. A mail queued for the enrolment given up is not sent.
 */
function joinPlaces(client: Database, place: Enrolment, other: Enrolment, contact: number): void {
  const further = place.schedule_id >= other.schedule_id ? place : other;
  const behind = further === place ? other : place;
  // If the same mail is queued for both, the new address keeps its own.
  const isSame = place.schedule_id === other.schedule_id && other.delivery_id !== null;
  const [kept, dropped] = isSame ? [other, place] : [further, behind];
  const isActive = further.state === 'active' || (further.state === 'left' && behind.state === 'active');
  client
    .prepare(`
      INSERT INTO steps (enrolment_id, schedule_id, delivery_id, taken_at)
      SELECT ?, schedule_id, delivery_id, taken_at FROM steps WHERE enrolment_id = ? AND delivery_id IS NOT ?
      ON CONFLICT DO NOTHING`)
    .run(other.id, place.id, dropped.delivery_id);
  client
    .prepare(`
      UPDATE enrolments SET contact_id = @contact, state = @state, reason = @reason, schedule_id = @schedule_id,
        waiting_since = @waiting_since, due_at = @due_at, delivery_id = @delivery WHERE id = @id`)
    .run({
      ...further,
      id: other.id,
      contact: place.contact_id === contact ? contact : other.contact_id,
      delivery: kept.delivery_id,
      ...(isActive && { state: 'active', reason: null }),
    });
  client
    .prepare("UPDATE enrolments SET state = 'left', reason = ?, delivery_id = ? WHERE id = ?")
    .run(READDRESSED, dropped.delivery_id, place.id);
}
