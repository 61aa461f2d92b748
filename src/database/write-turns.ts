/** Taking turns at the one write lock: requests announce their writes in memory all threads share, bulk writers let them pass. */
import { setTimeout } from 'node:timers/promises';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

const SHARED = 'sendlark turns';
/** Index of the number of announced writes that are not over, and of the number that are, in the shared memory. */
const ANNOUNCED = 0;
const ENDED = 1;
/** A writer that found the lock taken looks again after 1, 2 and 5 ms (SQLite's busy handler). */
const MAX_YIELD_MS = 10;

const counts = new Int32Array(sharedMemory());
/** How many of the open writes are this thread's own. */
let own = 0;

/** Made by the first thread that asks, which is the main one; threads started later are given it (`setEnvironmentData`). */
function sharedMemory(): SharedArrayBuffer {
  const known = getEnvironmentData(SHARED);
  if (known instanceof SharedArrayBuffer) return known;
  const made = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
  setEnvironmentData(SHARED, made);
  return made;
}

/** Tells bulk writers of other threads that this one is about to write. Exactly one `writeOver` must follow. */
export function announceWrite(): void {
  own++;
  Atomics.add(counts, ANNOUNCED, 1);
}

/** The announced write is over. */
export function endWrite(): void {
  own--;
  Atomics.add(counts, ENDED, 1);
  Atomics.sub(counts, ANNOUNCED, 1);
}

/** Runs a synchronous write, announced. */
export function withAnnouncedWrite<T>(write: () => T): T {
  announceWrite();
  try {
    return write();
  } finally {
    endWrite();
  }
}

/** Whether another thread of this process has announced a write that is not over. */
export function isOtherThreadWaiting(): boolean {
  return Atomics.load(counts, ANNOUNCED) > own;
}

/** How many announced writes are over: it changes with each. */
export function endedWrites(): number {
  return Atomics.load(counts, ENDED);
}

/**
 * Keeps off the lock until nobody waits; while requests keep coming, until one had its turn and the lock was free for `fairMs`.
 * An announced write that does not come, as the request is slow, costs 10 ms at most.
 */
export async function letOthersWrite(fairMs: number): Promise<void> {
  const started = performance.now();
  const before = endedWrites();
  while (isOtherThreadWaiting()) {
    const free = performance.now() - started;
    if (free >= MAX_YIELD_MS || (free >= fairMs && endedWrites() !== before)) return;
    await setTimeout(1);
  }
}
