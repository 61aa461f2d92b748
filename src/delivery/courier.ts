/** What carries mails away: an SMTP relay or the built-in outbox. */

/** One hand-off. */
export interface Handoff {
  mailingId: number;
  userId: number;
  from: string;
  /** One address, never a list (trust 33). */
  to: string;
  /** Called right before MAIL FROM would be written: the message, or null when it must not leave any more. */
  start(): Buffer | null;
}

/** What the next mail server made of it; `stage` is where the conversation ended. */
export interface Outcome {
  kind: 'accepted' | 'deferred' | 'refused' | 'held';
  stage: 'connect' | 'tls' | 'auth' | 'mail' | 'rcpt' | 'data' | 'body';
  /** SMTP reply code; 0 when there was none. */
  code: number;
  enhanced: string | null;
  reply: string;
}

export interface Courier {
  /** How many more hand-offs it can work on right now. */
  room(): number;
  /** Resolves when the mail is handed off, refused or deferred; `withdrawn` when `start` gave null. Never rejects. */
  send(handoff: Handoff): Promise<Outcome | 'withdrawn'>;
  /** Stops taking hand-offs, lets those in flight finish within `graceMs`, then cuts. */
  close(graceMs: number): Promise<void>;
}
