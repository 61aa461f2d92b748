/** Counts refused requests, without letting strangers make the service write or check signatures as often as they like. */
import type { Database } from 'better-sqlite3';
import { isBusy } from '../../../database/write-lock.ts';
import type { Clock } from '../../../time/clock.ts';
import { countRefusals } from './intakes.ts';
import type { RefusalCode } from './provider-event.ts';

const WINDOW_MS = 60_000;
/** How many requests of a network, and to an intake, may fail in a minute. */
const MAX_FAILURES = 30;
/** The most of them remembered; beyond that, those seen first are forgotten. */
const MAX_CALLERS = 10_000;
/** The count of an intake is written at most this often. */
const WRITE_MS = 1000;

/** Who asks at an intake, whatever their network. */
export function intakeCaller(intakeId: number): string {
  return `intake ${intakeId}`;
}

export class RefusedRequests {
  readonly #client: Database;
  readonly #clock: Clock;
  readonly #callers = new Map<string, { failures: number; since: number }>();
  readonly #unwritten = new Map<number, { times: number; code: RefusalCode; writtenAt: number }>();

  constructor(client: Database, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** How many milliseconds a network, or who asks at an intake, has to wait before the next request is looked at; 0: none. */
  waitMs(caller: string): number {
    const seen = this.#callers.get(caller);
    if (seen === undefined || seen.failures < MAX_FAILURES) return 0;
    return Math.max(0, seen.since + WINDOW_MS - this.#clock.monotonic());
  }

  /** Counts a failure of a network without a token. */
  failed(caller: string): void {
    const now = this.#clock.monotonic();
    const seen = this.#callers.get(caller);
    if (seen !== undefined && now - seen.since < WINDOW_MS) seen.failures++;
    else {
      this.#callers.delete(caller);
      this.#callers.set(caller, { failures: 1, since: now });
    }
    const [first] = this.#callers.keys();
    if (this.#callers.size > MAX_CALLERS && first !== undefined) this.#callers.delete(first);
  }

  /** Counts a refused request at an intake, for its owner. */
  refused(intakeId: number, code: RefusalCode): void {
    this.failed(intakeCaller(intakeId));
    const count = this.#unwritten.get(intakeId) ?? { times: 0, code, writtenAt: Number.NEGATIVE_INFINITY };
    this.#unwritten.set(intakeId, count);
    count.times++;
    count.code = code;
    if (this.#clock.monotonic() - count.writtenAt >= WRITE_MS) this.write(intakeId);
  }

  /** Writes what was counted at an intake and not written yet. */
  write(intakeId: number): void {
    const count = this.#unwritten.get(intakeId);
    if (count === undefined || count.times === 0) return;
    try {
      countRefusals(this.#client, intakeId, count.code, count.times, this.#clock.now());
    } catch (error) {
      // Written with the next one.
      if (!isBusy(error)) throw error;
      return;
    }
    Object.assign(count, { times: 0, writtenAt: this.#clock.monotonic() });
  }
}
