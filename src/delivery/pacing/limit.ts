/**
 * The rate at which a group of domains gets mail after it has asked for fewer: halved when it asks, raised evenly while it takes what it gets
 * (additive increase, multiplicative decrease, as in RFC 5681 3.1).
 */

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
/** Mails that left before a cut are still refused after it, so they do not cut again. */
const CUT_PAUSE_MS = 10 * SECOND_MS;
/** Of the rate that was refused, this share is added for each minute of mails that are taken: after five it is tried again. */
const RAISE_PER_MINUTE = 0.1;
/** At so many times the rate that was refused, the limit is over. */
const OVER_AT = 2;
/** One mail a minute. */
const MIN_RATE = 1 / 60;
/** The longest that somebody waits before the limit is asked again. */
const MAX_WAIT_MS = 15 * MINUTE_MS;

/** A limit in numbers; rates are mails a second. */
export interface LimitNumbers {
  rate: number;
  /** The rate that was last refused. */
  refused: number;
}

/** Times are monotonic milliseconds. */
export class Limit {
  #rate: number;
  #refused: number;
  #cutAt: number;
  /** When the next mail may leave. */
  #next: number;
  /** By mailing: when the next of its recipients who has to wait asks again. */
  readonly #tails = new Map<number, number>();
  /** When a mail last left or was refused. */
  usedAt: number;

  constructor({ rate, refused }: LimitNumbers, now: number) {
    this.#rate = Math.max(MIN_RATE, rate);
    this.#refused = Math.max(MIN_RATE, refused);
    this.#cutAt = now;
    this.#next = now;
    this.usedAt = now;
  }

  get numbers(): LimitNumbers {
    return { rate: this.#rate, refused: this.#refused };
  }

  /** Whether refusals now are about mails that left before the last cut. */
  isSettling(now: number): boolean {
    return now - this.#cutAt < CUT_PAUSE_MS;
  }

  /** Halves the rate. */
  cut(now: number): void {
    this.#refused = this.#rate;
    this.#rate = Math.max(MIN_RATE, this.#rate / 2);
    this.#cutAt = now;
  }

  /** Raises the rate by what one mail that was taken is worth; true when the limit is over. */
  raise(now: number): boolean {
    this.usedAt = now;
    // A mail stands for the time until the next one.
    this.#rate += this.#raisePerMs * (SECOND_MS / this.#rate);
    return this.#rate >= OVER_AT * this.#refused;
  }

  /** The least time until the limit is over, in milliseconds. */
  get restMs(): number {
    return Math.max(0, OVER_AT * this.#refused - this.#rate) / this.#raisePerMs;
  }

  get #raisePerMs(): number {
    return (this.#refused * RAISE_PER_MINUTE) / MINUTE_MS;
  }

  /**
   * Asks to send a mail: 0 means now; otherwise the milliseconds after which to ask again. Those who wait are spread for twice the rate, so that a rate
   * that rises is used, and reserve nothing. Up to a second of unused rate is made up for.
   */
  waitFor(mailingId: number, now: number, random: () => number = Math.random): number {
    const interval = SECOND_MS / this.#rate;
    if (this.#next <= now) {
      this.#next = Math.max(this.#next, now - SECOND_MS) + interval;
      this.usedAt = now;
      return 0;
    }
    const place = Math.max(this.#next, this.#tails.get(mailingId) ?? 0);
    const wait = Math.ceil(place - now);
    if (wait > MAX_WAIT_MS) return Math.ceil(MAX_WAIT_MS * (0.5 + 0.5 * random()));
    this.#tails.set(mailingId, place + interval / 2);
    return wait;
  }

  /** The mailings whose recipients wait or waited a moment ago. */
  waiting(now: number): number[] {
    for (const [id, tail] of this.#tails) if (tail < now - MINUTE_MS) this.#tails.delete(id);
    return [...this.#tails.keys()];
  }

  forget(mailingId: number): void {
    this.#tails.delete(mailingId);
  }
}
