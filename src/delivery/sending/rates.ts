/** Limits how many mails are sent per second, in total and to one recipient domain (settings SEND_RATE and SEND_RATE_PER_DOMAIN). */
import type { Clock } from '../../time/clock.ts';
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
  /** How many transactional mails wait for the rate. What it allows is left to them. */
  #reserved = 0;
  /** When the next mail to a domain may be sent. */
  readonly #next: DomainTimes = new Map();
  /** By mailing: when the next recipient of a domain that has to wait should ask again. */
  readonly #tails = new Map<number, DomainTimes>();

  constructor(clock: Clock, { perSecond, perDomain }: { perSecond: number; perDomain: number }) {
    this.#clock = clock;
    this.#total = new TokenBucket(perSecond, () => clock.monotonic());
    this.#perDomain = perDomain;
  }

  /** How many of `wanted` mails of campaigns may be sent now. They count as sent. */
  take(wanted: number): number {
    return this.#total.take(Math.min(wanted, Math.max(0, this.#total.allowed - this.#reserved)));
  }

  /** The same for transactional mail, which goes first: what it does not get now is kept for the next call. */
  takeFirst(wanted: number): number {
    const given = this.#total.take(wanted);
    this.#reserved = wanted - given;
    return given;
  }

  /** The same for a transactional mail to this domain, which may go one place ahead: 0, or the milliseconds after which to ask again. */
  waitForFirst(domain: string): number {
    if (this.#perDomain === 0) return 0;
    const now = this.#clock.monotonic();
    const interval = SECOND_MS / this.#perDomain;
    const next = this.#next.get(domain) ?? now;
    if (next > now + interval) return Math.ceil(next - interval - now);
    this.#next.set(domain, Math.max(next, now - SECOND_MS) + interval);
    forgetPast(this.#next, now - SECOND_MS);
    return 0;
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
