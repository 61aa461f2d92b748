/** Decides A/B tests: when their time has come, or as somebody chooses. Then the rest of the audience gets the winner. */
import type { Database } from 'better-sqlite3';
import { inChunks } from '../../database/bulk.ts';
import { prepared } from '../../database/prepared.ts';
import { type AbTest, type abTests, DELIVERY_STATE } from '../../database/schema/index.ts';
import { BY_PERSON } from '../feedback/by-person.ts';
import { HELD_BACK_DUE } from './groups.ts';
import { type Decision, decide, type Group } from './statistics.ts';

const HOUR_MS = 3_600_000;
/** How often it is looked whether every mail of a test group was tried: those that wait for another try are counted each time. */
const LOOK_MS = 1000;

type Test = Pick<typeof abTests.$inferSelect, 'mailing_id' | 'winner_by' | 'hours' | 'tried_at' | 'winner'> & {
  variants: number;
  is_cancelled: 0 | 1;
  is_enqueueing: 0 | 1;
};

/** The part of the background that looks after A/B tests. */
export class AbTestDecisions {
  readonly #client: Database;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(client: Database) {
    this.#client = client;
  }

  /**
   * Decides the tests whose time has come, and lets the rest of those that are decided go until `goesOn` returns false. Gives whether there is
   * more to do. `now` is in epoch milliseconds, `monotonic` is a clock that nobody sets.
   */
  async step(now: number, monotonic: number, goesOn: () => boolean): Promise<boolean> {
    const open = openTests(this.#client);
    const isLooking = monotonic - this.#lookedAt >= LOOK_MS;
    if (open.length > 0 && isLooking) this.#lookedAt = monotonic;
    let isMore = false;
    for (const test of open) {
      if (test.is_cancelled === 1) end(this.#client, test.mailing_id);
      else if (test.winner !== null) isMore = (await release(this.#client, test, goesOn)) || isMore;
      else if (isLooking) isMore = look(this.#client, test, now) || isMore;
    }
    return isMore;
  }
}

function openTests(client: Database): Test[] {
  return prepared<[], Test>(
    client,
    `SELECT mailing_id, winner_by, hours, tried_at, winner, json_array_length(variants) AS variants,
        m.state = 'cancelled' AS is_cancelled, m.enqueue_progress IS NOT NULL AS is_enqueueing
      FROM ab_tests INDEXED BY ab_tests_open CROSS JOIN mailings m ON m.id = mailing_id WHERE is_released = 0`,
  ).all();
}

/** Notes that every mail of the test group was tried, or decides the test once its hours are over; gives whether it did either. */
function look(client: Database, test: Test, now: number): boolean {
  const { mailing_id, winner_by, hours, tried_at, variants } = test;
  if (tried_at === null) {
    if (test.is_enqueueing === 1 || !isTried(client, mailing_id)) return false;
    client.prepare('UPDATE ab_tests SET tried_at = ? WHERE mailing_id = ?').run(now, mailing_id);
    return true;
  }
  // Tried in the future: the clock was ahead.
  if (tried_at > now) client.prepare('UPDATE ab_tests SET tried_at = ? WHERE mailing_id = ?').run(now, mailing_id);
  if (winner_by === 'hand' || now < tried_at + hours * HOUR_MS) return false;
  const counted = countGroups(client, mailing_id, variants, winner_by);
  return keepDecision(client, mailing_id, decide(counted), counted, now);
}

/** Whether nobody of the test group waits for their first try, or is being sent their mail. */
function isTried(client: Database, mailingId: number): boolean {
  const waiting = client
    .prepare(`
      SELECT 1 FROM deliveries INDEXED BY deliveries_queue
      WHERE mailing_id = @mailing AND state = ${DELIVERY_STATE.queued} AND due_at < ${HELD_BACK_DUE} AND attempt = 0
      UNION ALL SELECT 1 FROM deliveries INDEXED BY deliveries_sending
      WHERE mailing_id = @mailing AND state = ${DELIVERY_STATE.sending} LIMIT 1`)
    .get({ mailing: mailingId });
  return waiting === undefined;
}

/** Of each group, how many people of whom it is known got their mail, and how many of those opened or clicked it. Machines do not count. */
function countGroups(
  client: Database,
  mailingId: number,
  variants: number,
  measure: Exclude<AbTest['winner_by'], 'hand'>,
): Group[] {
  const groups = Array.from({ length: variants }, (): Group => ({ people: 0, successes: 0 }));
  const rows = client
    .prepare<[number, number], { variant: number; people: number; successes: number }>(`
      SELECT variant, count(*) AS people, sum(by_person & ? <> 0) AS successes FROM deliveries INDEXED BY deliveries_variant
      WHERE mailing_id = ? AND variant IS NOT NULL AND state = ${DELIVERY_STATE.accepted} AND is_unmeasured = 0 GROUP BY variant`)
    .all(measure === 'opens' ? BY_PERSON.opened : BY_PERSON.clicked, mailingId);
  for (const { variant, people, successes } of rows) groups[variant] = { people, successes };
  return groups;
}

function keepDecision(
  client: Database,
  mailingId: number,
  { verdict, variant, better_than }: Decision | { verdict: 'chosen'; variant: number; better_than: number[] },
  counted: readonly Group[] | null,
  now: number,
): boolean {
  const { changes } = client
    .prepare(`
      UPDATE ab_tests SET decided_at = ?, verdict = ?, winner = ?, better_than = ?, counted = ? WHERE mailing_id = ? AND winner IS NULL`)
    .run(now, verdict, variant, JSON.stringify(better_than), counted && JSON.stringify(counted), mailingId);
  return changes > 0;
}

/** Decides a test by hand, for the variant with this number; false when it is decided already, or its mailing was cancelled. */
export function chooseVariant(client: Database, mailingId: number, variant: number, now: number): boolean {
  return client
    .transaction(() => {
      const open = openTests(client).find((test) => test.mailing_id === mailingId);
      if (open === undefined || open.is_cancelled === 1) return false;
      return keepDecision(client, mailingId, { verdict: 'chosen', variant, better_than: [] }, null, now);
    })
    .immediate();
}

/** Makes those due who were held back, in short transactions; gives whether there are more. After a kill the rest of them is still held back. */
async function release(client: Database, { mailing_id, is_enqueueing }: Test, goesOn: () => boolean): Promise<boolean> {
  const some = prepared<[number, number]>(
    client,
    `UPDATE deliveries SET due_at = 0 WHERE id IN (SELECT id FROM deliveries INDEXED BY deliveries_queue
      WHERE mailing_id = ? AND state = ${DELIVERY_STATE.queued} AND due_at = ${HELD_BACK_DUE} LIMIT ?)`,
  );
  let isMore = true;
  await inChunks(client, (rows) => {
    isMore = some.run(mailing_id, rows).changes === rows;
    return isMore && goesOn();
  });
  if (!isMore && is_enqueueing === 0) end(client, mailing_id);
  return isMore;
}

function end(client: Database, mailingId: number): void {
  client.prepare('UPDATE ab_tests SET is_released = 1 WHERE mailing_id = ?').run(mailingId);
}
