/**
 * Enforces the daily limit of a sender domain's warm-up, and spreads its mails over the day. A mail is counted in the transaction that
 * claims it, and uncounted if it was not sent, so a crash can only lower the number of mails that are sent.
 */
import type { Database } from 'better-sqlite3';
import { type Clock, dayOf } from '../../time/clock.ts';
import { addDays } from '../../time/zones.ts';
import { HOUR_MS, MINUTE_MS } from '../../units.ts';
import type { OpenMailing } from '../queue/mailing-state.ts';
import { countMails, endWarmUp, findWarmUp, isAnyWarmingUp, volumeAfter } from './plans.ts';

/**
 * The shortest time over which the volume of a day is spread, in milliseconds. The remaining volume is spread over the rest of the day, but
 * at most at the rate of the whole volume over this time.
 */
const MIN_SPREAD_MS = 8 * HOUR_MS;
/** The unused time that may be caught up, in milliseconds. */
const MAX_CATCH_UP_MS = MINUTE_MS;

interface Budget {
  id: number;
  day: string;
  /** The number of mails allowed on the day. */
  volume: number;
  /** The number of mails that may still be sent on the day. */
  left: number;
  /** The time between two mails, in milliseconds. */
  interval: number;
}

interface CountedMail {
  id: number;
  day: string;
  volume: number;
}

export class WarmUps {
  readonly #client: Database;
  readonly #clock: Clock;
  #isAnyWarmingUp = false;
  /** The monotonic time up to which the time of a plan is used by its mails, by the id of the plan. */
  readonly #usedUntil = new Map<number, number>();
  /** The counted mails by the id of their delivery. Mails that an earlier run claimed are unknown, so they are never uncounted. */
  readonly #counted = new Map<number, CountedMail>();

  constructor(client: Database, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Begins a round: returns these mailings, with `is_due` cleared for the mailings that have to wait for their domain. */
  startRound(mailings: OpenMailing[]): OpenMailing[] {
    this.#isAnyWarmingUp = isAnyWarmingUp(this.#client);
    if (!this.#isAnyWarmingUp) return mailings;
    return mailings.map((mailing) =>
      mailing.is_due === 1 && this.allowed(mailing) === 0 ? { ...mailing, is_due: 0 as const } : mailing,
    );
  }

  /**
   * Returns how many mails of a mailing may be claimed now. There is no limit for test mails and confirmation mails, because someone is
   * waiting for them.
   */
  allowed(mailing: Pick<OpenMailing, 'id' | 'owner_kind'>): number {
    if (!this.#isAnyWarmingUp || (mailing.owner_kind !== 'single' && mailing.owner_kind !== 'schedule'))
      return Number.MAX_SAFE_INTEGER;
    const budget = this.#budgetOf(this.#senderOf(mailing.id));
    if (budget === null) return Number.MAX_SAFE_INTEGER;
    const now = this.#clock.monotonic();
    const { id, left, interval } = budget;
    const usedUntil = Math.max(this.#usedUntil.get(id) ?? now, now - Math.max(MAX_CATCH_UP_MS, interval));
    this.#usedUntil.set(id, usedUntil);
    return usedUntil > now ? 0 : Math.min(left, Math.floor((now - usedUntil) / interval) + 1);
  }

  /** Counts claimed recipients. Call it inside the transaction that claims them. */
  claimed(mailingId: number, deliveries: readonly number[]): void {
    if (!this.#isAnyWarmingUp || deliveries.length === 0) return;
    const budget = this.#budgetOf(this.#senderOf(mailingId));
    if (budget === null) return;
    const { id, day, volume, interval } = budget;
    countMails(this.#client, id, day, volume, deliveries.length);
    const usedUntil = this.#usedUntil.get(id) ?? this.#clock.monotonic();
    this.#usedUntil.set(id, usedUntil + deliveries.length * interval);
    for (const delivery of deliveries) this.#counted.set(delivery, { id, day, volume });
  }

  /** Uncounts mails that were not sent, on the day on which they were counted. Call it inside the transaction that writes the results. */
  ended(results: readonly { id: number; isFinal: boolean }[]): void {
    if (this.#counted.size === 0) return;
    const today = dayOf(this.#clock.now());
    for (const { id: delivery, isFinal } of results) {
      const counted = this.#counted.get(delivery);
      this.#counted.delete(delivery);
      if (counted !== undefined && !isFinal && counted.day === today)
        countMails(this.#client, counted.id, today, counted.volume, -1);
    }
  }

  /** Counts a transactional mail that was sent. Call it inside the transaction that records the mail. */
  countTransactional(senderId: number): void {
    if (!isAnyWarmingUp(this.#client)) return;
    const budget = this.#budgetOf(senderId);
    if (budget !== null) countMails(this.#client, budget.id, budget.day, budget.volume, 1);
  }

  #senderOf(mailingId: number): number | null {
    const read = this.#client.prepare<[number], { sender_id: number | null }>(
      'SELECT sender_id FROM mailings WHERE id = ?',
    );
    return read.get(mailingId)?.sender_id ?? null;
  }

  #budgetOf(senderId: number | null): Budget | null {
    const now = this.#clock.now();
    const day = dayOf(now);
    const warmUp = senderId === null ? null : findWarmUp(this.#client, senderId, day);
    if (warmUp === null) return null;
    const volume = volumeAfter(warmUp, warmUp.step);
    if (volume === null) {
      endWarmUp(this.#client, warmUp.id, day);
      return null;
    }
    const left = Math.max(0, volume - warmUp.mails);
    const restMs = Date.parse(addDays(day, 1)) - now.getTime();
    return {
      id: warmUp.id,
      day,
      volume,
      left,
      interval: Math.max(restMs / Math.max(1, left), MIN_SPREAD_MS / volume),
    };
  }
}
