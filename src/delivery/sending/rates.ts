/** Limits how many mails are sent per second, in total and to one recipient domain (settings SEND_RATE and SEND_RATE_PER_DOMAIN). */
import type { Clock } from '../../clock.ts';
import { TokenBucket } from '../transport/smtp/token-bucket.ts';

const SECOND_MS = 1000;

const MAX_DOMAINS = 10_000;

/** Monotonic milliseconds by recipient domain. */
type DomainTimes = Map<string, number>;

/** Spreads hand-offs over time. A rate of 0 is no limit. */
export class Rates {
  readonly #clock: Clock;
  readonly #total: TokenBucket;
  readonly #perDomain: number;
  /** When the next mail to a domain may be sent. */
  readonly #next: DomainTimes = new Map();
  /** By mailing: when the next recipient of a domain that has to wait should ask again. */
  readonly #tails = new Map<number, DomainTimes>();

  constructor(clock: Clock, { perSecond, perDomain }: { perSecond: number; perDomain: number }) {
    this.#clock = clock;
    this.#total = new TokenBucket(perSecond, () => clock.monotonic());
    this.#perDomain = perDomain;
  }

  /** How many of `wanted` mails may be sent now. They count as sent. */
  take(wanted: number): number {
    return this.#total.take(wanted);
  }

  /** Gives back what was taken but not sent. */
  giveBack(count: number): void {
    this.#total.giveBack(count);
  }

  /**
   * Asks to send a mail to this domain: 0 means now; otherwise the milliseconds after which to ask again. Waiting recipients are spread
   * over time but reserve nothing, so that a pause does not lead to a burst afterwards; up to a second of unused capacity is made up
   * for, since the worker does not ask at every moment. Each mailing has its own spread, so that recipients of a cancelled mailing
   * do not delay others.
   */
  waitFor(mailingId: number, domain: string): number {
    if (this.#perDomain === 0) return 0;
    const now = this.#clock.monotonic();
    const interval = SECOND_MS / this.#perDomain;
    const next = this.#next.get(domain) ?? now;
    if (next <= now) {
      this.#next.set(domain, Math.max(next, now - SECOND_MS) + interval);
      forgetPast(this.#next, now - SECOND_MS);
      return 0;
    }
    const tails: DomainTimes = this.#tails.get(mailingId) ?? new Map();
    const place = Math.max(next, tails.get(domain) ?? 0);
    this.#tails.set(mailingId, tails.set(domain, place + interval));
    forgetPast(tails, now);
    return Math.ceil(place - now);
  }

  /** Forgets the waiting recipients of a mailing that is done or stopped. */
  forget(mailingId: number): void {
    this.#tails.delete(mailingId);
  }
}

function forgetPast(times: DomainTimes, before: number): void {
  if (times.size < MAX_DOMAINS) return;
  for (const [domain, time] of times) if (time <= before) times.delete(domain);
}
