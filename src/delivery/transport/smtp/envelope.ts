/** The commands of an envelope, and the addresses and messages that cannot be sent with them. */
import type { Extensions } from './handshake.ts';
import { type Outcome, withoutReply } from './outcome.ts';
import type { Job } from './pending-jobs.ts';

/** Addresses that end neither the angle brackets, nor the argument, nor the line. */
const SENDER = /^[!-;=?-~]*$/;
const RECIPIENT = /^[!-;=?-~]+$/;

/** MAIL FROM with its CRLF, and with the message's size if the relay announced SIZE (RFC 1870 3). */
export function mailCommand(job: Job, message: Buffer, offers: Extensions): string {
  const size = offers.size === null ? '' : ` SIZE=${message.length}`;
  return `MAIL FROM:<${job.from}>${size}\r\n`;
}

/** RCPT TO with its CRLF. */
export function rcptCommand(job: Job): string {
  return `RCPT TO:<${job.to}>\r\n`;
}

/** The outcome of a job that this relay could only reject, found without asking it; null if the job can be sent. */
export function envelopeProblem(job: Job, message: Buffer, offers: Extensions): Outcome | null {
  if (!SENDER.test(job.from)) return withoutReply('held', 'mail', 'the sender address is not valid in an SMTP command');
  if (!RECIPIENT.test(job.to)) return withoutReply('refused', 'rcpt', 'the address is not valid in an SMTP command');
  if (offers.size && message.length > offers.size) {
    const text = `the message has ${message.length} bytes, the relay accepts at most ${offers.size}`;
    return withoutReply('held', 'mail', text);
  }
  return null;
}
