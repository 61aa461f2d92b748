/**
 * A contact's address is corrected: the person keeps their place in every automation under the new address. The old address stays
 * marked as having been there, so that it gets nothing more of it even when it is imported again.
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

/** Changes a contact as `changeContact` does, together with its person's places in automations. */
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
  // Who is in the target at the old address all the same, through another contact or by hand, is somebody else there.
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
 * The place goes to the new address; a mark that never gets a mail stays at the old one. The contact who entered stays on it: another
 * contact of the same person gets the next mail only where the claim finds it in the target.
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
 * The new address has been in the automation itself: both are one person now, at the place further on, so that no mail which reached
 * either goes to the other. The mail that is on its way to the place given up does not leave.
 */
function joinPlaces(client: Database, place: Enrolment, other: Enrolment, contact: number): void {
  const further = place.schedule_id >= other.schedule_id ? place : other;
  const behind = further === place ? other : place;
  // On its way to both is the same mail: the new address keeps its own.
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
