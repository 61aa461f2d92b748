/** SQL and functions for the next mail of an enrolment in an automation, and the wait before that mail. */
import type { automationSchedules } from '../../database/schema/index.ts';
import { storedSql } from '../../errors/stored.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The wait before a schedule `s` in milliseconds, as SQL. It is counted from the previous mail, or from the entry before the first mail. */
export const SCHEDULE_WAIT = `CASE s.waiting_type WHEN 'hours' THEN s.waiting_period * ${HOUR_MS} WHEN 'days' THEN s.waiting_period * ${DAY_MS} ELSE 0 END`;

/** The same wait for a schedule that has been read; 0 without one. */
export function waitMs(
  schedule: Pick<typeof automationSchedules.$inferSelect, 'waiting_type' | 'waiting_period'> | undefined,
): number {
  if (schedule === undefined || schedule.waiting_type === 'instantly') return 0;
  return schedule.waiting_period * (schedule.waiting_type === 'days' ? DAY_MS : HOUR_MS);
}

/**
 * The position of an enrolment `e` in the series, as SQL: mails with a higher position are still to come. After the mails were reordered,
 * enrolments are moved in the background; this is already the position that `e` is moved to. A mail that is being sent counts as sent.
 */
export const PLACE = `ifnull((SELECT m.landing FROM moved_mails m WHERE m.automation_id = e.automation_id AND m.position > e.position
    AND (e.delivery_id IS NULL OR NOT EXISTS (SELECT 1 FROM steps t WHERE t.enrolment_id = e.id AND t.schedule_id = m.schedule_id))
    ORDER BY m.position LIMIT 1), e.position)`;

/** The id of the schedule that an enrolment `e` waits for, as SQL: the first after its place; null at the end of the series. */
export const NEXT_SCHEDULE = `(SELECT s.id FROM automation_schedules s
    WHERE s.automation_id = e.automation_id AND s.position > ${PLACE} ORDER BY s.position LIMIT 1)`;

/** The schedules after the place of an enrolment `e` whose mail was not sent to it yet, as SQL after FROM. Reordering can move sent mails there. */
const UNSENT = `automation_schedules s WHERE s.automation_id = e.automation_id AND s.position > ${PLACE}
    AND NOT EXISTS (SELECT 1 FROM steps t WHERE t.enrolment_id = e.id AND t.schedule_id = s.id)`;

/** The position right before the next unsent mail of an enrolment `e`, as SQL; without one, the position of the last mail. */
export const POSITION_BEFORE_UNSENT = `ifnull((SELECT min(s.position) - 1 FROM ${UNSENT}),
    max(${PLACE}, ifnull((SELECT max(s.position) FROM automation_schedules s WHERE s.automation_id = e.automation_id), 0)))`;

/** The wait of an enrolment `e` before its next unsent mail, in milliseconds, as SQL; null without one. */
export const WAIT_FOR_UNSENT = `(SELECT ${SCHEDULE_WAIT} FROM ${UNSENT} ORDER BY s.position LIMIT 1)`;

/** True if the contact of the row `row` is in the list or segment of the automation `au` now, as SQL. */
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
 * Why the recipient of delivery `d` has left the automation that sends it, as SQL; null while the recipient is in it. Those who leave while
 * the mail is queued do not get it.
 */
export const LEFT_AUTOMATION = `(
  SELECT CASE WHEN e.state = 'left' THEN e.reason
    WHEN au.exit_criteria = 1 AND NOT (${isMember('d')}) THEN ${storedSql('left_target')} END
  FROM enrolments e INDEXED BY enrolments_delivery CROSS JOIN automations au ON au.id = e.automation_id
  WHERE e.delivery_id = d.id)`;

/** The reason of a suppressed mail whose contact has a new address, when that address gets a mail of its own or is excluded, as SQL. */
export const READDRESSED = storedSql('readdressed');
