/** How long requests keep the thread that answers them: the longest work between two turns of its event loop. */
import Database from 'better-sqlite3';

/**
 * How many contacts an account is given. If the environment has STRETCHES, the test measures time in an account of this size; otherwise it
 * counts work in a small one, because a test of the suite never depends on how fast a machine is.
 */
export const MEASURED = Number(process.env.STRETCHES ?? 0);
export const PEOPLE = MEASURED || 7_000;
/** No request may keep the thread longer than this, in each of `ROUNDS`. */
const MOST_MS = 50;
const ROUNDS = 3;
const SHOWN = 20;
/** No request may take more rows out of SQLite in one turn of the event loop. What takes many takes chunks of up to 5 000. */
export const MOST_ROWS = 6_000;

/** Gives the longest CPU time, in milliseconds, that this thread worked in one turn of its event loop while `work` was done. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let before = process.threadCpuUsage();
  let turn = setImmediate(function next() {
    const now = process.threadCpuUsage();
    longest = Math.max(longest, now.user - before.user + now.system - before.system);
    before = now;
    turn = setImmediate(next);
  });
  await work();
  // The turn in which the work ends counts too.
  await new Promise(setImmediate);
  clearImmediate(turn);
  return longest / 1000;
}

/** Gives the most rows that SQLite gave in one turn of the event loop while `work` was done. */
export async function mostRowsInTurn(work: () => Promise<unknown>): Promise<number> {
  let [inTurn, most] = [0, 0];
  const count = (rows: number) => {
    inTurn += rows;
    most = Math.max(most, inTurn);
  };
  let turn = setImmediate(function next() {
    inTurn = 0;
    turn = setImmediate(next);
  });
  const restore = countRows(count);
  await work().finally(restore);
  clearImmediate(turn);
  return most;
}

/** Has every statement tell from now on how many rows it gives; returns what ends this. */
function countRows(count: (rows: number) => void): () => void {
  const prototype: { all(...values: unknown[]): unknown[] } = Object.getPrototypeOf(
    new Database(':memory:').prepare('SELECT 1'),
  );
  const { all } = prototype;
  prototype.all = function (...values) {
    const rows = all.apply(this, values);
    count(rows.length);
    return rows;
  };
  return () => {
    prototype.all = all;
  };
}

/** Measures each request, prints the longest stretches, and returns those that were too long in every round. */
export async function tooLong(requests: ReadonlyMap<string, () => Promise<unknown>>): Promise<string[]> {
  const found: { name: string; ms: number }[] = [];
  for (const [name, request] of requests) {
    // Once for what is compiled and prepared.
    await request();
    const rounds: number[] = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push(await longestTurn(request));
    found.push({ name, ms: Math.min(...rounds) });
  }
  found.sort((one, other) => other.ms - one.ms);
  for (const { name, ms } of found.slice(0, SHOWN)) console.log(`${ms.toFixed(1).padStart(8)} ms  ${name}`);
  return found.filter(({ ms }) => ms > MOST_MS).map(({ name, ms }) => `${name}: ${ms.toFixed(1)} ms`);
}
