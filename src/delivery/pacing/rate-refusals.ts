/** Recognizes temporary refusals by which a recipient's server asks for fewer mails. */
import { findBlame, isPersonal } from '../sending/refusals.ts';
import type { Outcome } from '../transport/courier.ts';

/**
 * The words of servers that ask for it, such as Google (421 4.7.28), Microsoft (451 4.7.650), Yahoo (421 4.7.0 [TSS04]) and Comcast (421 4.1.0):
 * https://support.google.com/a/answer/3726730, https://learn.microsoft.com/exchange/mail-flow/non-delivery-reports-in-exchange-online,
 * https://senders.yahooinc.com/smtp-error-codes.
 */
const WORDS = new RegExp(
  [
    '\\b(?:rate[- ]?limit\\w*|(?:sending|message|mail|delivery) rate|too (?:many|fast|much|quickly)|throttl\\w+|slow down',
    '(?:unusual|unexpected|excessive|high) (?:rate|volume)|volume of (?:mail|e-?mail|messages)',
    'limit (?:exceeded|reached)|exceeded the .{0,40}limit)\\b',
  ].join('|'),
);
/**
 * Codes of security and policy (RFC 3463 3.8) but for the two general ones, 4.7.0 and 4.7.1, with which filters and greylisting servers put
 * off any mail: "451 4.7.1 Service unavailable - try again later".
 */
const SPECIFIC_CODE = /^4\.7\.(?![01]$)/;
/** How greylisting servers say when the same mail is taken. */
const UNTIL_THEN = /\b(?:in|after|for) \d+ ?(?:s|secs?|seconds?|m|mins?|minutes?)\b|\bback in \d+:\d+/;

/** Whether a refusal asks for fewer mails. One before RCPT is about the relay, and a mailbox, greylisting or our own faults are no matter of the rate. */
export function asksForFewer(outcome: Outcome): boolean {
  const { kind, stage, code, enhanced } = outcome;
  if (kind !== 'deferred' || code < 400 || (stage !== 'rcpt' && stage !== 'data' && stage !== 'body')) return false;
  if (isPersonal(outcome) || findBlame(outcome) === 'us') return false;
  const reply = outcome.reply.toLowerCase();
  if (WORDS.test(reply)) return true;
  // RFC 5321 3.8: with 421 a server shuts down or has too much to do.
  return (code === 421 || SPECIFIC_CODE.test(enhanced ?? '')) && !UNTIL_THEN.test(reply);
}
