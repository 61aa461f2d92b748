/** Large writes as many short transactions, so that other writers wait for the lock a few milliseconds at most. */
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { isBusy } from './write-lock.ts';
import { endedWrites, isOtherThreadWaiting, letOthersWrite } from './write-turns.ts';

const TARGET_MS = 3;
/** With fewer rows a transaction takes no less time, because the commit itself takes most of it. */
const MIN_ROWS = 250;
const MAX_ROWS = 10_000;

/** How long the lock is shared evenly with a connection after it has written unannounced. */
const SHARED_MS = 250;
/** After this much writing the lock is released for a moment in any case, because other processes cannot announce their writes. */
const MAX_UNBROKEN_MS = 10;
/** The wait between two attempts at a lock that another connection holds. */
const LOCK_POLL_MS = 2;

/**
 * Calls `write` with a number of rows, each time in one immediate transaction, until it returns false: nothing is left to write.
 * The number is adjusted so that a transaction takes about 3 ms on this machine. Between two transactions, announced writes of
 * other threads go first; while other connections write unannounced, the lock stays free for as long as it was held. For a
 * connection without a busy timeout this waits up to `maxWaitMs` for the lock without blocking the thread, then throws SQLITE_BUSY.
 */
export async function inChunks(client: Database, write: (rows: number) => boolean, maxWaitMs = 0): Promise<void> {
  const transaction = client.transaction(write);
  // This number changes whenever another connection commits.
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
      // Only this thread's own sockets are served before the lock is taken again.
      await setImmediate();
      continue;
    }
    unbroken = 0;
  }
}

/** Runs a transaction, retrying while another connection holds the lock; returns its result and how many milliseconds it took. */
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
