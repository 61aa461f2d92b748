/** Where people are in an automation when its mails change: whoever waits keeps their place, and nobody gets a mail twice. */
import type { Database } from 'better-sqlite3';
import {
  NEXT_SCHEDULE,
  POSITION_BEFORE_UNSENT,
  SCHEDULE_WAIT,
  WAIT_FOR_UNSENT,
} from '../delivery/queue/automation-waits.ts';

/**
 * Updates due times after a mail was added at the end or its wait was changed: active people for whom it is next wait for it from the
 * time of their last mail. Call inside the transaction of the change.
 */
export function rescheduleFor(client: Database, automationId: number, scheduleId: number): void {
  client
    .prepare(`
      UPDATE enrolments AS e SET due_at = e.waiting_since + (SELECT ${SCHEDULE_WAIT} FROM automation_schedules s WHERE s.id = @schedule)
      WHERE e.automation_id = @automation AND e.state = 'active' AND e.delivery_id IS NULL AND ${NEXT_SCHEDULE} = @schedule`)
    .run({ automation: automationId, schedule: scheduleId });
}

interface Placed {
  id: number;
  position: number;
}

/**
 * Puts the mails of an automation in this order of ids. People get what was ahead of them in the new order, from the first of it on, and
 * nothing that they have had. `added`: a mail that is new at its place; it is for people who have not come past that place, which are
 * those who wait for the mail behind it or for one before it. Call inside the transaction of the change.
 */
export function orderMails(client: Database, automationId: number, order: readonly number[], added?: number): void {
  const before = client
    .prepare<[number], Placed>(
      'SELECT id, position FROM automation_schedules WHERE automation_id = ? ORDER BY position',
    )
    .all(automationId);
  // The positions stay the same numbers, so that a mail which is added later is behind all of them.
  const after = order.map((id, at) => ({ id, position: before[at]?.position ?? 0 }));
  // People whose mail is on its way count as having had it.
  client
    .prepare(`
      UPDATE enrolments AS e SET position = ${POSITION_BEFORE_UNSENT} WHERE automation_id = ? AND delivery_id IS NOT NULL`)
    .run(automationId);
  const move = client.prepare('UPDATE automation_schedules SET position = ? WHERE id = ?');
  for (const { id, position } of after) move.run(position, id);
  const end = after.at(-1)?.position ?? 0;
  const old = before.filter(({ id }) => id !== added);
  const cases = old.map(({ position }, at) => {
    const ahead = new Set(old.slice(at).map(({ id }) => id));
    const first = after.find(
      ({ id }, index) => ahead.has(id) || (id === added && ahead.has(after[index + 1]?.id ?? 0)),
    );
    return `WHEN position < ${position} THEN ${(first?.position ?? 0) - 1}`;
  });
  const isLast = added !== undefined && order.at(-1) === added;
  client
    .prepare(`
      UPDATE enrolments SET position = CASE ${cases.join(' ')} ELSE ${isLast ? end - 1 : end} END
      WHERE automation_id = ? AND state = 'active'`)
    .run(automationId);
  client
    .prepare(`
      UPDATE enrolments AS e SET position = ${POSITION_BEFORE_UNSENT}, due_at = waiting_since + ifnull(${WAIT_FOR_UNSENT}, 0)
      WHERE automation_id = ? AND state = 'active' AND delivery_id IS NULL`)
    .run(automationId);
}
