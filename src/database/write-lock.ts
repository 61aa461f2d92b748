/** Waits for SQLite's single write lock. SQLite's own busy handler would block the thread. */
import { setImmediate, setTimeout } from 'node:timers/promises';
import { type Database, SqliteError } from 'better-sqlite3';

/**
 * Milliseconds before the first, second, … check of a lock that is taken. The last delay repeats. Most locks are released
 * within a few milliseconds.
 */
const POLL_DELAYS_MS = [1, 2, 5, 10];

/** How many milliseconds writes are added to a common transaction. Later writes go into the next transaction. */
const COMMON_MS = 5;

interface CommonWrite {
  /** Runs the write. Returns a function that tells the result to the write's caller; it is called once the transaction is committed. */
  run(): () => void;
  reject(error: unknown): void;
  /** The value of `performance.now()` at which the write fails if it has not got the lock. */
  until: number;
}

interface Waiting {
  resolve(isFree: boolean): void;
  /** The value of `performance.now()` at which the wait ends without the lock. */
  until: number;
}

/** Returns true if a statement failed because another connection held the lock, so that a retry may succeed. */
export function isBusy(error: unknown): boolean {
  return error instanceof SqliteError && error.code.startsWith('SQLITE_BUSY');
}

/**
 * The queue of callers that wait for the lock on one connection. They get the lock in the order of their calls, and one timer
 * checks it for all of them. Creating the queue disables the connection's busy timeout: a statement that finds the lock taken
 * fails at once with SQLITE_BUSY.
 */
export class WriteLock {
  readonly #client: Database;
  readonly #waiting: Waiting[] = [];
  #isPolling = false;
  /** The writes that wait for a common transaction, in the order of their calls. */
  readonly #common: CommonWrite[] = [];
  #isWriting = false;
  /** Runs work in a savepoint, which is what better-sqlite3 makes of a transaction inside another one. */
  readonly #savepoint: (work: () => void) => void;

  constructor(client: Database) {
    this.#client = client;
    client.pragma('busy_timeout = 0');
    this.#savepoint = client.transaction((work: () => void) => work());
  }

  /** Returns true if no other connection holds the lock. Takes and releases the lock without touching the disk. */
  isFree(): boolean {
    try {
      this.#client.exec('BEGIN IMMEDIATE');
      this.#client.exec('ROLLBACK');
      return true;
    } catch (error) {
      // Any other error, such as a failing disk, will reach the caller when it writes.
      return !isBusy(error);
    }
  }

  /** Resolves with true once the lock is free and this caller is next, or with false after `maxWaitMs`. */
  whenFree(maxWaitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      this.#waiting.push({ resolve, until: performance.now() + maxWaitMs });
      if (!this.#isPolling) void this.#poll();
    });
  }

  /**
   * Runs a write that is one transaction and returns its result. Waits for the lock up to `maxWaitMs`. Throws the write's own
   * error, or SQLITE_BUSY if the lock was never free.
   */
  async write<T>(work: () => T, maxWaitMs: number): Promise<T> {
    const until = performance.now() + maxWaitMs;
    for (;;) {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error) || !(await this.whenFree(until - performance.now()))) throw error;
      }
    }
  }

  /**
   * Runs a synchronous write in one transaction with the writes that other callers ask for in the same turn of the event loop, because most
   * of the time of a small write is the disk's. Resolves with its result once the transaction is on the disk. Rejects with the write's own
   * error, after taking back this write alone; with the error of the transaction if that fails; or with SQLITE_BUSY if the lock was not
   * free within `maxWaitMs`.
   */
  writeTogether<T>(work: () => T, maxWaitMs: number): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const run = () => {
      try {
        let result: { value: T } | undefined;
        this.#savepoint(() => {
          result = { value: work() };
        });
        return () => result && resolve(result.value);
      } catch (error) {
        // On some errors, such as a full disk, SQLite takes back the whole transaction.
        if (!this.#client.inTransaction) throw error;
        return () => reject(error);
      }
    };
    this.#common.push({ run, reject, until: performance.now() + maxWaitMs });
    if (!this.#isWriting) void this.#writeCommon();
    return promise;
  }

  async #writeCommon(): Promise<void> {
    this.#isWriting = true;
    for (let oldest = this.#common[0]; oldest !== undefined; oldest = this.#common[0]) {
      // Other requests are read before the next transaction, and join it.
      await setImmediate();
      const taken: CommonWrite[] = [];
      const write = this.#client.transaction(() => {
        const until = performance.now() + COMMON_MS;
        const results: (() => void)[] = [];
        while (results.length === 0 || performance.now() < until) {
          const next = this.#common.shift();
          if (next === undefined) break;
          taken.push(next);
          results.push(next.run());
        }
        return results;
      });
      try {
        const results = await this.write(() => write.immediate(), oldest.until - performance.now());
        for (const tell of results) tell();
      } catch (error) {
        let failed = taken;
        // No write was taken, so the transaction has not begun. If the lock was taken, only the writes whose time is over fail; any other error fails all writes.
        if (failed.length === 0) failed = isBusy(error) ? this.#takeLate() : this.#common.splice(0);
        for (const { reject } of failed) reject(error);
      }
    }
    this.#isWriting = false;
  }

  /** Removes and returns the oldest common writes: those whose time to wait for the lock is over. */
  #takeLate(): CommonWrite[] {
    const now = performance.now();
    const late: CommonWrite[] = [];
    for (let next = this.#common[0]; next !== undefined && next.until <= now; next = this.#common[0]) {
      late.push(next);
      this.#common.shift();
    }
    return late;
  }

  async #poll(): Promise<void> {
    this.#isPolling = true;
    for (let failedChecks = 0, wasFree = false; this.#waiting.length > 0; ) {
      // The previous caller has written by now, and the lock is most likely free for the next one.
      if (wasFree) await setImmediate();
      else await setTimeout(POLL_DELAYS_MS[Math.min(failedChecks, POLL_DELAYS_MS.length - 1)]);
      wasFree = this.isFree();
      if (wasFree) this.#waiting.shift()?.resolve(true);
      failedChecks = wasFree ? 0 : failedChecks + 1;
      const now = performance.now();
      for (const late of this.#waiting.filter(({ until }) => until <= now)) {
        this.#waiting.splice(this.#waiting.indexOf(late), 1);
        late.resolve(false);
      }
    }
    this.#isPolling = false;
  }
}

/**
 * Returns true if the disk is full or failing or the file is locked: nothing can be written now, but the same write may succeed later.
 */
export function isTransientSqliteError(error: unknown): boolean {
  return error instanceof SqliteError && /^SQLITE_(FULL|IOERR|BUSY)/.test(error.code);
}
