/** An automation as it is composed: who enters, its mails in their order, and who is in it now. */
import type { Db } from '../database/open.ts';
import { changerName, templateSource } from '../single-sends/drafts.ts';
import { type Automation, type ListedSchedule, listSchedules } from './automations.ts';

/** The mails of an automation in their order, without their templates. */
export function seriesMails(db: Db, automation: Automation) {
  return listSchedules(db, automation.id).map(
    ({ json_size, id: _, user_id, automation_id: __, position: ___, ...schedule }: ListedSchedule) => ({
      ...schedule,
      tracking: schedule.tracking === 0 ? (0 as const) : (1 as const),
      content:
        json_size > 0
          ? ('json' as const)
          : schedule.html_size > 0
            ? ('html' as const)
            : templateSource(db, schedule.template_id),
      changed_by: changerName(db, { user_id, changed_by: schedule.changed_by }),
    }),
  );
}

/** The people in an automation: those who wait, how many of them are due at `now`, and for how many a mail is queued. */
export function peopleInSeries(db: Db, { id }: Automation, now: Date) {
  const row = db.$client
    .prepare<Record<string, number>, { waiting: number; due_now: number; queued: number }>(`
      SELECT (SELECT ifnull(sum(people), 0) FROM enrolment_counts WHERE automation_id = @id AND state = 'active') AS waiting,
        (SELECT count(*) FROM enrolments INDEXED BY enrolments_due
          WHERE automation_id = @id AND state = 'active' AND delivery_id IS NULL AND due_at <= @now) AS due_now,
        (SELECT ifnull(sum(people), 0) FROM enrolment_counts WHERE automation_id = @id AND state = 'active' AND is_queued = 1) AS queued`)
    .get({ id, now: now.getTime() });
  return { waiting: row?.waiting ?? 0, due_now: row?.due_now ?? 0, queued: row?.queued ?? 0 };
}
