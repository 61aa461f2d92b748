/**
 * Collects attempts for the log of an endpoint. Failed attempts are logged with the next record. Successful attempts are logged once a
 * second while requests are running, because later successes would soon push most of them out of the log. The effects of attempts on
 * events and endpoints are written without this delay.
 */
import { type Attempt, KEPT_ATTEMPTS } from './store.ts';

/** How often successful attempts are logged while requests are running. */
const LOG_MS = 1000;

/** The attempts of one endpoint that are not in the log yet. */
export class UnwrittenAttempts {
  #attempts: Attempt[] = [];
  /** True if a failed attempt is among `#attempts`. */
  #hasFailed = false;
  /** True if the last call of `due` returned all attempts. */
  #isLogDue = false;
  /** When all attempts were last logged, in monotonic milliseconds. */
  #loggedAt = Number.NEGATIVE_INFINITY;
  /** The number of attempts since the last record. */
  count = 0;
  /** When an attempt last succeeded, in epoch milliseconds; null if no attempt has succeeded since the last record. */
  succeededAt: number | null = null;
  /** When an attempt last failed, in epoch milliseconds; null if no attempt has failed since the last record. */
  failedAt: number | null = null;

  /** Adds an attempt that has ended. */
  add(attempt: Attempt): void {
    this.count++;
    if (attempt.is_success === 1) this.succeededAt = attempt.at;
    else {
      this.failedAt = attempt.at;
      this.#hasFailed = true;
    }
    this.#attempts.push(attempt);
    // Older successes than the log can store are dropped, once for many attempts, because each time reads all of them.
    const { length } = this.#attempts;
    if (length > KEPT_ATTEMPTS && length % KEPT_ATTEMPTS === 0)
      this.#attempts = this.#attempts.filter(
        ({ is_success }, index) => is_success === 0 || index >= length - KEPT_ATTEMPTS,
      );
  }

  /**
   * Returns the attempts to log now: the failed ones; all if no request is running (`isIdle`) or a second after the last log. `now` is
   * monotonic milliseconds.
   */
  due(now: number, isIdle: boolean): readonly Attempt[] {
    this.#isLogDue = isIdle || now - this.#loggedAt >= LOG_MS;
    if (this.#isLogDue) return this.#attempts;
    return this.#hasFailed ? this.#attempts.filter(({ is_success }) => is_success === 0) : [];
  }

  /** Call this when the attempts returned by `due` are on disk, in the same turn of the event loop. */
  written(now: number): void {
    if (this.#isLogDue) {
      this.#attempts = [];
      this.#loggedAt = now;
    } else if (this.#hasFailed) this.#attempts = this.#attempts.filter(({ is_success }) => is_success === 1);
    this.#hasFailed = false;
    this.count = 0;
    this.succeededAt = null;
    this.failedAt = null;
  }
}
