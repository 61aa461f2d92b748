/**
 * Hand-offs inside the SMTP client, and the queue in which they wait for a connection, first in, first out. Urgent hand-offs overtake the
 * others.
 */
import type { Handoff } from '../courier.ts';
import type { Outcome } from './outcome.ts';
import type { Relay } from './relay-urls.ts';

/** A hand-off whose outcome is not known yet, with the callbacks for the outcome and its progress so far. */
export type PendingHandoff = {
  readonly handoff: Handoff;
  readonly resolve: (outcome: Outcome | 'withdrawn') => void;
  readonly reject: (error: unknown) => void;
  /** The queue of the only relay that may be used; null if any relay may be used. */
  readonly only: PendingHandoffs | null;
  /** How often the hand-off went back to the queue because its connection closed before the message was sent. */
  requeues: number;
  /** The relays that rejected the sender. */
  refusedBy: readonly Relay[];
  /** The refusal to report: the first 4xx, or else the first refusal of all; null if there is none. */
  refusal: Outcome | null;
  /** The next hand-off in the queue. */
  next: PendingHandoff | null;
};

/** The number of consecutive urgent hand-offs after which one of the others is next, so that urgent ones never block a campaign. */
const MAX_URGENT_IN_A_ROW = 8;

/** The queue of one relay, or the queue common to all relays. */
export class PendingHandoffs {
  readonly #urgent = new LinkedList();
  readonly #others = new LinkedList();
  #urgentInARow = 0;

  get first(): PendingHandoff | null {
    return this.#next.first;
  }

  get length(): number {
    return this.#urgent.length + this.#others.length;
  }

  push(pending: PendingHandoff): void {
    this.#listOf(pending).push(pending);
  }

  unshift(pending: PendingHandoff): void {
    this.#listOf(pending).unshift(pending);
  }

  shift(): PendingHandoff | null {
    const next = this.#next;
    this.#urgentInARow = next === this.#urgent ? this.#urgentInARow + 1 : 0;
    return next.shift();
  }

  /** Empties the queue and resolves each hand-off in it. */
  resolveAll(outcome: (pending: PendingHandoff) => Outcome | 'withdrawn'): void {
    for (let pending = this.shift(); pending !== null; pending = this.shift()) pending.resolve(outcome(pending));
  }

  /** The list whose turn it is. */
  get #next(): LinkedList {
    if (this.#urgent.length === 0) return this.#others;
    const isTurnOfOthers = this.#urgentInARow >= MAX_URGENT_IN_A_ROW && this.#others.length > 0;
    return isTurnOfOthers ? this.#others : this.#urgent;
  }

  #listOf({ handoff }: PendingHandoff): LinkedList {
    return handoff.isUrgent === true ? this.#urgent : this.#others;
  }
}

/** A linked list of hand-offs. An array would be slower, because `shift` on a long array copies the rest. */
class LinkedList {
  #first: PendingHandoff | null = null;
  #last: PendingHandoff | null = null;
  #length = 0;

  get first(): PendingHandoff | null {
    return this.#first;
  }

  get length(): number {
    return this.#length;
  }

  push(pending: PendingHandoff): void {
    if (this.#last === null) this.#first = pending;
    else this.#last.next = pending;
    this.#last = pending;
    this.#length++;
  }

  unshift(pending: PendingHandoff): void {
    pending.next = this.#first;
    this.#first = pending;
    this.#last ??= pending;
    this.#length++;
  }

  shift(): PendingHandoff | null {
    const pending = this.#first;
    if (pending === null) return null;
    this.#first = pending.next;
    if (this.#first === null) this.#last = null;
    pending.next = null;
    this.#length--;
    return pending;
  }
}
