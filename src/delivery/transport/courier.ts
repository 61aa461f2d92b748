/** The interface through which the worker sends mail, implemented by the SMTP client and the test outbox. */

import type { Said } from '../../errors/sentences.ts';
import type { MailData } from '../mime/mail-data.ts';
import type { Outcome as SmtpOutcome } from './smtp/outcome.ts';

/** The outcome of a hand-off. */
export interface Outcome extends Omit<SmtpOutcome, 'reply'> {
  /** The SMTP relay's reply, or why the mail was not sent. */
  reply: Said;
}

/** One message to one recipient, passed from the worker down to the SMTP transaction. */
export interface Handoff {
  /** The envelope sender in ASCII form; empty for the null reverse-path (RFC 5321 4.5.5). */
  from: string;
  /** The address of the recipient in ASCII form. */
  to: string;
  /** The id of the only stored SMTP relay that may be used; any relay if null or absent. */
  relayId?: number | null;
  /** True if the message overtakes campaign mail that waits for a connection. */
  isUrgent?: boolean;
  /**
   * Returns the message, or null to withdraw it. Called right before MAIL FROM is written, in the same turn of the event loop, and again if
   * the mail is sent again on another connection. The message may be built in `buffer`, which is not reused before the outcome is known.
   */
  start(buffer?: Buffer): MailData | null;
  /** Returns true if the message may still be sent. Called right before the text is written. */
  maySend?(): boolean;
  /**
   * True if no line of the message can begin with a dot (RFC 5321 4.5.2). Otherwise the message is searched for such lines, which takes a
   * tenth of the time of sending a large message.
   */
  dotless?: boolean;
}

/** The account and mailing of a mail. Only the test outbox needs them, to show the mails of an account. */
export interface MailOwner {
  accountId: number;
  /** The id of the mailing; 0 if the mail belongs to none. */
  mailingId: number;
}

export interface Courier {
  /** Applies changed settings. Must be called between two rounds of the worker, outside a transaction. */
  refresh?(): void;
  /** Returns how many more messages can be accepted right now, for one stored SMTP relay, or with null for any. */
  room(relayId: number | null): number;
  /** Resolves with the outcome, or with 'withdrawn' if no message was sent. Rejects with what `start` throws. */
  send(handoff: Handoff, owner: MailOwner): Promise<Outcome | 'withdrawn'>;
  /** Accepts no more messages, gives those in progress `graceMs` milliseconds to finish, then closes every connection. */
  close(graceMs: number): Promise<void>;
}
