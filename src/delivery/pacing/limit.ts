/**
 * The sending rate to a group of domains that has asked for fewer mails: halved when the group asks, raised steadily while it accepts
 * (additive increase, multiplicative decrease, as in RFC 5681 3.1).
 */

import { MINUTE_MS, SECOND_MS } from '../../units.ts';

/** The time after a rate cut in which refusals do not cut the rate again, because they may concern mails that were sent before the cut. */
const CUT_PAUSE_MS = 10 * SECOND_MS;
/**
 * The share of the refused rate that each minute of accepted mails adds to the rate, so that the refused rate is tried again after five
 * minutes.
 */
const RAISE_PER_MINUTE = 0.1;
/** The multiple of the refused rate at which the limit ends. */
const OVER_AT = 2;
/** The lowest rate in mails per second: one mail per minute. */
const MIN_RATE = 1 / 60;
/** The longest wait before a recipient asks the limit again. */
const MAX_WAIT_MS = 15 * MINUTE_MS;

/** The rates of a limit, in mails per second. */
export interface LimitRates {
  rate: number;
  /** The rate that was last refused. */
  refused: number;
}

/** A rate limit. Times are monotonic milliseconds. */
export class Limit {
  #rate: number;
  #refused: number;
  #cutAt: number;
  /** The time at which the next mail may be sent. */
  #next: number;
  /** The time at which the next recipient who has to wait may ask again, by the id of the mailing. */
  readonly #tails = new Map<number, number>();
  /** The time at which a mail was last sent or refused. */
  usedAt: number;

  constructor({ rate, refused }: LimitRates, now: number) {
    this.#rate = Math.max(MIN_RATE, rate);
    this.#refused = Math.max(MIN_RATE, refused);
    this.#cutAt = now;
    this.#next = now;
    this.usedAt = now;
  }

  get rates(): LimitRates {
    return { rate: this.#rate, refused: this.#refused };
  }

  /** Returns true if refusals at this time still concern mails that were sent before the last cut. */
  isSettling(now: number): boolean {
    return now - this.#cutAt < CUT_PAUSE_MS;
  }

  /** Halves the rate. */
  cut(now: number): void {
    this.#refused = this.#rate;
    this.#rate = Math.max(MIN_RATE, this.#rate / 2);
    this.#cutAt = now;
  }

  /** Raises the rate by one accepted mail's share. Returns true if the limit is over. */
  raise(now: number): boolean {
    this.usedAt = now;
    // A mail counts for the time until the next mail at the current rate.
    this.#rate += this.#raisePerMs * (SECOND_MS / this.#rate);
    return this.#rate >= OVER_AT * this.#refused;
  }

  /** The minimum time until the limit is over, in milliseconds. */
  get restMs(): number {
    return Math.max(0, OVER_AT * this.#refused - this.#rate) / this.#raisePerMs;
  }

  get #raisePerMs(): number {
    return (this.#refused * RAISE_PER_MINUTE) / MINUTE_MS;
  }

  /**
   * Asks to send a mail: returns 0 if it may be sent now; otherwise the number of milliseconds after which to ask again. Waiting recipients
   * reserve nothing: they are spread as if the rate were twice as high, so that a rising rate is used. Up to one second of unused rate may
   * be caught up.
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

  /** Returns the ids of mailings whose recipients are waiting, or were until a minute ago. */
  waiting(now: number): number[] {
    for (const [id, tail] of this.#tails) if (tail < now - MINUTE_MS) this.#tails.delete(id);
    return [...this.#tails.keys()];
  }

  forget(mailingId: number): void {
    this.#tails.delete(mailingId);
  }
}
