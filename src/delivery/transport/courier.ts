/** What the worker sends mail through, an SMTP relay or the built-in outbox, and what it gives them. */

import type { Said } from '../../errors/sentences.ts';
import type { MailData } from '../mime/mail-data.ts';
import type { Outcome as SmtpOutcome } from './smtp/outcome.ts';

/** What became of a hand-off. */
export interface Outcome extends Omit<SmtpOutcome, 'reply'> {
  /** What the relay said, or why the mail was not handed over. */
  reply: Said;
}

/** One message to one recipient, from the worker down to the SMTP transaction. */
export interface Handoff {
  /** The envelope sender in ASCII form; empty for the null reverse-path (RFC 5321 4.5.5). */
  from: string;
  /** One address in ASCII form, never a list. */
  to: string;
  /** The relay of the file that it may go over, and no other; any relay if null or not given. */
  relayId?: number | null;
  /** Whether it goes before mail of campaigns that waits for a connection. */
  isUrgent?: boolean;
  /**
   * Returns the message, or null to withdraw it. Called right before MAIL FROM is written, in the same turn of the event
   * loop, and again if the mail is sent anew on another connection. The message may be built in `buffer`, which is not
   * reused before the outcome is known.
   */
  start(buffer?: Buffer): MailData | null;
  /** Whether the message may still be sent. Asked before its text is written, if its envelope was pipelined earlier. */
  maySend?(): boolean;
  /**
   * Whether no line of the message can begin with a dot (RFC 5321 4.5.2). Otherwise the message is searched for such
   * lines, which is a tenth of what sending a large one costs.
   */
  dotless?: boolean;
}

/** Whom a mail belongs to. Only the outbox needs to know: it shows the mails of an account. */
export interface MailOwner {
  accountId: number;
  /** 0: of none. */
  mailingId: number;
}

export interface Courier {
  /** Takes over settings that were changed; called between two rounds, outside a transaction. */
  refresh?(): void;
  /** How many more messages it can accept right now, of those for one relay of the file or, with null, of those for any. */
  room(relayId: number | null): number;
  /** Resolves with the outcome, or with 'withdrawn' if no message was sent. Rejects with what `start` throws. */
  send(handoff: Handoff, owner: MailOwner): Promise<Outcome | 'withdrawn'>;
  /** Accepts no more messages, lets those in progress finish within `graceMs`, then closes every connection. */
  close(graceMs: number): Promise<void>;
}
