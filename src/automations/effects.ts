/** What a change of an automation does to the people who are in it, found by making the change and comparing. */
import type { Database } from 'better-sqlite3';
import { isoTimestamp } from '../clock.ts';
import { isMember } from '../delivery/queue/automation-members.ts';
import { NEXT_SCHEDULE } from '../delivery/queue/automation-waits.ts';

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

interface Row extends Omit<Effect, 'first_due_at' | 'last_due_at'> {
  first: number | null;
  last: number | null;
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
 * asked, and what it does to people at `now`, so that what is said is what is done.
 */
export function withEffects<Result>(
  client: Database,
  { automationId, isOnlyAsked, now }: { automationId: number; isOnlyAsked: boolean; now: Date },
  change: () => Result,
): { result: Result | null; effects: Effects } {
  try {
    return client
      .transaction(() => {
        client.exec(
          'CREATE TEMP TABLE IF NOT EXISTS waiting_before (id INTEGER PRIMARY KEY, next TEXT, due_at INTEGER, is_queued INTEGER)',
        );
        client
          .prepare(`
            INSERT INTO temp.waiting_before (id, next, due_at, is_queued)
            SELECT e.id, (SELECT utr FROM automation_schedules WHERE id = ${NEXT_SCHEDULE}), e.due_at, e.delivery_id IS NOT NULL
            FROM enrolments e WHERE e.automation_id = ? AND e.state = 'active'`)
          .run(automationId);
        const result = change();
        const effects = compare(client, automationId, now.getTime());
        client.exec('DELETE FROM temp.waiting_before');
        if (isOnlyAsked) throw new OnlyAsked(effects);
        return { result, effects };
      })
      .immediate();
  } catch (error) {
    if (error instanceof OnlyAsked) return { result: null, effects: error.effects };
    throw error;
  }
}

function compare(client: Database, automationId: number, now: number): Effects {
  const rows = client
    .prepare<Record<string, number>, Row>(`
      SELECT b.next AS "from", n.utr AS "to", b.is_queued, count(*) AS people,
        sum(b.is_queued = 0 AND n.utr IS NOT NULL AND (e.due_at <> b.due_at OR n.utr IS NOT b.next)) AS moved,
        sum(b.is_queued = 0 AND n.utr IS NOT NULL AND e.due_at <= @now) AS due_now,
        iif(n.utr IS NULL OR b.is_queued = 1, NULL, min(e.due_at)) AS first, iif(n.utr IS NULL OR b.is_queued = 1, NULL, max(e.due_at)) AS last
      FROM temp.waiting_before b CROSS JOIN enrolments e ON e.id = b.id
        LEFT JOIN automation_schedules n ON n.id = ${NEXT_SCHEDULE}
      GROUP BY 1, 2, 3 ORDER BY min(e.position), 1, 2, 3`)
    .all({ now });
  const leaving = client
    .prepare<[number], number>(`
      SELECT count(*) FROM automations au CROSS JOIN enrolments e ON e.automation_id = au.id AND e.state = 'active'
      WHERE au.id = ? AND au.exit_criteria = 1 AND NOT (${isMember('e')})`)
    .pluck()
    .get(automationId);
  const moment = (at: number | null) => (at === null ? null : isoTimestamp(new Date(Math.max(at, now))));
  const people = rows.map(({ first, last, ...row }) => ({
    ...row,
    first_due_at: moment(first),
    last_due_at: moment(last),
  }));
  return { people, leaving: leaving ?? 0 };
}
