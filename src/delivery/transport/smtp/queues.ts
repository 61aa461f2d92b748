/**
 * The hand-offs that wait for a connection, and which relay gets which. All wait in one queue, for the best relay that
 * works. One whose sender a relay refused waits for the next relay in the list, in that relay's own queue.
 */

import type { Outcome } from './outcome.ts';
import { type PendingHandoff, PendingHandoffs } from './pending-handoffs.ts';
import type { Route, Routes } from './route.ts';

export class Queues {
  readonly #routes: Routes;
  /** Hand-offs that no relay has refused. */
  readonly #common = new PendingHandoffs();
  #isClosed = false;

  constructor(routes: Routes) {
    this.#routes = routes;
  }

  /** The number of hand-offs that wait. */
  get length(): number {
    return this.#routes.all.reduce((sum, { queue }) => sum + queue.length, this.#common.length);
  }

  /** The number of those that any relay may get. */
  get common(): number {
    return this.#common.length;
  }

  /** Adds a new hand-off. */
  push(pending: PendingHandoff): void {
    if (this.#isClosed) pending.resolve('withdrawn');
    else this.#common.push(pending);
  }

  /** Puts back, at the front, a hand-off whose connection closed before the relay could act on it. */
  requeue(pending: PendingHandoff): void {
    pending.requeues++;
    if (this.#isClosed) pending.resolve('withdrawn');
    else this.#queueFor(pending)?.unshift(pending);
  }

  /** The hand-off that waits longest for this relay. */
  first(route: Route): PendingHandoff | null {
    return route.queue.first ?? this.#common.first;
  }

  /** Takes the next hand-off for a relay out of its queue, or null if there is none for it. */
  shift(route: Route): PendingHandoff | null {
    return route.queue.shift() ?? (this.#getsCommon(route) ? this.#common.shift() : null);
  }

  /** Whether a hand-off waits that this relay should get. */
  hasWorkFor(route: Route): boolean {
    return route.queue.length > 0 || (this.#common.length > 0 && this.#getsCommon(route));
  }

  /**
   * Resolves a hand-off with its outcome. If the relay refused its sender, the hand-off is queued for the next relay
   * instead, and the function returns true.
   */
  finish(route: Route, pending: PendingHandoff, outcome: Outcome | 'withdrawn'): boolean {
    if (outcome === 'withdrawn' || !route.shouldTryNextRelay(outcome)) {
      pending.resolve(outcome);
      return false;
    }
    if (outcome.code > 0) route.refusedSender(outcome);
    // One 4xx outweighs any number of 5xx, because the mail then gets another try.
    if (pending.refusal === null || (pending.refusal.kind === 'held' && outcome.kind === 'deferred'))
      pending.refusal = outcome;
    pending.refusedBy = [...pending.refusedBy, route.relay];
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
    const { best, failure } = this.#routes;
    for (const route of this.#routes.all) {
      const { failure: own } = route;
      if (own === null || !route.isUnreachable) continue;
      route.queue.resolveAll(({ refusal }) => (own.kind === 'held' ? (refusal ?? own) : own));
    }
    if (best !== null || failure === null) return;
    if (this.#routes.all.every((route) => route.isUnreachable)) this.#common.resolveAll(() => failure);
  }

  /** Resolves every hand-off that waits, and from now on each new one, with 'withdrawn'. */
  close(): void {
    this.#isClosed = true;
    for (const queue of [this.#common, ...this.#routes.all.map((route) => route.queue)])
      queue.resolveAll(() => 'withdrawn');
  }

  /** Whether a relay gets hand-offs from the common queue: only while no better relay has all its connections open. */
  #getsCommon(route: Route): boolean {
    const better = this.#routes.betterThan(route);
    return better === null || better.open < better.slots;
  }

  /** The queue for a hand-off: the common one, or that of the first relay that has not refused it; null if all have. */
  #queueFor({ refusedBy }: PendingHandoff): PendingHandoffs | null {
    if (refusedBy.length === 0) return this.#common;
    return this.#routes.all.find(({ relay }) => !refusedBy.includes(relay))?.queue ?? null;
  }
}
