/** A token bucket: limits a rate per second. It holds up to one second of unused allowance, but at least one token. */

import { SECOND_MS } from '../../../units.ts';

export class TokenBucket {
  readonly #perSecond: number;
  readonly #monotonic: () => number;
  #tokens: number;
  #filledAt: number;

  /** `perSecond` is the rate; 0 means no limit. `monotonic` is a clock in milliseconds. */
  constructor(perSecond: number, monotonic: () => number) {
    this.#perSecond = perSecond;
    this.#monotonic = monotonic;
    this.#tokens = perSecond;
    this.#filledAt = monotonic();
  }

  /** The number of tokens available now; infinite if there is no limit. */
  get available(): number {
    if (this.#perSecond === 0) return Number.POSITIVE_INFINITY;
    const now = this.#monotonic();
    const filled = this.#tokens + ((now - this.#filledAt) * this.#perSecond) / SECOND_MS;
    this.#tokens = Math.min(Math.max(1, this.#perSecond), filled);
    this.#filledAt = now;
    return Math.floor(this.#tokens);
  }

  /** Takes as many of `wanted` tokens as are available now. Returns their number. */
  take(wanted: number): number {
    const granted = Math.min(wanted, this.available);
    this.#tokens -= granted;
    return granted;
  }

  /** Returns tokens that were taken but not used. */
  giveBack(count: number): void {
    this.#tokens += count;
  }
}
