/** Waiting for SQLite's one write lock without blocking the thread: SQLite's own busy handler sleeps. */
import { setTimeout } from 'node:timers/promises';
import { type Database, SqliteError } from 'better-sqlite3';

/** Milliseconds before the first, second, … look at a lock that is taken; the last goes on. Most holders are gone within a few. */
const POLL_DELAYS_MS = [1, 2, 5, 10];

interface Waiting {
  resolve(isFree: boolean): void;
  /** `performance.now()` at which the wait ends in vain. */
  until: number;
}

/** Whether another connection held the lock, so that the same may work in a moment. */
export function isBusy(error: unknown): boolean {
  return error instanceof SqliteError && error.code.startsWith('SQLITE_BUSY');
}

/**
 * The lock as the users of one connection wait for it: in the order in which they asked, with one look at it for all of them.
 * From its making on, a statement on that connection that finds the lock taken fails at once with SQLITE_BUSY.
 */
export class WriteLock {
  readonly #client: Database;
  readonly #waiting: Waiting[] = [];
  #isLooking = false;

  constructor(client: Database) {
    this.#client = client;
    client.pragma('busy_timeout = 0');
  }

  /** Whether no other connection holds the lock. Takes it and gives it back, without touching the disk. */
  isFree(): boolean {
    try {
      this.#client.exec('BEGIN IMMEDIATE');
      this.#client.exec('ROLLBACK');
      return true;
    } catch (error) {
      // Anything else, a failing disk say, is for the writer to meet.
      return !isBusy(error);
    }
  }

  /** Resolves with true once the lock is free and it is this caller's turn, with false after `maxWaitMs`. */
  whenFree(maxWaitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      this.#waiting.push({ resolve, until: performance.now() + maxWaitMs });
      if (!this.#isLooking) void this.#look();
    });
  }

  /**
   * Does a write that is one transaction, waiting for the lock up to `maxWaitMs`; gives what it gives. Throws what it throws,
   * SQLITE_BUSY included when the lock was never free.
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
    for (let taken = 0; this.#waiting.length > 0; taken++) {
      await setTimeout(POLL_DELAYS_MS[Math.min(taken, POLL_DELAYS_MS.length - 1)]);
      if (this.isFree()) {
        this.#waiting.shift()?.resolve(true);
        taken = -1;
      }
      const now = performance.now();
      for (const late of this.#waiting.filter(({ until }) => until <= now)) {
        this.#waiting.splice(this.#waiting.indexOf(late), 1);
        late.resolve(false);
      }
    }
    this.#isLooking = false;
  }
}
