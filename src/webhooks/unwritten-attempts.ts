/**
 * The attempts of one endpoint that are not in the log yet. Failed ones are written with the next record. Successful ones are written once
 * a second while there are many, because most of them would be pushed out of the log by later ones at once; what they achieved is
 * written without this delay.
 */
import { type Attempt, KEPT_ATTEMPTS } from './store.ts';

const LOG_MS = 1000;

export class UnwrittenAttempts {
  #attempts: Attempt[] = [];
  #hasFailed = false;
  #isLogDue = false;
  #loggedAt = Number.NEGATIVE_INFINITY;
  /** How many there were since the last record. */
  count = 0;
  /** When an event was last taken, and not taken, since the last record, epoch milliseconds; null: it did not happen. */
  takenAt: number | null = null;
  failedAt: number | null = null;

  add(attempt: Attempt): void {
    this.count++;
    if (attempt.is_success === 1) this.takenAt = attempt.at;
    else {
      this.failedAt = attempt.at;
      this.#hasFailed = true;
    }
    this.#attempts.push(attempt);
    // More successes than the log keeps are not needed.
    const { length } = this.#attempts;
    if (length > KEPT_ATTEMPTS && length % KEPT_ATTEMPTS === 0)
      this.#attempts = this.#attempts.filter((one, at) => one.is_success === 0 || at >= length - KEPT_ATTEMPTS);
  }

  /** What is to be written to the log now; all of it where nothing is under way any more. `now` is monotonic milliseconds. */
  due(now: number, isIdle: boolean): readonly Attempt[] {
    this.#isLogDue = isIdle || now - this.#loggedAt >= LOG_MS;
    if (this.#isLogDue) return this.#attempts;
    return this.#hasFailed ? this.#attempts.filter(({ is_success }) => is_success === 0) : [];
  }

  /** To be called when what `due` gave is on disk, in the same turn. */
  written(now: number): void {
    if (this.#isLogDue) {
      this.#attempts = [];
      this.#loggedAt = now;
    } else if (this.#hasFailed) this.#attempts = this.#attempts.filter(({ is_success }) => is_success === 1);
    this.#hasFailed = false;
    this.count = 0;
    this.takenAt = null;
    this.failedAt = null;
  }
}
