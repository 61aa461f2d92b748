/** Large writes in short transactions, so that the HTTP thread never waits for the lock longer than a few milliseconds. */
import { setTimeout } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';

const TARGET_MS = 3;
/** Fewer would not shorten a transaction: what is left then is the commit itself. */
const FEWEST_ROWS = 250;
const MOST_ROWS = 10_000;

/**
 * Calls `write` with a number of rows, each time in one immediate transaction, until it says that nothing is left (false).
 * The number follows what 3 ms allow on this machine; between two transactions the lock stays free as long as it was held.
 */
export async function inChunks(client: Database, write: (rows: number) => boolean): Promise<void> {
  const transaction = client.transaction(write);
  let rows = FEWEST_ROWS;
  for (let more = true; more; ) {
    const started = performance.now();
    more = transaction.immediate(rows);
    const held = performance.now() - started;
    rows = Math.round(Math.min(MOST_ROWS, Math.max(FEWEST_ROWS, rows * Math.min(2, TARGET_MS / Math.max(held, 0.1)))));
    if (more) await setTimeout(held);
  }
}
