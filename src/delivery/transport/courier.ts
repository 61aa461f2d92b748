/** The interface that the worker sends mail through: an SMTP relay or the built-in outbox. */
import type { MailData } from '../mime/mail-data.ts';
import type { Outcome } from './smtp/outcome.ts';

export type { Outcome } from './smtp/outcome.ts';

/** One message to one recipient, as the worker gives it to a courier. For SMTP it is also the pool's `Job`. */
export interface Handoff {
  mailingId: number;
  userId: number;
  /** One address, in ASCII form. */
  from: string;
  /** One address, in ASCII form, never a list. */
  to: string;
  /**
   * Called right before MAIL FROM is written. Returns the message, or null if it must no longer be sent. The message may be
   * built in `memory`, if given: the courier does not reuse it before the outcome is known.
   */
  start(memory?: Buffer): MailData | null;
  /** Whether the message may still be sent; asked before its text is written, if its envelope was pipelined earlier. */
  maySend?(): boolean;
  /** True if no line of the message can begin with a dot, so that dot-stuffing is skipped (RFC 5321 4.5.2). */
  dotless: boolean;
}

export interface Courier {
  /** How many more messages it can accept right now. */
  room(): number;
  /** Resolves with the outcome, or with 'withdrawn' if no message was sent. Rejects with what `start` throws. */
  send(handoff: Handoff): Promise<Outcome | 'withdrawn'>;
  /** Accepts no more messages, lets those in progress finish within `graceMs`, then closes every connection. */
  close(graceMs: number): Promise<void>;
}
