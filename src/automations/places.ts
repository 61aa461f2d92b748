/** Where people are in an automation when its mails change: whoever waits keeps their place, and nobody gets a mail twice. */
import type { Database } from 'better-sqlite3';
import type { Moves } from '../delivery/queue/enrolment-state.ts';

/**
 * The moves after a mail was added at the end or its wait was changed: whoever waits for it does so from the time of their last mail.
 * Call inside the transaction of the change.
 */
export function movesTo(client: Database, automationId: number, position: number): Moves {
  const before = client
    .prepare<[number, number], number | null>(
      'SELECT max(position) FROM automation_schedules WHERE automation_id = ? AND position < ?',
    )
    .pluck()
    .get(automationId, position);
  return { places: { low: before ?? 0, high: position }, isRemoval: false };
}

/** A position behind every mail and every place of an automation, also of mails that were removed. */
export function nextPosition(client: Database, automationId: number): number {
  const last = client
    .prepare<Record<string, number>, number | null>(`
      SELECT max(position) FROM (SELECT max(position) AS position FROM automation_schedules WHERE automation_id = @id
        UNION ALL SELECT max(position) FROM enrolment_counts WHERE automation_id = @id)`)
    .pluck()
    .get({ id: automationId });
  return (last ?? 0) + 1;
}

interface Placed {
  id: number;
  position: number;
}

/**
 * Puts the mails of an automation in this order of ids; gives the moves of its people. They get what was ahead of them in the new order,
 * from the first of it on, and nothing that they have had. `added`: a mail that is new at its place; it is for people who have not come
 * past that place, which are those who wait for the mail behind it or for one before it. Call inside the transaction of the change.
 */
export function orderMails(client: Database, automationId: number, order: readonly number[], added?: number): Moves {
  const before = client
    .prepare<[number], Placed>(
      'SELECT id, position FROM automation_schedules WHERE automation_id = ? ORDER BY position',
    )
    .all(automationId);
  // The mails get positions that are higher than every place until now, so that who is moved already can be told from who is not.
  const end = nextPosition(client, automationId);
  const after = order.map((id, at) => ({ id, position: end + 1 + at }));
  const move = client.prepare('UPDATE automation_schedules SET position = ? WHERE id = ?');
  for (const { id, position } of after) move.run(position, id);
  const old = before.filter(({ id }) => id !== added);
  const keep = client.prepare(
    'INSERT INTO moved_mails (automation_id, position, schedule_id, landing) VALUES (?, ?, ?, ?)',
  );
  for (const [at, { id: mail, position }] of old.entries()) {
    const ahead = new Set(old.slice(at).map(({ id }) => id));
    const first = after.find(
      ({ id }, index) => ahead.has(id) || (id === added && ahead.has(after[index + 1]?.id ?? 0)),
    );
    keep.run(automationId, position, mail, (first?.position ?? 0) - 1);
  }
  const last = end + after.length;
  keep.run(automationId, end, 0, added !== undefined && order.at(-1) === added ? last - 1 : last);
  return { places: null, isRemoval: false };
}
