/** The jobs that wait for a connection, first in, first out. */
import type { MailData } from '../../mime/mail-data.ts';
import type { Outcome } from './outcome.ts';
import type { Relay } from './relay.ts';

/** One message to one recipient. */
export type Job = {
  /** The envelope sender; empty for none (RFC 5321 4.5.5). */
  from: string;
  to: string;
  /**
   * The message; null drops the job. Called right before MAIL FROM is written, in the same turn;
   * called anew where a kept connection turns out to be closed and another one is taken. It may be built in `memory`, the
   * connection's own, which lasts until the job is settled.
   */
  start(memory: Buffer): MailData | null;
  /** Whether the message still may leave; asked before it is written where its envelope was written ahead of its turn. */
  mayGo?(): boolean;
  /** Whether no line of the message can begin with a dot; otherwise each is looked at (a tenth of a large message's cost). */
  dotless?: boolean;
};

/** A job and the promise that was given for it. */
export type Ticket = {
  readonly job: Job;
  readonly resolve: (outcome: Outcome | 'withdrawn') => void;
  readonly reject: (error: unknown) => void;
  /** How often it went back to the queue because its connection was closed before its message. */
  moves: number;
  /** The relays that refused its sender, and what the first of them said; the first 4xx, where there was one. */
  refusedBy: readonly Relay[];
  refusal: Outcome | null;
  next: Ticket | null;
};

/** A linked list: an array's `shift` copies the rest once it is long. */
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
