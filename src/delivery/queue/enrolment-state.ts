/**
 * Moves the state of enrolments; no other file does. It is below the automations because the ledger moves a person on when their mail
 * ends. A person has at most one mail queued or being sent; the wait for the next begins when that one is in a final state.
 */
import type { Database } from 'better-sqlite3';
import { AUTOMATION_STATUS } from '../../database/schema/index.ts';
import { SENTENCES } from '../../sentences.ts';
import { READDRESSED } from './automation-members.ts';
import { NEXT_SCHEDULE, SCHEDULE_WAIT } from './automation-waits.ts';

/** The address id of a change: that of the contact now, since its address may have been corrected after the change. */
const CURRENT_ADDRESS =
  'ifnull((SELECT address_id FROM contacts WHERE id = @contact_id AND deleted_at IS NULL), @address_id)';

/** Ends a person's enrolment because they left the target. Exported so that a test can check its query plan. */
export const LEAVE_TARGET = `
  UPDATE enrolments SET state = 'left', reason = '${SENTENCES.left_target}'
  WHERE automation_id = @automation_id AND address_id = ${CURRENT_ADDRESS} AND state = 'active'`;

/** A recorded change of an automation's target. */
interface Membership {
  automation_id: number;
  address_id: number;
  contact_id: number | null;
}

/** Gives functions that take somebody into an automation (`joined_at`: epoch milliseconds) and out of it because they left its target. */
export function enrolmentMoves(client: Database) {
  const enter = client.prepare(`
    INSERT INTO enrolments (automation_id, address_id, contact_id, state, entered_at, waiting_since, due_at)
    SELECT au.id, ${CURRENT_ADDRESS}, @contact_id, 'active', @joined_at, @joined_at,
      @joined_at + ifnull((SELECT ${SCHEDULE_WAIT} FROM automation_schedules s WHERE s.automation_id = au.id ORDER BY s.id LIMIT 1), 0)
    FROM automations au WHERE au.id = @automation_id AND au.deleted_at IS NULL
    ON CONFLICT (automation_id, address_id) DO UPDATE SET contact_id = excluded.contact_id WHERE state = 'active'`);
  const leave = client.prepare(LEAVE_TARGET);
  return {
    enter: (membership: Membership & { joined_at: number }) => enter.run(membership),
    leaveTarget: (membership: Membership) => leave.run(membership),
  };
}

/** Gives a function that ends an enrolment with a reason. */
export function enrolmentEnd(client: Database): (id: number, reason: string) => void {
  const leave = client.prepare("UPDATE enrolments SET state = 'left', reason = ? WHERE id = ?");
  return (id, reason) => {
    leave.run(reason, id);
  };
}

/** Finishes up to `limit` enrolments of people who are due at `now` (epoch milliseconds) and have had every mail; gives how many. */
export function finishDueEnrolments(client: Database, automationId: number, now: number, limit: number): number {
  return client
    .prepare(`
      UPDATE enrolments SET state = 'finished' WHERE id IN (
        SELECT e.id FROM enrolments e INDEXED BY enrolments_due
        WHERE e.automation_id = ? AND e.state = 'active' AND e.delivery_id IS NULL AND e.due_at <= ? AND ${NEXT_SCHEDULE} IS NULL LIMIT ?)`)
    .run(automationId, now, limit).changes;
}

/**
 * Finishes the enrolments of a live automation for which there is no next mail, after the deletion of a schedule. `waited`: SQL over
 * the enrolment `e` with @automation and @schedule, whether they waited for the deleted mail.
 */
export function finishAfterDeletion(client: Database, automationId: number, scheduleId: number, waited: string): void {
  client
    .prepare(`
      UPDATE enrolments AS e SET state = 'finished'
      WHERE e.automation_id = @automation AND e.state = 'active' AND e.delivery_id IS NULL AND ${waited}
        AND ${NEXT_SCHEDULE} IS NULL
        AND EXISTS (SELECT 1 FROM automations WHERE id = @automation AND status = ${AUTOMATION_STATUS.live})`)
    .run({ automation: automationId, schedule: scheduleId });
}

/** An enrolment as it is stored. */
export interface Enrolment {
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

/** Stores that the address of this enrolment, which now has another one, has left the automation. */
export function addReaddressed(client: Database, place: Enrolment): void {
  client
    .prepare(`
      INSERT INTO enrolments (automation_id, address_id, state, reason, entered_at, schedule_id, waiting_since, due_at)
      VALUES (@automation_id, @address_id, 'left', '${READDRESSED}', @entered_at, @schedule_id, @waiting_since, @due_at)`)
    .run(place);
}

/** Stores the columns of `kept` for the enrolment with its id, and ends the enrolment `givenUp`, whose delivery becomes the given one. */
export function joinEnrolments(
  client: Database,
  kept: Omit<Enrolment, 'automation_id' | 'address_id' | 'entered_at'>,
  givenUp: Pick<Enrolment, 'id' | 'delivery_id'>,
): void {
  client
    .prepare(`
      UPDATE enrolments SET contact_id = @contact_id, state = @state, reason = @reason, schedule_id = @schedule_id,
        waiting_since = @waiting_since, due_at = @due_at, delivery_id = @delivery_id WHERE id = @id`)
    .run(kept);
  client
    .prepare("UPDATE enrolments SET state = 'left', reason = ?, delivery_id = ? WHERE id = ?")
    .run(READDRESSED, givenUp.delivery_id, givenUp.id);
}

interface Place {
  /** The schedule the mail is of. */
  schedule: number;
  is_live: 0 | 1;
  /** Milliseconds from this mail to the next; null when it is the last. */
  wait: number | null;
}

/**
 * Continues the enrolments of deliveries of one mailing that have just reached a final state; does nothing for mailings that are not an
 * automation's. `through`: accepted, bounced or failed, so the wait for the next mail begins. `cancelled`: the mail was not sent, and
 * they wait for its replacement. `suppressed`: they leave. Call inside the transaction that records the state; `now` is
 * epoch milliseconds.
 */
export function advanceEnrolments(
  client: Database,
  mailingId: number,
  deliveryIds: readonly number[],
  outcome: 'through' | 'cancelled' | 'suppressed',
  now: number,
): void {
  const place = client
    .prepare<[number], Place>(`
      SELECT m.owner_id AS schedule, au.status = ${AUTOMATION_STATUS.live} AS is_live, (SELECT ${SCHEDULE_WAIT} FROM automation_schedules s
        WHERE s.automation_id = au.id AND s.id > m.owner_id ORDER BY s.id LIMIT 1) AS wait
      FROM mailings m JOIN automations au ON au.id = m.automation_id WHERE m.id = ?`)
    .get(mailingId);
  if (place === undefined) return;
  const ids = JSON.stringify(deliveryIds);
  const theirs = 'delivery_id IN (SELECT value FROM json_each(@ids))';
  if (outcome === 'cancelled') {
    client
      .prepare(`
        UPDATE enrolments AS e SET delivery_id = NULL,
          due_at = waiting_since + ifnull((SELECT ${SCHEDULE_WAIT} FROM automation_schedules s WHERE s.id = ${NEXT_SCHEDULE}), 0)
        WHERE ${theirs}`)
      .run({ ids });
    return;
  }
  if (outcome === 'suppressed') {
    client
      .prepare(`
        UPDATE enrolments SET state = 'left', reason = (SELECT reply FROM deliveries WHERE id = delivery_id), delivery_id = NULL
        WHERE ${theirs} AND state = 'active' AND (SELECT reply FROM deliveries WHERE id = delivery_id) <> '${READDRESSED}'`)
      .run({ ids });
  }
  // After the last mail of a paused automation people stay enrolled, because another mail may be added before it resumes.
  const isLast = place.wait === null && place.is_live === 1 ? 1 : 0;
  client
    .prepare(`
      UPDATE enrolments SET schedule_id = max(schedule_id, @schedule), waiting_since = @now, due_at = @now + @wait,
        delivery_id = NULL, state = iif(state = 'active' AND @isLast = 1, 'finished', state)
      WHERE ${theirs}`)
    .run({ ids, schedule: place.schedule, now, wait: place.wait ?? 0, isLast });
}
