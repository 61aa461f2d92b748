/** What hand-offs led to and is not on disk yet: results, and claims that go back to the queue as if nothing had happened. */

import { type Said, sentence } from '../../errors/sentences.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { retryAt } from '../queue/backoff.ts';
import type { Claim } from '../queue/candidates.ts';
import type { Ledger, Result } from '../queue/ledger/ledger.ts';
import type { OpenMailing } from '../queue/mailing-state.ts';
import { findBlame } from '../replies/blame.ts';
import { classify } from '../replies/classify.ts';
import type { Outcome } from '../transport/courier.ts';

export class ResultBuffer {
  /** The clock that retries are measured by. */
  readonly #steady: () => number;
  #results: Result[] = [];
  #requeued: { claim: Claim; due_at: number | null }[] = [];

  constructor(steady: () => number) {
    this.#steady = steady;
  }

  /** How many there are. */
  get length(): number {
    return this.#results.length + this.#requeued.length;
  }

  /** How many of them are of one mailing. */
  countOf(mailingId: number): number {
    const claims = [...this.#results, ...this.#requeued.map(({ claim }) => claim)];
    return claims.filter(({ mailing_id }) => mailing_id === mailingId).length;
  }

  /** The deliveries they are of, and whether each mail has left for good. */
  get ended(): { id: number; hasLeft: boolean }[] {
    return [
      ...this.#results.map(({ id, state }) => ({ id, hasLeft: state !== 'queued' })),
      ...this.#requeued.map(({ claim }) => ({ id: claim.id, hasLeft: false })),
    ];
  }

  /** Adds what an outcome means for the recipient. With `isTriedAgain`, a refusal does not fail them. */
  add(mailing: OpenMailing, claim: Claim, outcome: Outcome, isTriedAgain = false): void {
    this.#results.push(this.#resultOf(mailing, claim, outcome, isTriedAgain));
  }

  /** Puts a claim back into the queue, due at `due_at` (steady epoch milliseconds), or where it was. */
  requeue(claim: Claim, due_at: number | null = null): void {
    this.#requeued.push({ claim, due_at });
  }

  /** When a claim is tried again after a temporary refusal; null once it is given up. */
  retryAt(claim: Claim): number | null {
    const now = this.#steady();
    return retryAt(claim.attempt + 1, claim.first_tried_at || now, now);
  }

  /** Writes all of them to the ledger. Call `clear` once the transaction is committed. */
  write(ledger: Ledger, moment: Date): void {
    ledger.record(this.#results, moment.getTime(), isoTimestamp(moment));
    ledger.requeue(this.#requeued);
  }

  clear(): void {
    this.#results = [];
    this.#requeued = [];
  }

  /** The result to record for an outcome. */
  #resultOf(mailing: OpenMailing, claim: Claim, outcome: Outcome, isTriedAgain: boolean): Result {
    const base = {
      id: claim.id,
      mailing_id: mailing.id,
      address_id: claim.address_id,
      user_id: mailing.user_id,
      is_unmeasured: claim.is_unmeasured,
      in_series: mailing.owner_kind === 'schedule',
    };
    return { ...base, ...meaning(outcome, () => this.retryAt(claim), isTriedAgain) };
  }
}

/** What an outcome means for a mail. */
export interface Meaning {
  state: 'accepted' | 'bounced' | 'failed' | 'queued';
  reply: Said;
  /** When the next try is due, if it is queued again. */
  due_at: number;
  /** Whether the address does not exist. */
  suppress: boolean;
}

/**
 * What an outcome means for a mail that `retryAt` says when to try again, or null to give up. A refusal that names us never fails it, and
 * with `isTriedAgain` none does.
 */
export function meaning(outcome: Outcome, retryAt: () => number | null, isTriedAgain = false): Meaning {
  const { reply } = outcome;
  const base = { reply, due_at: 0, suppress: false };
  if (outcome.kind === 'accepted') return { ...base, state: 'accepted' };
  const isFinal = outcome.kind === 'refused' && !isTriedAgain && findBlame(outcome) !== 'us';
  const verdict = isFinal ? classify(outcome) : null;
  if (verdict?.kind === 'bounce') return { ...base, state: 'bounced', suppress: true };
  if (verdict?.kind === 'failed') return { ...base, state: 'failed' };
  const due_at = retryAt();
  return due_at === null
    ? { ...base, state: 'failed', reply: sentence('given_up', { reply }) }
    : { ...base, state: 'queued', due_at };
}
