/**
 * What the ledger needs to know about automations: whether a person is still in the target, and how their enrolment continues after a
 * mail. A person has at most one mail queued or being sent; the wait for the next begins when that one is in a final state.
 */
import type { Database } from 'better-sqlite3';

/** The wait before a schedule (`s`), in milliseconds, as SQL. */
export const SCHEDULE_WAIT =
  "CASE s.waiting_type WHEN 'hours' THEN s.waiting_period * 3600000 WHEN 'days' THEN s.waiting_period * 86400000 ELSE 0 END";

/** The schedule an enrolment `e` waits for, as SQL: the first after the last one sent to them; null at the end. */
export const NEXT_SCHEDULE =
  '(SELECT min(id) FROM automation_schedules s WHERE s.automation_id = e.automation_id AND s.id > e.schedule_id)';

/** Whether the person of the row `row` is in the target of their automation (`au`) now, as SQL. */
export function isMember(row: string): string {
  return `
  CASE au.automation_for_table
    WHEN 'contacts' THEN EXISTS (SELECT 1 FROM contacts k
      WHERE k.contact_type_id = au.automation_for AND k.address_id = ${row}.address_id AND k.deleted_at IS NULL)
    ELSE EXISTS (SELECT 1 FROM segment_recipients k
      WHERE k.segment_id = au.automation_for AND k.address_id = ${row}.address_id AND k.is_removed = 0)
  END`;
}

/**
 * Why the person of delivery `d`, a mail of an automation, has left that automation, as SQL; null while they are in it. Whoever leaves
 * while the mail is queued does not get it.
 */
export const LEFT_AUTOMATION = `(
  SELECT CASE WHEN e.state = 'left' THEN e.reason
    WHEN au.exit_criteria = 1 AND NOT (${isMember('d')}) THEN 'left the target' END
  FROM enrolments e INDEXED BY enrolments_delivery CROSS JOIN automations au ON au.id = e.automation_id
  WHERE e.delivery_id = d.id)`;

/** Why a mail is suppressed when the person's address has changed and the new address gets its own mail or is excluded. */
export const READDRESSED = 'their address was changed';

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
      SELECT m.owner_id AS schedule, au.status AS is_live, (SELECT ${SCHEDULE_WAIT} FROM automation_schedules s
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
