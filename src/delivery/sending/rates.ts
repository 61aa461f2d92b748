/** Limits how many mails are sent per second, in total and to one recipient domain (settings SEND_RATE and SEND_RATE_PER_DOMAIN). */
import type { Clock } from '../../time/clock.ts';
import { SECOND_MS } from '../../units.ts';
import { TokenBucket } from '../transport/smtp/token-bucket.ts';

/** The number of domains above which the times that have passed are removed. */
const MAX_DOMAINS = 10_000;

/** Times in monotonic milliseconds, by recipient domain. */
type DomainTimes = Map<string, number>;

/** Spreads sending over time. A rate of 0 means no limit. */
export class Rates {
  readonly #clock: Clock;
  readonly #total: TokenBucket;
  readonly #perDomain: number;
  /** The number of transactional mails waiting for the rate, which is reserved for them. */
  #reserved = 0;
  /** The time at which the next mail to each domain may be sent. */
  readonly #next: DomainTimes = new Map();
  /** The time at which the next recipient who has to wait may ask again, by mailing and domain. */
  readonly #tails = new Map<number, DomainTimes>();

  constructor(clock: Clock, { perSecond, perDomain }: { perSecond: number; perDomain: number }) {
    this.#clock = clock;
    this.#total = new TokenBucket(perSecond, () => clock.monotonic());
    this.#perDomain = perDomain;
  }

  /** Returns how many of `wanted` campaign mails may be sent now. They count as sent. */
  take(wanted: number): number {
    return this.#total.take(Math.min(wanted, Math.max(0, this.#total.available - this.#reserved)));
  }

  /**
   * Returns how many of `wanted` transactional mails may be sent now. They count as sent. Transactional mail has priority: the part of
   * `wanted` that is not granted now is reserved for the next call.
   */
  takeFirst(wanted: number): number {
    const granted = this.#total.take(wanted);
    this.#reserved = wanted - granted;
    return granted;
  }

  /**
   * Asks to send a transactional mail to this domain, which may overtake one waiting mail. Returns 0 if it may be sent now; otherwise the
   * number of milliseconds after which to ask again.
   */
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

  /** Gives back capacity that was taken but not used. */
  giveBack(count: number): void {
    this.#total.giveBack(count);
  }

  /**
   * Asks to send a mail to this domain. Returns 0 if it may be sent now; otherwise the number of milliseconds after which to ask again.
   * Waiting recipients are spread over time but reserve nothing, so that a pause is not followed by a burst. Up to one second of unused
   * capacity may be caught up, because the worker does not ask continuously. Each mailing is spread separately, so that recipients of a
   * cancelled mailing do not delay others.
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

  /** Forgets the waiting recipients of a mailing that is finished or stopped. */
  forget(mailingId: number): void {
    this.#tails.delete(mailingId);
  }
}

function forgetPast(times: DomainTimes, before: number): void {
  if (times.size < MAX_DOMAINS) return;
  for (const [domain, time] of times) if (time <= before) times.delete(domain);
}
