/** Decides whether a refusal is about the sender and this server, or about the recipient. */
import type { Outcome } from '../transport/courier.ts';
import { classify } from './classify.ts';

/** Matches codes about the sender or our server: RFC 3463 3.2 and 3.8, RFC 7372 3, RFC 7505 4.2. */
const OUR_CODES = /^[45]\.(?:1\.[78]|7\.(?:[89]|2[0-7]))$/;
/** Matches phrases that concern only this mailbox, whatever the code. */
const PERSONAL = /\b(?:quota|mailbox (?:is )?full|over ?quota|gr[ae]y[- ]?list\w*)\b/;

/**
 * Matches phrases with which Postfix, Exchange, Exim, Sendmail, qmail and the large providers refer to the sender, the client or relaying.
 */
const NAMES_US = new RegExp(
  [
    'sender address|sender verif\\w+|sender (?:is )?(?:denied|rejected|blocked|refused)|bad outbound sender|send as this sender',
    'domain of sender|unauthenticated sender|from address|mail from\\b.{0,20}\\b(?:rejected|denied|refused)',
    'relay(?:ing)? access denied|relay(?:ing)? (?:is )?(?:denied|prohibited|not (?:permitted|allowed))|not permitted to relay',
    'unable to relay|invalid credentials for relay|list of allowed rcpthosts|relay not permitted',
    'client host|unverified client|client (?:was|is) not authenticated|client not authenticated|client does not have permissions?',
    'helo|ehlo|reverse (?:dns|hostname|mapping)|ptr record|no ptr',
    'authentication (?:is )?required|must authenticate|not authenticated|please authenticate',
    '(?:sending|your|client|source) (?:ip|ips|host|server|network|mail server|domain)\\b.{0,60}\\b(?:blocked|banned|denied|listed|rejected|reputation)',
    'banned sending ip|traffic not accepted from this ip|block(?:ed)? (?:using|by) \\S+\\.|blocklisted|blacklisted|dnsbl|(?:listed|found) (?:in|on|by)',
    '(?:spf|dkim|dmarc)\\b.{0,60}\\b(?:fail\\w*|reject\\w*|not pass\\w*|required|check)|(?:does not|did not|not) pass (?:spf|dkim|dmarc)',
  ].join('|'),
);

/**
 * Returns `us` if a refusal of a recipient or a message refers to the sender, the client or relaying; `unclear` if it may, such as 5.7.1
 * without an explanation; null if it is about the recipient or is only temporary.
 */
export function findBlame(outcome: Outcome): 'us' | 'unclear' | null {
  const { kind, stage, code, enhanced } = outcome;
  if (stage !== 'rcpt' && stage !== 'data' && stage !== 'body') return null;
  if (code < 400 || (kind !== 'refused' && kind !== 'deferred')) return null;
  if (isPersonal(outcome)) return null;
  const words = wordsOf(outcome);
  const namesUs = code === 530 || OUR_CODES.test(enhanced ?? '') || NAMES_US.test(words);
  // A temporary refusal is retried, unless it is about us: such a refusal lasts until someone fixes the cause.
  if (kind === 'deferred') return namesUs && (enhanced === null || /^4\.[17]\./.test(enhanced)) ? 'us' : null;
  if (classify(outcome).kind !== 'failed') return null;
  return namesUs ? 'us' : 'unclear';
}

/** Returns true if a refusal concerns a single mailbox, or comes from a greylisting server that will accept the next attempt. */
export function isPersonal(outcome: Outcome): boolean {
  return PERSONAL.test(wordsOf(outcome)) || outcome.enhanced?.slice(1, 3) === '.2';
}

function wordsOf({ reply }: Outcome): string {
  return String(reply)
    .toLowerCase()
    .replace(/\S+@\S+/g, ' ');
}
