/** Large writes in short transactions, so that nobody else waits for the lock longer than a few milliseconds. */
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { isBusy } from './write-lock.ts';
import { endedWrites, isOtherThreadWaiting, letOthersWrite } from './write-turns.ts';

const TARGET_MS = 3;
/** Fewer would not shorten a transaction: what is left then is the commit itself. */
const MIN_ROWS = 250;
const MAX_ROWS = 10_000;

/** How long after a write that nobody announced the lock is shared evenly with whoever that is. */
const SHARED_MS = 250;
/** After so much writing the lock is free for a moment all the same: other processes cannot announce theirs. */
const MAX_UNBROKEN_MS = 10;
/** Between two tries at a lock that another connection holds. */
const LOCK_POLL_MS = 2;

/**
 * Calls `write` with a number of rows, each time in one immediate transaction, until it says that nothing is left (false).
 * The number follows what 3 ms allow on this machine. Between two transactions announced writes of other threads get their turn;
 * while other connections write unannounced, the lock stays free for as long as it was held. Where the
 * connection does not wait for a lock that another one holds, this waits `maxWaitMs` without blocking the thread, then throws SQLITE_BUSY.
 */
export async function inChunks(client: Database, write: (rows: number) => boolean, maxWaitMs = 0): Promise<void> {
  const transaction = client.transaction(write);
  // Changes with every commit of another connection.
  const others = client.prepare<[], number>('PRAGMA data_version').pluck();
  let last = { version: others.get(), over: endedWrites() };
  let sharedUntil = 0;
  let unbroken = 0;
  let rows = MIN_ROWS;
  for (;;) {
    const { more, held } = await whenUnlocked(() => transaction.immediate(rows), maxWaitMs);
    if (!more) return;
    rows = Math.round(Math.min(MAX_ROWS, Math.max(MIN_ROWS, rows * Math.min(2, TARGET_MS / Math.max(held, 0.1)))));
    unbroken += held;
    const seen = { version: others.get(), over: endedWrites() };
    if (seen.version !== last.version && seen.over === last.over && !isOtherThreadWaiting()) {
      sharedUntil = performance.now() + SHARED_MS;
    }
    last = seen;
    if (performance.now() < sharedUntil) await setTimeout(held);
    else if (isOtherThreadWaiting()) await letOthersWrite(held);
    else if (unbroken >= MAX_UNBROKEN_MS) await setTimeout(1);
    else {
      // The lock is taken again at once, after this thread's own sockets.
      await setImmediate();
      continue;
    }
    unbroken = 0;
  }
}

/** What a transaction gave and how many milliseconds it took, tried again while another connection holds the lock. */
async function whenUnlocked(write: () => boolean, maxWaitMs: number): Promise<{ more: boolean; held: number }> {
  const until = performance.now() + maxWaitMs;
  for (;;) {
    const started = performance.now();
    try {
      const more = write();
      return { more, held: performance.now() - started };
    } catch (error) {
      if (!isBusy(error) || performance.now() >= until) throw error;
    }
    await setTimeout(LOCK_POLL_MS);
  }
}
