/** Which mail of an automation comes next for a person, and how long they wait for it. */
import type { automationSchedules } from '../../database/schema/index.ts';
import { SENTENCES } from '../../errors/sentences.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The wait before a schedule (`s`), after the mail before it or after the entry, in milliseconds, as SQL. */
export const SCHEDULE_WAIT = `CASE s.waiting_type WHEN 'hours' THEN s.waiting_period * ${HOUR_MS} WHEN 'days' THEN s.waiting_period * ${DAY_MS} ELSE 0 END`;

/** The same wait for a schedule that has been read; 0 without one. */
export function waitMs(
  schedule: Pick<typeof automationSchedules.$inferSelect, 'waiting_type' | 'waiting_period'> | undefined,
): number {
  if (schedule === undefined || schedule.waiting_type === 'instantly') return 0;
  return schedule.waiting_period * (schedule.waiting_type === 'days' ? DAY_MS : HOUR_MS);
}

/**
 * The place of an enrolment `e` in the series, as SQL: mails with a higher position are ahead of them. While people are moved after the
 * mails were put into another order, it is where they are moved to. People whose mail is on its way count as having had it.
 */
export const PLACE = `ifnull((SELECT m.landing FROM moved_mails m WHERE m.automation_id = e.automation_id AND m.position > e.position
    AND (e.delivery_id IS NULL OR NOT EXISTS (SELECT 1 FROM steps t WHERE t.enrolment_id = e.id AND t.schedule_id = m.schedule_id))
    ORDER BY m.position LIMIT 1), e.position)`;

/** The schedule an enrolment `e` waits for, as SQL: the first that is ahead of them; null at the end. */
export const NEXT_SCHEDULE = `(SELECT s.id FROM automation_schedules s
    WHERE s.automation_id = e.automation_id AND s.position > ${PLACE} ORDER BY s.position LIMIT 1)`;

/** The schedules ahead of an enrolment `e` of which they have not had the mail, as SQL after FROM. After mails were moved, some may be. */
const UNSENT = `automation_schedules s WHERE s.automation_id = e.automation_id AND s.position > ${PLACE}
    AND NOT EXISTS (SELECT 1 FROM steps t WHERE t.enrolment_id = e.id AND t.schedule_id = s.id)`;

/** The position of an enrolment `e` right before the next mail that they have not had, as SQL; at the end that of the last mail. */
export const POSITION_BEFORE_UNSENT = `ifnull((SELECT min(s.position) - 1 FROM ${UNSENT}),
    max(${PLACE}, ifnull((SELECT max(s.position) FROM automation_schedules s WHERE s.automation_id = e.automation_id), 0)))`;

/** The wait of an enrolment `e` for the next mail that they have not had, as SQL; null when there is none. */
export const WAIT_FOR_UNSENT = `(SELECT ${SCHEDULE_WAIT} FROM ${UNSENT} ORDER BY s.position LIMIT 1)`;

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
    WHEN au.exit_criteria = 1 AND NOT (${isMember('d')}) THEN '${SENTENCES.left_target}' END
  FROM enrolments e INDEXED BY enrolments_delivery CROSS JOIN automations au ON au.id = e.automation_id
  WHERE e.delivery_id = d.id)`;

/** Why a mail is suppressed when the person's address has changed and the new address gets its own mail or is excluded. */
export const READDRESSED = SENTENCES.readdressed;
