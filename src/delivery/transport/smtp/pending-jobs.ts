/** The queue of jobs that wait for a connection, first in, first out. */
import type { MailData } from '../../mime/mail-data.ts';
import type { Outcome } from './outcome.ts';
import type { Relay } from './relay.ts';

/** One message to one recipient, as the pool needs it: the courier's `Handoff` without its mailing and account. */
export type Job = {
  /** The envelope sender; empty for the null reverse-path (RFC 5321 4.5.5). */
  from: string;
  to: string;
  /**
   * Returns the message, or null to withdraw the job. Called right before MAIL FROM is written, in the same turn of the
   * event loop, and again if the job is sent anew on another connection. The message may be built in `memory`, the
   * connection's buffer, which is not reused before the outcome is known.
   */
  start(memory: Buffer): MailData | null;
  /** Whether the message may still be sent; asked before its text is written, if its envelope was pipelined earlier. */
  maySend?(): boolean;
  /** True if no line of the message can begin with a dot. Otherwise it is searched, a tenth of a large message's cost. */
  dotless?: boolean;
};

/** A job in the pool, with the functions that settle its promise. */
export type Ticket = {
  readonly job: Job;
  readonly resolve: (outcome: Outcome | 'withdrawn') => void;
  readonly reject: (error: unknown) => void;
  /** How often it went back to the queue because its connection closed before its message was sent. */
  requeues: number;
  /** The relays that refused its sender, and the refusal to report: the first 4xx, or else the first of all. */
  refusedBy: readonly Relay[];
  refusal: Outcome | null;
  next: Ticket | null;
};

/** A linked list, because `shift` on a long array copies the rest. */
export class PendingJobs {
  #first: Ticket | null = null;
  #last: Ticket | null = null;
  #length = 0;

  get first(): Ticket | null {
    return this.#first;
  }

  get length(): number {
    return this.#length;
  }

  push(ticket: Ticket): void {
    if (this.#last === null) this.#first = ticket;
    else this.#last.next = ticket;
    this.#last = ticket;
    this.#length++;
  }

  unshift(ticket: Ticket): void {
    ticket.next = this.#first;
    this.#first = ticket;
    this.#last ??= ticket;
    this.#length++;
  }

  shift(): Ticket | null {
    const ticket = this.#first;
    if (ticket === null) return null;
    this.#first = ticket.next;
    if (this.#first === null) this.#last = null;
    ticket.next = null;
    this.#length--;
    return ticket;
  }
}
