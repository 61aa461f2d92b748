/** What the queue needs to know about automations, as SQL: who is still in the target, which mail is next and when. */

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
