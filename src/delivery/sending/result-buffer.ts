/** Holds the results of hand-offs that are not on disk yet, and claims that go back to the queue as if they had not been claimed. */

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
  /** The clock by which retries are measured, in epoch milliseconds. */
  readonly #steady: () => number;
  #results: Result[] = [];
  #requeued: { claim: Claim; due_at: number | null }[] = [];

  constructor(steady: () => number) {
    this.#steady = steady;
  }

  /** The number of buffered results and claims. */
  get length(): number {
    return this.#results.length + this.#requeued.length;
  }

  /** The number of results and claims of one mailing. */
  countOf(mailingId: number): number {
    const claims = [...this.#results, ...this.#requeued.map(({ claim }) => claim)];
    return claims.filter(({ mailing_id }) => mailing_id === mailingId).length;
  }

  /**
   * The deliveries of all results and claims, and whether the state of each is final. A state is final if the mail was sent or failed, and
   * is not retried.
   */
  get ended(): { id: number; isFinal: boolean }[] {
    return [
      ...this.#results.map(({ id, state }) => ({ id, isFinal: state !== 'queued' })),
      ...this.#requeued.map(({ claim }) => ({ id: claim.id, isFinal: false })),
    ];
  }

  /** Adds the result of an outcome. If `willBeRetried`, a refusal does not fail the recipient. */
  add(mailing: OpenMailing, claim: Claim, outcome: Outcome, willBeRetried = false): void {
    this.#results.push(this.#resultOf(mailing, claim, outcome, willBeRetried));
  }

  /**
   * Puts a claim back into the queue. It becomes due at `due_at` (epoch milliseconds of the steady clock), or keeps its due time if that is
   * null.
   */
  requeue(claim: Claim, due_at: number | null = null): void {
    this.#requeued.push({ claim, due_at });
  }

  /** Returns when a claim is retried after a temporary refusal, in epoch milliseconds of the steady clock; null if it is given up. */
  retryAt(claim: Claim): number | null {
    const now = this.#steady();
    return retryAt(claim.attempt + 1, claim.first_tried_at || now, now);
  }

  /** Writes all results and claims to the ledger. Call `clear` after the transaction has committed. */
  write(ledger: Ledger, moment: Date): void {
    ledger.record(this.#results, moment.getTime(), isoTimestamp(moment));
    ledger.requeue(this.#requeued);
  }

  clear(): void {
    this.#results = [];
    this.#requeued = [];
  }

  /** Returns the result to record for an outcome. */
  #resultOf(mailing: OpenMailing, claim: Claim, outcome: Outcome, willBeRetried: boolean): Result {
    const base = {
      id: claim.id,
      mailing_id: mailing.id,
      address_id: claim.address_id,
      user_id: mailing.user_id,
      is_unmeasured: claim.is_unmeasured,
      in_series: mailing.owner_kind === 'schedule',
    };
    return { ...base, ...meaning(outcome, () => this.retryAt(claim), willBeRetried) };
  }
}

export interface Meaning {
  state: 'accepted' | 'bounced' | 'failed' | 'queued';
  reply: Said;
  /** When the next attempt is due, if the mail is queued again; otherwise 0. */
  due_at: number;
  /** True if the address is to be suppressed, because it does not exist. */
  suppress: boolean;
}

/**
 * Returns the meaning of an outcome for a mail. `retryAt` returns when to try again, or null to give up. A refusal caused by the sender
 * never fails the mail; if `willBeRetried`, no refusal fails it.
 */
export function meaning(outcome: Outcome, retryAt: () => number | null, willBeRetried = false): Meaning {
  const { reply } = outcome;
  const base = { reply, due_at: 0, suppress: false };
  if (outcome.kind === 'accepted') return { ...base, state: 'accepted' };
  const isFinalRefusal = outcome.kind === 'refused' && !willBeRetried && findBlame(outcome) !== 'us';
  const verdict = isFinalRefusal ? classify(outcome) : null;
  if (verdict?.kind === 'bounce') return { ...base, state: 'bounced', suppress: true };
  if (verdict?.kind === 'failed') return { ...base, state: 'failed' };
  const due_at = retryAt();
  return due_at === null
    ? { ...base, state: 'failed', reply: sentence('given_up', { reply }) }
    : { ...base, state: 'queued', due_at };
}
