/** How fast mail may leave: in all, and to one recipient domain (settings SEND_RATE, SEND_RATE_PER_DOMAIN; mails a second). */
import type { Clock } from '../clock.ts';

const SECOND = 1000;

/** Of a recipient domain, in monotonic milliseconds. */
interface DomainTimes {
  /** When the next mail may go. */
  next: number;
  /** When the last of those who wait is to ask again, and a place more. */
  tail: number;
}

/** Spreads hand-offs over time. A rate of 0 is no limit. */
export class Rates {
  readonly #clock: Clock;
  readonly #perSecond: number;
  readonly #perDomain: number;
  #tokens: number;
  #filledAt: number;
  readonly #domains = new Map<string, DomainTimes>();

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

  /**
   * Asks for a mail to this domain: 0, it goes now; else the milliseconds after which to ask again. Those who wait are spread
   * over time but hold no place, so that a stop in between lets no flood through later; up to a second of places not used
   * is made up for, since the worker does not look at every one of them.
   */
  waitFor(domain: string): number {
    if (this.#perDomain === 0) return 0;
    const now = this.#clock.monotonic();
    const interval = SECOND / this.#perDomain;
    const times = this.#domains.get(domain) ?? { next: now, tail: now };
    if (times.next <= now) {
      times.next = Math.max(times.next, now - SECOND) + interval;
      this.#domains.set(domain, times);
      this.#forgetPast(now);
      return 0;
    }
    const place = Math.max(times.next, times.tail);
    times.tail = place + interval;
    return Math.ceil(place - now);
  }

  #forgetPast(now: number): void {
    if (this.#domains.size < 10_000) return;
    for (const [domain, { next, tail }] of this.#domains) {
      if (Math.max(next, tail) <= now - SECOND) this.#domains.delete(domain);
    }
  }
}
