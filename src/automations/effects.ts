/** What a change of an automation does to the people who are in it, found by making the change and comparing. */
import type { Database } from 'better-sqlite3';
import { isoTimestamp } from '../clock.ts';
import { isMember } from '../delivery/queue/automation-members.ts';

/** People who waited for the same mail before the change and wait for the same one after it. */
export interface Effect {
  /** The utr of the mail they waited for; null where they had every mail. */
  from: string | null;
  /** The utr of the mail they wait for now; null where no mail is left. */
  to: string | null;
  /** 1: the mail they waited for is queued already. */
  is_queued: 0 | 1;
  people: number;
  /** How many of them have another time for their next mail than before. */
  moved: number;
  /** How many of them are due at once while the automation is live. */
  due_now: number;
  /** When the first and the last of them are due; null without a next mail. */
  first_due_at: string | null;
  last_due_at: string | null;
}

export interface Effects {
  people: Effect[];
  /** How many of those who wait are outside the target and leave when their next mail is due. */
  leaving: number;
}

/** People who were at the same place before the change and are at the same one after it. */
interface Row {
  before: number;
  after: number;
  is_queued: 0 | 1;
  people: number;
  /** How many have another due time than before. */
  shifted: number;
  due: number;
  first: number;
  last: number;
}

interface Placed {
  utr: string;
  position: number;
}

/** Ends the transaction of a change that is only asked about. */
class OnlyAsked extends Error {
  readonly effects: Effects;
  constructor(effects: Effects) {
    super('only asked');
    this.effects = effects;
  }
}

/**
 * Makes a change in one transaction, unless `isOnlyAsked`: then everything is as before. Gives what the change gave, null if it was only
 * asked, and what it does to people at `now`, so that what is said is what is done. The change calls `keepPlaces` before it moves people;
 * one that moves nobody does not, since writing down the places of many takes most of the time.
 */
export function withEffects<Result>(
  client: Database,
  { automationId, isOnlyAsked, now }: { automationId: number; isOnlyAsked: boolean; now: Date },
  change: (keepPlaces: () => void) => Result,
): { result: Result | null; effects: Effects } {
  try {
    return client
      .transaction(() => {
        const before = listPlaces(client, automationId);
        let areKept = false;
        const result = change(() => {
          keepPlaces(client, automationId);
          areKept = true;
        });
        const rows = areKept ? movedRows(client, now.getTime()) : unmovedRows(client, automationId, now.getTime());
        const effects = compare(client, automationId, { before, rows }, now.getTime());
        if (areKept) client.exec('DELETE FROM temp.waiting_before');
        if (isOnlyAsked) throw new OnlyAsked(effects);
        return { result, effects };
      })
      .immediate();
  } catch (error) {
    if (error instanceof OnlyAsked) return { result: null, effects: error.effects };
    throw error;
  }
}

/** Writes down where the people of an automation are before they are moved. */
function keepPlaces(client: Database, automationId: number): void {
  client.exec(
    'CREATE TEMP TABLE IF NOT EXISTS waiting_before (id INTEGER PRIMARY KEY, position INTEGER, due_at INTEGER, is_queued INTEGER)',
  );
  client
    .prepare(`
      INSERT INTO temp.waiting_before (id, position, due_at, is_queued)
      SELECT id, position, due_at, delivery_id IS NOT NULL FROM enrolments WHERE automation_id = ? AND state = 'active'`)
    .run(automationId);
}

/** The people whose places were kept, by these and by where they are now. */
function movedRows(client: Database, now: number): Row[] {
  return client
    .prepare<Record<string, number>, Row>(`
      SELECT b.position AS before, e.position AS after, b.is_queued, count(*) AS people, sum(e.due_at <> b.due_at) AS shifted,
        sum(e.due_at <= @now) AS due, min(e.due_at) AS first, max(e.due_at) AS last
      FROM temp.waiting_before b CROSS JOIN enrolments e ON e.id = b.id GROUP BY 1, 2, 3 ORDER BY 2, 1, 3`)
    .all({ now });
}

/** The same after a change that moved nobody. */
function unmovedRows(client: Database, automation: number, now: number): Row[] {
  return client
    .prepare<Record<string, number>, Row>(`
      SELECT position AS before, position AS after, delivery_id IS NOT NULL AS is_queued, count(*) AS people, 0 AS shifted,
        sum(due_at <= @now) AS due, min(due_at) AS first, max(due_at) AS last
      FROM enrolments WHERE automation_id = @automation AND state = 'active' GROUP BY 1, 3 ORDER BY 2, 3`)
    .all({ automation, now });
}

function listPlaces(client: Database, automationId: number): Placed[] {
  return client
    .prepare<[number], Placed>(
      'SELECT utr, position FROM automation_schedules WHERE automation_id = ? ORDER BY position',
    )
    .all(automationId);
}

function compare(
  client: Database,
  automationId: number,
  { before, rows }: { before: readonly Placed[]; rows: readonly Row[] },
  now: number,
): Effects {
  const after = listPlaces(client, automationId);
  const next = (mails: readonly Placed[], at: number) => mails.find(({ position }) => position > at)?.utr ?? null;
  const people = new Map<string, Effect & { first: number; last: number }>();
  for (const row of rows) {
    const [from, to] = [next(before, row.before), next(after, row.after)];
    const isDue = to !== null && row.is_queued === 0;
    const key = `${from} ${to} ${row.is_queued}`;
    const known = people.get(key);
    people.set(key, {
      from,
      to,
      is_queued: row.is_queued,
      people: row.people + (known?.people ?? 0),
      moved: (isDue ? (from === to ? row.shifted : row.people) : 0) + (known?.moved ?? 0),
      due_now: (isDue ? row.due : 0) + (known?.due_now ?? 0),
      first: Math.min(row.first, known?.first ?? row.first),
      last: Math.max(row.last, known?.last ?? row.last),
      first_due_at: null,
      last_due_at: null,
    });
  }
  const moment = (at: number) => isoTimestamp(new Date(Math.max(at, now)));
  const leaving = client
    .prepare<[number], number>(`
      SELECT count(*) FROM automations au CROSS JOIN enrolments e ON e.automation_id = au.id AND e.state = 'active'
      WHERE au.id = ? AND au.exit_criteria = 1 AND NOT (${isMember('e')})`)
    .pluck()
    .get(automationId);
  return {
    people: [...people.values()].map(({ first, last, ...effect }) => {
      const isDue = effect.to !== null && effect.is_queued === 0;
      return { ...effect, first_due_at: isDue ? moment(first) : null, last_due_at: isDue ? moment(last) : null };
    }),
    leaving: leaving ?? 0,
  };
}
