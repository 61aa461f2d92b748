/** Recognizes temporary refusals by which a recipient's server asks for fewer mails. */
import { findBlame, isPersonal } from '../sending/refusals.ts';
import type { Outcome } from '../transport/courier.ts';

/**
 * How servers say it beside 421 (RFC 5321 3.8) and 4.7.x (RFC 3463 3.8), with which Google (421 4.7.28), Microsoft (451 4.7.650) and Yahoo (421 4.7.0
 * [TSS04]) do: https://support.google.com/a/answer/3726730, https://learn.microsoft.com/exchange/mail-flow/non-delivery-reports-in-exchange-online,
 * https://senders.yahooinc.com/smtp-error-codes.
 */
const WORDS =
  /\b(?:rate[- ]?limit\w*|(?:sending|message|mail|delivery) rate|too (?:many|fast|much)|throttl\w+|slow down|unusual (?:rate|volume)|unexpected volume|limit exceeded|exceeded the .{0,40}limit)\b/;

/** Whether a refusal asks for fewer mails. One before RCPT is about the relay, and a mailbox, greylisting or our own faults are no matter of the rate. */
export function asksForFewer(outcome: Outcome): boolean {
  const { kind, stage, code, enhanced } = outcome;
  if (kind !== 'deferred' || code < 400 || (stage !== 'rcpt' && stage !== 'data' && stage !== 'body')) return false;
  if (isPersonal(outcome) || findBlame(outcome) === 'us') return false;
  return code === 421 || enhanced?.startsWith('4.7.') === true || WORDS.test(outcome.reply.toLowerCase());
}
