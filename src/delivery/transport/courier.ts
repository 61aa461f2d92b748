/** What carries mails away: an SMTP relay or the built-in outbox. */
import type { MailData } from '../mime/mail-data.ts';
import type { Outcome } from './smtp/outcome.ts';

export type { Outcome } from './smtp/outcome.ts';

/** One hand-off. */
export interface Handoff {
  mailingId: number;
  userId: number;
  /** One address, in ASCII form. */
  from: string;
  /** One address, in ASCII form, never a list. */
  to: string;
  /**
   * Called right before MAIL FROM would be written: the message, or null when it must not leave any more. It may be built in
   * `memory` where that is given: the courier keeps it until the hand-off is settled.
   */
  start(memory?: Buffer): MailData | null;
  /** Whether it still may leave; asked where something of it was written ahead of its turn. */
  mayGo?(): boolean;
  /** Whether no line of the message can begin with a dot, so that none is looked for (RFC 5321 4.5.2). */
  dotless: boolean;
}

export interface Courier {
  /** How many more hand-offs it can work on right now. */
  room(): number;
  /** Resolves when the mail is handed off, refused or deferred; `withdrawn` when nothing of it left. Rejects with what `start` throws. */
  send(handoff: Handoff): Promise<Outcome | 'withdrawn'>;
  /** Stops taking hand-offs, lets those in flight finish within `graceMs`, then cuts. */
  close(graceMs: number): Promise<void>;
}
