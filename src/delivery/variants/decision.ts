/** Decides A/B tests when their waiting time is over, or when a user chooses the winner. Then the rest of the audience gets the winner. */
import type { Database } from 'better-sqlite3';
import { inChunks } from '../../database/bulk.ts';
import { AB_TEST_DUE, type AbTest, type abTests, BY_PERSON, DELIVERY_STATE } from '../../database/schema/index.ts';
import { DUE } from '../queue/due.ts';
import { type Decision, findWinner, type Group } from './statistics.ts';

/**
 * How often to check whether every mail of a test group has been tried, in milliseconds. Each check counts the mails that wait for a retry,
 * so it is not made in each step.
 */
const CHECK_MS = 1000;

type Test = Pick<typeof abTests.$inferSelect, 'mailing_id' | 'winner_by' | 'tried_at' | 'winner'>;

/** The background thread's step for A/B tests. */
export class AbTestDecisions {
  readonly #client: Database;
  #checkedAt = Number.NEGATIVE_INFINITY;

  constructor(client: Database) {
    this.#client = client;
  }

  /**
   * Decides the tests that are due, and releases the rest of the audience of decided tests until `mayContinue` returns false. Returns
   * whether there is more to do. `now` is in epoch milliseconds, `monotonic` is monotonic milliseconds.
   */
  async step(now: number, monotonic: number, mayContinue: () => boolean): Promise<boolean> {
    const isCheckDue = monotonic - this.#checkedAt >= CHECK_MS;
    if (isCheckDue) this.#checkedAt = monotonic;
    let hasMore = false;
    for (const test of isCheckDue ? testsToCheck(this.#client, now) : decidedTests(this.#client)) {
      const isUnfinished =
        test.winner === null ? checkTest(this.#client, test, now) : await release(this.#client, test, mayContinue);
      if (isUnfinished) hasMore = true;
    }
    return hasMore;
  }
}

/** Returns the decided tests with recipients that are still to be released. */
function decidedTests(client: Database): Test[] {
  return client
    .prepare<[], Test>(
      `SELECT mailing_id, winner, tried_at, winner_by FROM ab_tests INDEXED BY ab_tests_due WHERE is_released = 0 AND ${AB_TEST_DUE} = 0`,
    )
    .all();
}

/**
 * Returns decided tests that are not released, tests whose mails may not all have been tried, tests that are due, and tests whose
 * `tried_at` is in the future because the clock was ahead.
 */
function testsToCheck(client: Database, now: number): Test[] {
  return client
    .prepare<[{ now: number }], Test>(`
      SELECT mailing_id, winner, tried_at, winner_by FROM ab_tests INDEXED BY ab_tests_due WHERE is_released = 0 AND ${AB_TEST_DUE} <= @now
      UNION SELECT mailing_id, NULL, tried_at, winner_by FROM ab_tests INDEXED BY ab_tests_tried WHERE is_released = 0 AND winner IS NULL AND tried_at > @now`)
    .all({ now });
}

/** Returns the state of a test's mailing. It is read only when needed, because the content of a mailing can have megabytes. */
function mailingOf(client: Database, mailingId: number): { is_cancelled: 0 | 1; is_enqueueing: 0 | 1 } {
  const mailing = client
    .prepare<[number], { is_cancelled: 0 | 1; is_enqueueing: 0 | 1 }>(
      "SELECT state = 'cancelled' AS is_cancelled, enqueue_progress IS NOT NULL AS is_enqueueing FROM mailings WHERE id = ?",
    )
    .get(mailingId);
  return mailing ?? { is_cancelled: 1, is_enqueueing: 0 };
}

/**
 * Records that every mail of the test group was tried, or decides the test if its waiting time is over. Returns true if it recorded or
 * decided something.
 */
function checkTest(client: Database, { mailing_id, winner_by, tried_at }: Test, now: number): boolean {
  if (tried_at === null && !isWholeGroupTried(client, mailing_id)) return false;
  const { is_cancelled, is_enqueueing } = mailingOf(client, mailing_id);
  const setTriedAt = client.prepare('UPDATE ab_tests SET tried_at = ? WHERE mailing_id = ?');
  if (is_cancelled === 1) markReleased(client, mailing_id);
  else if (tried_at === null) {
    if (is_enqueueing === 0) return setTriedAt.run(now, mailing_id).changes > 0;
  } else if (tried_at > now) {
    // The clock was ahead, so the waiting time starts again.
    setTriedAt.run(now, mailing_id);
  } else if (winner_by !== 'hand') {
    const counted = countGroups(client, mailing_id, winner_by);
    return storeDecision(client, mailing_id, findWinner(counted), counted, now);
  }
  return false;
}

/** Returns true if no recipient in the test group waits for a first attempt or is being sent the mail. */
function isWholeGroupTried(client: Database, mailingId: number): boolean {
  const waiting = client
    .prepare(`
      SELECT 1 FROM deliveries INDEXED BY deliveries_queue
      WHERE mailing_id = @mailing AND state = ${DELIVERY_STATE.queued} AND due_at < ${DUE.awaitsDecision} AND attempt = 0
      UNION ALL SELECT 1 FROM deliveries INDEXED BY deliveries_sending
      WHERE mailing_id = @mailing AND state = ${DELIVERY_STATE.sending} LIMIT 1`)
    .get({ mailing: mailingId });
  return waiting === undefined;
}

/**
 * Counts for each group the measured recipients who got the mail, and how many of these opened or clicked it. Machines do not count.
 * Recipients of whom only image loads by a proxy are known are excluded, because it is unknown whether they opened the mail.
 */
function countGroups(client: Database, mailingId: number, measure: Exclude<AbTest['winner_by'], 'hand'>): Group[] {
  const variants = client
    .prepare<[number], number>('SELECT json_array_length(variants) FROM ab_tests WHERE mailing_id = ?')
    .pluck()
    .get(mailingId);
  const groups = Array.from({ length: variants ?? 0 }, (): Group => ({ people: 0, successes: 0 }));
  const isKnown =
    measure === 'opens' ? `AND by_person & ${BY_PERSON.opened | BY_PERSON.proxied} <> ${BY_PERSON.proxied}` : '';
  const rows = client
    .prepare<[number, number], { variant: number; people: number; successes: number }>(`
      SELECT variant, count(*) AS people, sum(by_person & ? <> 0) AS successes FROM deliveries INDEXED BY deliveries_variant
      WHERE mailing_id = ? AND variant IS NOT NULL AND state = ${DELIVERY_STATE.accepted} AND is_unmeasured = 0 ${isKnown} GROUP BY variant`)
    .all(measure === 'opens' ? BY_PERSON.opened : BY_PERSON.clicked, mailingId);
  for (const { variant, people, successes } of rows) groups[variant] = { people, successes };
  return groups;
}

function storeDecision(
  client: Database,
  mailingId: number,
  { verdict, variant, better_than }: Omit<Decision, 'verdict' | 'worse'> & { verdict: Decision['verdict'] | 'chosen' },
  counted: readonly Group[] | null,
  now: number,
): boolean {
  const { changes } = client
    .prepare(`
      UPDATE ab_tests SET decided_at = ?, verdict = ?, winner = ?, better_than = ?, counted = ? WHERE mailing_id = ? AND winner IS NULL`)
    .run(now, verdict, variant, JSON.stringify(better_than), counted && JSON.stringify(counted), mailingId);
  return changes > 0;
}

/** Decides a test by hand for the variant with this number. Returns false if it is already decided or its mailing was cancelled. */
export function chooseVariant(client: Database, mailingId: number, variant: number, now: number): boolean {
  return client
    .transaction(() => {
      if (mailingOf(client, mailingId).is_cancelled === 1) return false;
      return storeDecision(client, mailingId, { verdict: 'chosen', variant, better_than: [] }, null, now);
    })
    .immediate();
}

/**
 * Makes the waiting rest of the audience due, in short transactions, until `mayContinue` returns false. Returns true if more recipients
 * wait. After a crash, those that are not due yet still wait.
 */
async function release(client: Database, { mailing_id }: Test, mayContinue: () => boolean): Promise<boolean> {
  const { is_cancelled, is_enqueueing } = mailingOf(client, mailing_id);
  if (is_cancelled === 1) {
    markReleased(client, mailing_id);
    return false;
  }
  const releaseSome = client.prepare<[number, number]>(`
      UPDATE deliveries SET due_at = ${DUE.atOnce} WHERE id IN (SELECT id FROM deliveries INDEXED BY deliveries_queue
      WHERE mailing_id = ? AND state = ${DELIVERY_STATE.queued} AND due_at = ${DUE.awaitsDecision} LIMIT ?)`);
  let hasMore = true;
  await inChunks(client, (rows) => {
    hasMore = releaseSome.run(mailing_id, rows).changes === rows;
    return hasMore && mayContinue();
  });
  if (!hasMore && is_enqueueing === 0) markReleased(client, mailing_id);
  return hasMore;
}

function markReleased(client: Database, mailingId: number): void {
  client.prepare('UPDATE ab_tests SET is_released = 1 WHERE mailing_id = ?').run(mailingId);
}
