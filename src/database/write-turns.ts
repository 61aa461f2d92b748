/** Lets requests write before bulk writers: requests announce their writes in memory that all threads share, and bulk writers wait for them. */
import { setTimeout } from 'node:timers/promises';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

const SHARED = 'sendlark turns';
/** Indices in the shared memory: how many announced writes have not ended, and how many have. */
const ANNOUNCED = 0;
const ENDED = 1;
/** A writer that finds the lock taken checks again after 1, 2 and 5 ms (`POLL_DELAYS_MS` in write-lock.ts), so it is served within this time. */
const MAX_YIELD_MS = 10;

const counts = new Int32Array(sharedMemory());
/** How many of the announced writes are this thread's own. */
let own = 0;

/** Created by the first thread that asks, which is the main one; `setEnvironmentData` passes it to threads started later. */
function sharedMemory(): SharedArrayBuffer {
  const known = getEnvironmentData(SHARED);
  if (known instanceof SharedArrayBuffer) return known;
  const made = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
  setEnvironmentData(SHARED, made);
  return made;
}

/** Tells bulk writers of other threads that this one is about to write. Exactly one `endWrite` must follow. */
export function announceWrite(): void {
  own++;
  Atomics.add(counts, ANNOUNCED, 1);
}

/** Says that the announced write has ended. */
export function endWrite(): void {
  own--;
  Atomics.add(counts, ENDED, 1);
  Atomics.sub(counts, ANNOUNCED, 1);
}

/** Waits for work of other threads, which meanwhile do not leave the lock to the write that the caller has announced. */
export async function withWriteSetAside(wait: () => Promise<void>): Promise<void> {
  endWrite();
  try {
    await wait();
  } finally {
    announceWrite();
  }
}

/** Runs a synchronous write with its announcement. */
export function withAnnouncedWrite<T>(write: () => T): T {
  announceWrite();
  try {
    return write();
  } finally {
    endWrite();
  }
}

/** Does work that may write or wait for a write, with its announcement: for what no request announces. */
export async function withAnnouncedWork<T>(work: () => Promise<T>): Promise<T> {
  announceWrite();
  try {
    return await work();
  } finally {
    endWrite();
  }
}

/** Whether another thread of this process has announced a write that has not ended. */
export function isOtherThreadWaiting(): boolean {
  return Atomics.load(counts, ANNOUNCED) > own;
}

/** How many announced writes have ended so far. */
export function endedWrites(): number {
  return Atomics.load(counts, ENDED);
}

/**
 * Waits until no other thread has an announced write. Returns early once one announced write has ended and `fairMs` have passed; after
 * 10 ms in any case, so that a slow request does not stop the bulk writer.
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
