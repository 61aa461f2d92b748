/** The envelope of a mail, its commands, and the mails that cannot be sent with them. */
import type { Extensions } from '../handshake.ts';
import { type Outcome, withoutReply } from '../outcome.ts';

/** What the relay is told about a mail before its message. */
export interface Envelope {
  readonly from: string;
  readonly to: string;
  /** The length of the message in bytes, before dot-stuffing. */
  readonly size: number;
}

/** Addresses that end neither the angle brackets, nor the argument, nor the line. */
const SENDER = /^[!-;=?-~]*$/;
const RECIPIENT = /^[!-;=?-~]+$/;

/** MAIL FROM with its CRLF, and with the message's size if the relay announced SIZE (RFC 1870 3). */
export function mailCommand({ from, size }: Envelope, offers: Extensions): string {
  return `MAIL FROM:<${from}>${offers.size === null ? '' : ` SIZE=${size}`}\r\n`;
}

/** RCPT TO with its CRLF. */
export function rcptCommand({ to }: Envelope): string {
  return `RCPT TO:<${to}>\r\n`;
}

/** MAIL, RCPT and DATA as one group, which RFC 2920 3.1 allows because DATA is last. */
export function commandGroup(envelope: Envelope, offers: Extensions): string {
  return `${mailCommand(envelope, offers)}${rcptCommand(envelope)}DATA\r\n`;
}

/** The outcome of a mail that this relay could only reject, found without asking it; null if the mail can be sent. */
export function envelopeProblem({ from, to, size }: Envelope, offers: Extensions): Outcome | null {
  if (!SENDER.test(from)) return withoutReply('held', 'mail', 'the sender address is not valid in an SMTP command');
  if (!RECIPIENT.test(to)) return withoutReply('refused', 'rcpt', 'the address is not valid in an SMTP command');
  if (offers.size && size > offers.size) {
    return withoutReply('held', 'mail', `the message has ${size} bytes, the relay accepts at most ${offers.size}`);
  }
  return null;
}
