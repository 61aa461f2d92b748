/** The envelope commands, and what must not be put into them. */
import type { Extensions } from './handshake.ts';
import { type Outcome, withoutReply } from './outcome.ts';
import type { Job } from './pending-jobs.ts';

/** What may stand between the angle brackets without ending them, the argument or the line. */
const SENDER = /^[!-;=?-~]*$/;
const RECIPIENT = /^[!-;=?-~]+$/;

/** MAIL FROM with the size where the relay wants to know it (RFC 1870 3) and the line end. */
export function mailCommand(job: Job, message: Buffer, offers: Extensions): string {
  const size = offers.size === null ? '' : ` SIZE=${message.length}`;
  return `MAIL FROM:<${job.from}>${size}\r\n`;
}

/** RCPT TO with its line end. */
export function rcptCommand(job: Job): string {
  return `RCPT TO:<${job.to}>\r\n`;
}

/** Why a job cannot be put to this relay at all, or null; decided without asking it. */
export function envelopeFault(job: Job, message: Buffer, offers: Extensions): Outcome | null {
  if (!SENDER.test(job.from)) return withoutReply('held', 'mail', 'the sender address cannot stand in an SMTP command');
  if (!RECIPIENT.test(job.to)) return withoutReply('refused', 'rcpt', 'the address cannot stand in an SMTP command');
  if (offers.size && message.length > offers.size) {
    const text = `the message has ${message.length} bytes, the relay takes ${offers.size}`;
    return withoutReply('held', 'mail', text);
  }
  return null;
}
