/**
 * The hand-offs that wait for a connection, and their assignment to relays. Most hand-offs wait in one common queue, for the best relay
 * that works. A hand-off whose sender was rejected by a relay waits in the queue of the next relay in the list. A hand-off bound to one
 * relay waits in that relay's queue.
 */

import type { Outcome } from './outcome.ts';
import { type PendingHandoff, PendingHandoffs } from './pending-handoffs.ts';
import type { RelayState, RelayStates } from './relay-state.ts';

export class Queues {
  readonly #relayStates: RelayStates;
  /** The hand-offs that any relay may send and no relay has rejected. */
  readonly #common = new PendingHandoffs();
  #isClosed = false;

  constructor(relayStates: RelayStates) {
    this.#relayStates = relayStates;
  }

  /** The number of waiting hand-offs. */
  get length(): number {
    return this.#relayStates.all.reduce((sum, { queue }) => sum + queue.length, this.#common.length);
  }

  /** The number of hand-offs in the common queue. */
  get common(): number {
    return this.#common.length;
  }

  /** Adds a new hand-off. */
  push(pending: PendingHandoff): void {
    if (this.#isClosed) pending.resolve('withdrawn');
    else this.#queueFor(pending)?.push(pending);
  }

  /** Puts a hand-off back at the front, because its connection closed before the relay could act on it. */
  requeue(pending: PendingHandoff): void {
    pending.requeues++;
    if (this.#isClosed) pending.resolve('withdrawn');
    else this.#queueFor(pending)?.unshift(pending);
  }

  /** The hand-off that has waited longest for this relay. */
  first(relayState: RelayState): PendingHandoff | null {
    return this.#next(relayState, this.#common).first;
  }

  /** Removes and returns the next hand-off for a relay; null if no hand-off waits or the relay's rate allows none now. */
  shift(relayState: RelayState): PendingHandoff | null {
    if (relayState.allowance < 1) return null;
    const pending = this.#next(relayState, this.#getsCommon(relayState) ? this.#common : null).shift();
    relayState.isCommonNext = pending?.only === relayState.queue;
    return pending;
  }

  /** Returns true if there is a waiting hand-off that this relay should get now. */
  hasWorkFor(relayState: RelayState): boolean {
    if (relayState.allowance < 1) return false;
    return relayState.queue.length > 0 || (this.#common.length > 0 && this.#getsCommon(relayState));
  }

  /**
   * Resolves a hand-off with its outcome. If the relay rejected the sender, the hand-off is queued for the next relay instead, and the
   * function returns true.
   */
  finish(relayState: RelayState, pending: PendingHandoff, outcome: Outcome | 'withdrawn'): boolean {
    if (outcome === 'withdrawn' || pending.only !== null || !relayState.shouldTryNextRelay(outcome)) {
      pending.resolve(outcome);
      return false;
    }
    if (outcome.code > 0) relayState.refusedSender(outcome);
    // A single 4xx outweighs any number of 5xx, because the mail is then retried.
    if (pending.refusal === null || (pending.refusal.kind === 'held' && outcome.kind === 'deferred'))
      pending.refusal = outcome;
    pending.refusedBy = [...pending.refusedBy, relayState.relay];
    const queue = this.#queueFor(pending);
    if (queue === null || this.#isClosed) {
      pending.resolve(pending.refusal);
      return false;
    }
    queue.push(pending);
    return true;
  }

  /** Resolves the hand-offs that wait for failed relays with the failure, unless an open connection can still send them. */
  failUnreachable(): void {
    const { best, failure } = this.#relayStates;
    for (const relayState of this.#relayStates.all) {
      const { failure: own } = relayState;
      if (own === null || !relayState.isUnreachable) continue;
      relayState.queue.resolveAll(({ refusal }) => (own.kind === 'held' ? (refusal ?? own) : own));
    }
    if (best !== null || failure === null) return;
    if (this.#relayStates.all.every((relayState) => relayState.isUnreachable)) this.#common.resolveAll(() => failure);
  }

  /** Resolves every waiting hand-off, and from now on each new one, with 'withdrawn'. */
  close(): void {
    this.#isClosed = true;
    for (const queue of [this.#common, ...this.#relayStates.all.map((relayState) => relayState.queue)])
      queue.resolveAll(() => 'withdrawn');
  }

  /** Returns true if a relay gets hand-offs from the common queue: every better relay has failed or uses all its connections. */
  #getsCommon(relayState: RelayState): boolean {
    const better = this.#relayStates.betterThan(relayState);
    return better === null || (!relayState.hasBoundMail && better.responsive < better.slots);
  }

  /**
   * Returns the queue whose turn it is at a relay: the relay's own queue or, if the relay is entitled to it, the common queue. The common
   * queue takes turns with mail bound to this relay.
   */
  #next({ queue, isCommonNext }: RelayState, common: PendingHandoffs | null): PendingHandoffs {
    if (common === null || common.first === null) return queue;
    return queue.first === null || (isCommonNext && queue.first.only !== null) ? common : queue;
  }

  /**
   * Returns the queue for a hand-off: the queue of the relay that the hand-off is bound to, the common queue, or the queue of the first
   * relay that has not rejected it; null if all relays have rejected it.
   */
  #queueFor({ only, refusedBy }: PendingHandoff): PendingHandoffs | null {
    if (only !== null) return only;
    if (refusedBy.length === 0) return this.#common;
    return this.#relayStates.all.find(({ relay }) => !refusedBy.includes(relay))?.queue ?? null;
  }
}
