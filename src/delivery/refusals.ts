/** Refusals that are about us and not about the recipient: they hold the mailing and fail nobody. */
import { classify } from './bounces/classify.ts';
import type { Outcome } from './courier.ts';
import type { Claim, OpenMailing } from './ledger.ts';
import { replyKind } from './reply-kind.ts';

/** So many in a row that name us, of the same text, or of any text, without an acceptance between, hold a mailing. */
const MOST_NAMED = 3;
const MOST_SAME = 10;
const MOST = 50;

/** Codes that speak of the sender or of us: RFC 3463 3.2 and 3.8, RFC 7372 3, RFC 7505 4.2. */
const OUR_CODES = /^[45]\.(?:1\.[78]|7\.(?:[89]|2[0-7]))$/;
/** What says that only this mailbox is concerned, whatever the code. */
const PERSONAL = /\b(?:quota|mailbox (?:is )?full|over ?quota|gr[ae]y-?list\w*)\b/;

/** How Postfix, Exchange, Exim, Sendmail, qmail and the large providers name the sender, the client or the relaying. */
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
 * Whom a refusal of a recipient or a message is about: `us` where it names the sender, the client or the relaying;
 * `unclear` where it may be, such as 5.7.1 without an explanation; null where it is about the recipient or may pass.
 */
export function blamed(outcome: Outcome): 'us' | 'unclear' | null {
  const { kind, stage, code, enhanced } = outcome;
  if (stage !== 'rcpt' && stage !== 'data' && stage !== 'body') return null;
  if (code < 400 || (kind !== 'refused' && kind !== 'deferred')) return null;
  const words = outcome.reply.toLowerCase().replace(/\S+@\S+/g, ' ');
  if (PERSONAL.test(words) || enhanced?.slice(1, 3) === '.2') return null;
  const namesUs = code === 530 || OUR_CODES.test(enhanced ?? '') || NAMES_US.test(words);
  // What may pass is tried again, unless it names us: that lasts until somebody mends it.
  if (kind === 'deferred') return namesUs && (enhanced === null || /^4\.[17]\./.test(enhanced)) ? 'us' : null;
  if (classify(outcome).kind !== 'failed') return null;
  return namesUs ? 'us' : 'unclear';
}

/** A recipient whose refusal is not judged yet: it stays in hand-off until others were accepted, or refused too. */
export interface Suspect {
  mailing: OpenMailing;
  claim: Claim;
  outcome: Outcome;
}

interface Run {
  waiting: Suspect[];
  /** How many in a row: that name us, of the latest text, and all. */
  named: number;
  same: number;
  all: number;
  kind: string;
}

/** The refusals of each mailing since it was last accepted for somebody. */
export class Refusals {
  readonly #runs = new Map<number, Run>();
  /** How many were noted so far. */
  noted = 0;

  /** Notes how a hand-off ended. True where the recipient waits for what becomes of the others. */
  note(mailing: OpenMailing, claim: Claim, outcome: Outcome): boolean {
    const blame = blamed(outcome);
    if (blame === null) return false;
    const run = this.#runs.get(mailing.id) ?? { waiting: [], named: 0, same: 0, all: 0, kind: '' };
    this.#runs.set(mailing.id, run);
    const kind = replyKind(outcome.reply);
    run.waiting.push({ mailing, claim, outcome });
    run.named += blame === 'us' ? 1 : 0;
    run.same = kind === run.kind ? run.same + 1 : 1;
    run.kind = kind;
    run.all++;
    this.noted++;
    return true;
  }

  /** The mailings with recipients that wait. */
  get waiting(): number[] {
    return [...this.#runs].filter(([, run]) => run.waiting.length > 0).map(([id]) => id);
  }

  /** How many recipients of a mailing wait. */
  count(mailingId: number): number {
    return this.#runs.get(mailingId)?.waiting.length ?? 0;
  }

  /** Why the mailing is to be held, in words for its owner, or null; `isFirst`: nobody of it has been accepted, and nobody is due. */
  reasonToHold(mailingId: number, isFirst = false): string | null {
    const run = this.#runs.get(mailingId);
    const last = run?.waiting.at(-1);
    if (run === undefined || last === undefined) return null;
    const isNamed = run.named >= MOST_NAMED || (isFirst && run.named > 0);
    if (!isNamed && run.same < MOST_SAME && run.all < MOST) return null;
    const count = run.all === 1 ? 'one recipient' : `${run.all} recipients in a row`;
    return `The relay refuses this sender or server, not the recipients (${count}, now back in the queue): ${last.outcome.reply}`;
  }

  /** Gives those that wait, who then wait no more. The row goes on until somebody is accepted. */
  take(mailingId: number): Suspect[] {
    return this.#runs.get(mailingId)?.waiting.splice(0) ?? [];
  }

  /** Somebody was accepted, or the mailing stopped: the row ends. Gives those that waited. */
  end(mailingId: number): Suspect[] {
    const waiting = this.take(mailingId);
    this.#runs.delete(mailingId);
    return waiting;
  }
}
