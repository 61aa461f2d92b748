/** Large writes as many short transactions, so that other writers wait for the lock a few milliseconds at most. */
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { isBusy } from './write-lock.ts';
import { endedWrites, isOtherThreadWaiting, letOthersWrite } from './write-turns.ts';

/**
 * How many milliseconds a transaction should take: while other connections write, and while no other does. Longer transactions are more
 * efficient, because a page that several rows change is written less often.
 */
const TARGET_MS = { shared: 3, alone: 5 };
/** A transaction with fewer rows takes no less time, because the commit takes most of it. */
const MIN_ROWS = 250;
const MAX_ROWS = 10_000;
/** The number of rows grows at most by this factor from one transaction to the next. */
const MAX_GROWTH = 2;
/** Shorter times count as this long, because the clock measures them inaccurately. */
const MIN_MEASURED_MS = 0.1;

/**
 * For this time after another connection has written, transactions are short; if it did not announce the write, the lock is also shared
 * evenly with it.
 */
const SHARED_MS = 250;
/** After this much uninterrupted writing the lock is released for a moment, because other processes cannot announce their writes. */
const MAX_UNBROKEN_MS = 10;
/** The pause between two attempts to take a lock that another connection holds. */
const LOCK_POLL_MS = 2;

/**
 * Calls `write` with a number of rows, each time in one immediate transaction, until it returns false because nothing is left
 * to write. The number is adjusted so that a transaction takes some milliseconds. Between two transactions, announced writes of other
 * threads go first. If other connections write without an announcement, the lock stays free for as long as it was held. On a
 * connection without a busy timeout, waits up to `maxWaitMs` for the lock without blocking the thread, then throws SQLITE_BUSY.
 */
export async function inChunks(client: Database, write: (rows: number) => boolean, maxWaitMs = 0): Promise<void> {
  const transaction = client.transaction(write);
  // SQLite changes data_version whenever another connection commits.
  const dataVersion = client.prepare<[], number>('PRAGMA data_version').pluck();
  let last = { version: dataVersion.get(), ended: endedWrites() };
  let sharedUntil = 0;
  let aloneFrom = 0;
  let unbrokenMs = 0;
  let rows = MIN_ROWS;
  for (;;) {
    const { more, heldMs } = await whenUnlocked(() => transaction.immediate(rows), maxWaitMs);
    if (!more) return;
    unbrokenMs += heldMs;
    const current = { version: dataVersion.get(), ended: endedWrites() };
    if (current.version !== last.version && current.ended === last.ended && !isOtherThreadWaiting()) {
      sharedUntil = performance.now() + SHARED_MS;
    }
    if (current.version !== last.version || isOtherThreadWaiting()) aloneFrom = performance.now() + SHARED_MS;
    last = current;
    const target = performance.now() < aloneFrom ? TARGET_MS.shared : TARGET_MS.alone;
    rows = Math.round(Math.min(MAX_ROWS, Math.max(MIN_ROWS, rows * growth(target, heldMs))));
    if (performance.now() < sharedUntil) await setTimeout(heldMs);
    else if (isOtherThreadWaiting()) await letOthersWrite(heldMs);
    else if (unbrokenMs >= MAX_UNBROKEN_MS) await setTimeout(1);
    else {
      // Nothing else waits for the lock, so only this thread's own sockets are served before the next transaction.
      await setImmediate();
      continue;
    }
    unbrokenMs = 0;
  }
}

/** Returns the factor by which the work must grow to take `targetMs` instead of `tookMs`, at most `MAX_GROWTH`. */
function growth(targetMs: number, tookMs: number): number {
  return Math.min(MAX_GROWTH, targetMs / Math.max(tookMs, MIN_MEASURED_MS));
}

/** How many milliseconds the slices of one transaction take. With the commit, a transaction then takes less than 20 ms. */
const SLICES_MS = 4;

/**
 * Returns a step for `inChunks` that writes all items, in slices of at most `most`, and several slices in a transaction. The
 * first slice has one item, and the number is adjusted to the time that a slice takes: how much each item costs may depend on
 * the account, for example on its segments.
 */
export function inSlices<T>(items: readonly T[], most: number, write: (slice: readonly T[]) => void): () => boolean {
  let at = 0;
  let count = 1;
  return () => {
    let startedAt = performance.now();
    const until = startedAt + SLICES_MS;
    while (startedAt < until) {
      write(items.slice(at, at + count));
      at += count;
      if (at >= items.length) return false;
      const endedAt = performance.now();
      count = Math.round(Math.min(most, Math.max(1, count * growth(SLICES_MS, endedAt - startedAt))));
      startedAt = endedAt;
    }
    return true;
  };
}

/** Runs a transaction, retrying while another connection holds the lock. Returns its result and how many milliseconds it took. */
async function whenUnlocked(write: () => boolean, maxWaitMs: number): Promise<{ more: boolean; heldMs: number }> {
  const until = performance.now() + maxWaitMs;
  for (;;) {
    const started = performance.now();
    try {
      const more = write();
      return { more, heldMs: performance.now() - started };
    } catch (error) {
      if (!isBusy(error) || performance.now() >= until) throw error;
    }
    await setTimeout(LOCK_POLL_MS);
  }
}
