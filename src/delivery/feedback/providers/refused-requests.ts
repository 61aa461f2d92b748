/** Limits and counts the refused requests to the event URLs of accounts. */
import type { Database } from 'better-sqlite3';
import { isBusy } from '../../../database/write-lock.ts';
import type { Clock } from '../../../time/clock.ts';
import { countRefusals } from './intakes.ts';
import type { RefusalCode } from './provider-event.ts';

/** The time after which failed requests are counted anew, in milliseconds. */
const WINDOW_MS = 60_000;
/** The maximum number of failed requests per minute, per network and per intake. */
const MAX_FAILURES = 30;
/** The maximum number of callers whose failures are remembered. If there are more, the oldest are forgotten. */
const MAX_CALLERS = 10_000;
/** The minimum time between two writes of an intake's count, in milliseconds. */
const WRITE_MS = 1000;

/** Returns the key under which requests to an intake are limited, whatever network they come from. */
export function intakeCaller(intakeId: number): string {
  return `intake ${intakeId}`;
}

/** Counts refused requests, so that a caller with many of them has to wait and the owner of an intake sees their number. */
export class RefusedRequests {
  readonly #client: Database;
  readonly #clock: Clock;
  readonly #callers = new Map<string, { failures: number; since: number }>();
  readonly #unwritten = new Map<number, { times: number; code: RefusalCode; writtenAt: number }>();

  constructor(client: Database, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /**
   * Returns how many milliseconds a caller has to wait before its next request is processed; 0 if it need not wait. A caller is a network
   * or an `intakeCaller`.
   */
  waitMs(caller: string): number {
    const counted = this.#callers.get(caller);
    if (counted === undefined || counted.failures < MAX_FAILURES) return 0;
    return Math.max(0, counted.since + WINDOW_MS - this.#clock.monotonic());
  }

  /** Counts a failed request of a caller. */
  failed(caller: string): void {
    const now = this.#clock.monotonic();
    const counted = this.#callers.get(caller);
    if (counted !== undefined && now - counted.since < WINDOW_MS) counted.failures++;
    else {
      this.#callers.delete(caller);
      this.#callers.set(caller, { failures: 1, since: now });
    }
    const [first] = this.#callers.keys();
    if (this.#callers.size > MAX_CALLERS && first !== undefined) this.#callers.delete(first);
  }

  /** Counts a refused request to an intake, for its owner. */
  refused(intakeId: number, code: RefusalCode): void {
    this.failed(intakeCaller(intakeId));
    const count = this.#unwritten.get(intakeId) ?? { times: 0, code, writtenAt: Number.NEGATIVE_INFINITY };
    this.#unwritten.set(intakeId, count);
    count.times++;
    count.code = code;
    if (this.#clock.monotonic() - count.writtenAt >= WRITE_MS) this.write(intakeId);
  }

  /** Writes the counts of an intake that are not written yet. */
  write(intakeId: number): void {
    const count = this.#unwritten.get(intakeId);
    if (count === undefined || count.times === 0) return;
    try {
      countRefusals(this.#client, intakeId, count.code, count.times, this.#clock.now());
    } catch (error) {
      // The database is busy, so the counts are written with the next refusal.
      if (!isBusy(error)) throw error;
      return;
    }
    Object.assign(count, { times: 0, writtenAt: this.#clock.monotonic() });
  }
}
