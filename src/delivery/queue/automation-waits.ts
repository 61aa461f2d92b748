/** Which mail of an automation comes next for a person, and how long they wait for it. */
import type { automationSchedules } from '../../database/schema/index.ts';

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

/** The schedule an enrolment `e` waits for, as SQL: the first after the last one sent to them; null at the end. */
export const NEXT_SCHEDULE =
  '(SELECT min(id) FROM automation_schedules s WHERE s.automation_id = e.automation_id AND s.id > e.schedule_id)';
