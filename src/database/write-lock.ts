/** Waits for SQLite's single write lock without blocking the thread, as SQLite's own busy handler would. */
import { setImmediate, setTimeout } from 'node:timers/promises';
import { type Database, SqliteError } from 'better-sqlite3';

/** Milliseconds before the first, second, … check of a lock that is taken; the last one repeats. Most locks are released within a few. */
const POLL_DELAYS_MS = [1, 2, 5, 10];

interface Waiting {
  resolve(isFree: boolean): void;
  /** The `performance.now()` at which the wait ends without the lock. */
  until: number;
}

/** Whether a statement failed because another connection held the lock, so that a retry may work. */
export function isBusy(error: unknown): boolean {
  return error instanceof SqliteError && error.code.startsWith('SQLITE_BUSY');
}

/**
 * The queue of those who wait for the lock on one connection: they get it in the order in which they asked, and one timer checks it
 * for all of them. Creating it disables the connection's busy timeout: a statement that finds the lock taken fails at once with
 * SQLITE_BUSY.
 */
export class WriteLock {
  readonly #client: Database;
  readonly #waiting: Waiting[] = [];
  #isLooking = false;

  constructor(client: Database) {
    this.#client = client;
    client.pragma('busy_timeout = 0');
  }

  /** Whether no other connection holds the lock. Takes and releases it, without touching the disk. */
  isFree(): boolean {
    try {
      this.#client.exec('BEGIN IMMEDIATE');
      this.#client.exec('ROLLBACK');
      return true;
    } catch (error) {
      // Any other error, such as a failing disk, is reported when the caller writes.
      return !isBusy(error);
    }
  }

  /** Resolves with true once the lock is free and this caller is next, or with false after `maxWaitMs`. */
  whenFree(maxWaitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      this.#waiting.push({ resolve, until: performance.now() + maxWaitMs });
      if (!this.#isLooking) void this.#look();
    });
  }

  /**
   * Runs a write that is one transaction, waiting for the lock up to `maxWaitMs`, and returns its result. Throws what it throws,
   * and SQLITE_BUSY when the lock was never free.
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

  async #look(): Promise<void> {
    this.#isLooking = true;
    for (let taken = 0, wasFree = false; this.#waiting.length > 0; ) {
      // The one before has written by now, and the lock is most likely free for the next.
      if (wasFree) await setImmediate();
      else await setTimeout(POLL_DELAYS_MS[Math.min(taken, POLL_DELAYS_MS.length - 1)]);
      wasFree = this.isFree();
      if (wasFree) this.#waiting.shift()?.resolve(true);
      taken = wasFree ? 0 : taken + 1;
      const now = performance.now();
      for (const late of this.#waiting.filter(({ until }) => until <= now)) {
        this.#waiting.splice(this.#waiting.indexOf(late), 1);
        late.resolve(false);
      }
    }
    this.#isLooking = false;
  }
}

/** Whether the disk is full or failing or the file is locked: nothing can be written now, but the same write may work later. */
export function isTransientSqliteError(error: unknown): boolean {
  return error instanceof SqliteError && /^SQLITE_(FULL|IOERR|BUSY)/.test(error.code);
}
