/** How fast mail may leave: in all, and to one recipient domain (settings SEND_RATE, SEND_RATE_PER_DOMAIN; mails a second). */
import type { Clock } from '../clock.ts';

const SECOND = 1000;

/** Spreads hand-offs over time. A rate of 0 is no limit. */
export class Rates {
  readonly #clock: Clock;
  readonly #perSecond: number;
  readonly #perDomain: number;
  #tokens: number;
  #filledAt: number;
  /** When the next mail to a domain may go, monotonic milliseconds. */
  readonly #nextTo = new Map<string, number>();

  constructor(clock: Clock, { perSecond, perDomain }: { perSecond: number; perDomain: number }) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#perDomain = perDomain;
    this.#tokens = perSecond;
    this.#filledAt = clock.monotonic();
  }

  /** How many of `wanted` may go now. What is given is used up. */
  take(wanted: number): number {
    if (this.#perSecond === 0) return wanted;
    const now = this.#clock.monotonic();
    const gained = ((now - this.#filledAt) * this.#perSecond) / SECOND;
    this.#tokens = Math.min(this.#perSecond, this.#tokens + gained);
    this.#filledAt = now;
    const given = Math.min(wanted, Math.floor(this.#tokens));
    this.#tokens -= given;
    return given;
  }

  /** Gives back what was taken and not used. */
  giveBack(count: number): void {
    this.#tokens += count;
  }

  /** Reserves the next place for a mail to this domain; gives the milliseconds until then, 0 for now. */
  waitFor(domain: string): number {
    if (this.#perDomain === 0) return 0;
    const now = this.#clock.monotonic();
    const place = Math.max(now, this.#nextTo.get(domain) ?? 0);
    this.#nextTo.set(domain, place + SECOND / this.#perDomain);
    this.#forgetPast(now);
    return Math.round(place - now);
  }

  #forgetPast(now: number): void {
    if (this.#nextTo.size < 10_000) return;
    for (const [domain, next] of this.#nextTo) if (next <= now) this.#nextTo.delete(domain);
  }
}
