/** Counts the running imports in memory that all threads share, so that every thread can tell if an import runs. */
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

/** The key of the shared memory in the environment data of worker threads. */
const SHARED = 'sendlark imports under way';

/** The number of running imports. */
const runningImports = new Int32Array(sharedMemory());

/** Returns the shared memory. The main thread asks first and creates it; `setEnvironmentData` passes it to threads started later. */
function sharedMemory(): SharedArrayBuffer {
  const known = getEnvironmentData(SHARED);
  if (known instanceof SharedArrayBuffer) return known;
  const memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  setEnvironmentData(SHARED, memory);
  return memory;
}

/** Runs an import and counts it while it runs. */
export async function countImport<T>(work: () => Promise<T>): Promise<T> {
  Atomics.add(runningImports, 0, 1);
  try {
    return await work();
  } finally {
    Atomics.sub(runningImports, 0, 1);
  }
}

/** Returns true if an import runs in any thread of this process. */
export function isImportUnderWay(): boolean {
  return Atomics.load(runningImports, 0) > 0;
}
