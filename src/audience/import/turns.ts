/** Decides whose import is next, and tells whether an import runs in any thread of this process. */
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

interface Waiting {
  account: number;
  begin(): void;
}

/** A queue of imports: one runs at a time, and accounts take turns, so that no account waits for all files of another. */
export class Turns {
  readonly #waiting: Waiting[] = [];
  /** The accounts that have had a turn, in the order in which their last turn began. */
  readonly #served = new Set<number>();
  #isRunning = false;

  /** Runs `work` when it is the account's turn, and returns its result. */
  async run<Result>(account: number, work: () => Promise<Result>): Promise<Result> {
    await new Promise<void>((begin) => {
      this.#waiting.push({ account, begin });
      this.#next();
    });
    try {
      return await work();
    } finally {
      this.#isRunning = false;
      this.#next();
    }
  }

  #next(): void {
    if (this.#isRunning || this.#waiting.length === 0) return;
    const order = [...this.#served];
    // The place of an account that has not had a turn is -1, so it is next.
    const places = this.#waiting.map(({ account }) => order.indexOf(account));
    const [chosen] = this.#waiting.splice(places.indexOf(Math.min(...places)), 1);
    if (chosen === undefined) return;
    this.#isRunning = true;
    this.#served.delete(chosen.account);
    this.#served.add(chosen.account);
    chosen.begin();
  }
}

/** The key of the shared memory in the environment data of worker threads. */
const SHARED = 'sendlark imports under way';

/** The number of running imports, in memory that all threads share, because the background thread must know it. */
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
