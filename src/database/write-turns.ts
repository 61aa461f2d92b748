/**
 * Lets requests write before bulk writers: requests announce their writes in memory that all threads share, and bulk
 * writers wait for them.
 */
import { setTimeout } from 'node:timers/promises';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

/** The name under which the threads of the process share the memory. */
const SHARED = 'sendlark turns';
/** Indices in the shared memory: the number of announced writes that have not ended, and the number that have ended. */
const ANNOUNCED = 0;
const ENDED = 1;
/**
 * The longest wait for announced writes. A writer that finds the lock taken checks again after 1, 2 and 5 ms (`POLL_DELAYS_MS`
 * in write-lock.ts), so it gets the lock within this time.
 */
const MAX_YIELD_MS = 10;

const counts = new Int32Array(sharedMemory());
/** The number of this thread's own announced writes. */
let ownAnnounced = 0;

/** Returns the shared memory. The main thread asks first and creates it; `setEnvironmentData` passes it to threads started later. */
function sharedMemory(): SharedArrayBuffer {
  const known = getEnvironmentData(SHARED);
  if (known instanceof SharedArrayBuffer) return known;
  const memory = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
  setEnvironmentData(SHARED, memory);
  return memory;
}

/** Announces to bulk writers of other threads that this thread is about to write. Exactly one `endWrite` must follow. */
export function announceWrite(): void {
  ownAnnounced++;
  Atomics.add(counts, ANNOUNCED, 1);
}

/** Ends the announced write. */
export function endWrite(): void {
  ownAnnounced--;
  Atomics.add(counts, ENDED, 1);
  Atomics.sub(counts, ANNOUNCED, 1);
}

/** Waits for other threads and withdraws the caller's announced write meanwhile, so that other threads do not wait for it in turn. */
export async function withWriteWithdrawn(wait: () => Promise<void>): Promise<void> {
  endWrite();
  try {
    await wait();
  } finally {
    announceWrite();
  }
}

/** Runs a synchronous write and announces it. */
export function withAnnouncedWrite<T>(write: () => T): T {
  announceWrite();
  try {
    return write();
  } finally {
    endWrite();
  }
}

/**
 * Announces asynchronous work that may write or wait for a write, and runs it. Meant for work that does not belong to a request, because
 * requests are announced already.
 */
export async function withAnnouncedWork<T>(work: () => Promise<T>): Promise<T> {
  announceWrite();
  try {
    return await work();
  } finally {
    endWrite();
  }
}

/** Returns true if another thread of this process has announced a write that has not ended. */
export function isOtherThreadWaiting(): boolean {
  return Atomics.load(counts, ANNOUNCED) > ownAnnounced;
}

/** Returns how many announced writes have ended so far. */
export function endedWrites(): number {
  return Atomics.load(counts, ENDED);
}

/**
 * Waits until no other thread has an announced write. Returns earlier if an announced write has ended and `fairMs` have passed,
 * and after 10 ms at the latest, so that a slow request does not stop the bulk writer.
 */
export async function letOthersWrite(fairMs: number): Promise<void> {
  const started = performance.now();
  const before = endedWrites();
  while (isOtherThreadWaiting()) {
    const waitedMs = performance.now() - started;
    if (waitedMs >= MAX_YIELD_MS || (waitedMs >= fairMs && endedWrites() !== before)) return;
    await setTimeout(1);
  }
}
