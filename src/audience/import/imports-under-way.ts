/** How many imports run in this process, in memory that all threads share: the background thread has to know. */
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

const SHARED = 'sendlark imports under way';

const count = new Int32Array(sharedMemory());

/** Created by the first thread that asks, which is the main one; `setEnvironmentData` passes it to threads started later. */
function sharedMemory(): SharedArrayBuffer {
  const known = getEnvironmentData(SHARED);
  if (known instanceof SharedArrayBuffer) return known;
  const made = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  setEnvironmentData(SHARED, made);
  return made;
}

/** Runs an import and counts it while it runs. */
export async function countImport<T>(work: () => Promise<T>): Promise<T> {
  Atomics.add(count, 0, 1);
  try {
    return await work();
  } finally {
    Atomics.sub(count, 0, 1);
  }
}

/** Whether an import runs in any thread of this process. */
export function isImportUnderWay(): boolean {
  return Atomics.load(count, 0) > 0;
}
