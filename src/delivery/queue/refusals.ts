/** Refusals that are about us and not about the recipient: they hold the mailing and fail nobody. */
import { classify } from '../feedback/bounces/classify.ts';
import { replyKind } from '../reporting/reply-kind.ts';
import type { Outcome } from '../transport/courier.ts';
import type { Claim, OpenMailing } from './ledger.ts';

/** So many recipients in a row that name us, of the same text, or of any text, without an acceptance between, hold a mailing. */
const MOST_NAMED = 3;
const MOST_SAME = 10;
const MOST = 50;
/** How often recipients of other domains are tried before a row of one domain holds the mailing all the same. */
const MOST_ASKED = 4;

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

/** The refusals of a mailing since it was last accepted for somebody; recipients who are tried again count once. */
interface Row {
  waiting: Suspect[];
  /** Delivery ids: of refusals that name us, of those with the latest text, and of all. */
  named: Set<number>;
  same: Set<number>;
  all: Set<number>;
  /** The latest text, without what differs from mail to mail. */
  kind: string;
  domains: Set<string>;
  /** How often recipients of other domains were asked for. */
  asked: number;
}

/** What is known of a mailing. */
interface Known {
  row: Row;
  /** Two of the domains that accepted it, and when the last did (steady epoch milliseconds). */
  accepted: Set<string>;
  acceptedAt: number;
  /** Domains that refuse it while others accept it. */
  refusing: Set<string>;
}

/** `hold` the mailing; `compare`: try recipients of other domains first; `theirs`: it is the recipients' domain that refuses. */
export type Verdict = 'hold' | 'compare' | 'theirs' | null;

/** The refusals of each mailing that may be about us. */
export class Refusals {
  readonly #known = new Map<number, Known>();
  /** How many were noted so far. */
  noted = 0;

  /** Notes a refusal. True where the recipient waits for what becomes of the others. */
  note(mailing: OpenMailing, claim: Claim, outcome: Outcome): boolean {
    const blame = blamed(outcome);
    if (blame === null) return false;
    const { row, refusing } = this.#of(mailing.id);
    const domain = domainOf(claim);
    if (refusing.has(domain)) return false;
    const kind = replyKind(outcome.reply);
    if (kind !== row.kind) row.same.clear();
    row.kind = kind;
    row.waiting.push({ mailing, claim, outcome });
    row.domains.add(domain);
    for (const set of [row.all, row.same, ...(blame === 'us' ? [row.named] : [])]) set.add(claim.id);
    this.noted++;
    return true;
  }

  /** Notes that a recipient was accepted at `steady`, which ends the row. Gives those that waited, to be recorded. */
  accepted(mailingId: number, claim: Claim, steady: number): Suspect[] {
    const known = this.#of(mailingId);
    const domain = domainOf(claim);
    known.acceptedAt = steady;
    if (known.accepted.size < 2) known.accepted.add(domain);
    if (known.row.all.size === 0) return [];
    if (known.row.asked > 0 && !known.row.domains.has(domain))
      for (const one of known.row.domains) known.refusing.add(one);
    return endRow(known);
  }

  /** When somebody was last accepted, steady epoch milliseconds; 0 where that is not known. */
  acceptedAt(mailingId: number): number {
    return this.#known.get(mailingId)?.acceptedAt ?? 0;
  }

  /** The mailings with recipients that wait. */
  get waiting(): number[] {
    return [...this.#known].filter(([, { row }]) => row.waiting.length > 0).map(([id]) => id);
  }

  /** The recipients of a mailing that wait. */
  suspects(mailingId: number): readonly Suspect[] {
    return this.#known.get(mailingId)?.row.waiting ?? [];
  }

  /**
   * What the row of a mailing means. One domain alone may refuse by a policy of its own, so recipients of others are tried first.
   * `isLast`: there are no others to try. `isFirst`: nobody of the mailing has been accepted either.
   */
  verdict(mailingId: number, { isLast = false, isFirst = false } = {}): Verdict {
    const known = this.#known.get(mailingId);
    if (known === undefined || known.row.waiting.length === 0) return null;
    const { row, accepted } = known;
    if (isLast && isFirst && row.named.size > 0) return 'hold';
    if (row.named.size < MOST_NAMED && row.same.size < MOST_SAME && row.all.size < MOST) return null;
    if (row.domains.size > 1 || row.asked >= MOST_ASKED) return 'hold';
    if (!isLast) return row.all.size >= row.asked * MOST ? 'compare' : null;
    const isElsewhereAccepted = [...accepted].some((domain) => !row.domains.has(domain));
    return row.named.size >= MOST_NAMED || !isElsewhereAccepted ? 'hold' : 'theirs';
  }

  /** The one domain a row to compare is of. Notes that recipients of others come next. */
  compare(mailingId: number): string {
    const { row } = this.#of(mailingId);
    row.asked++;
    const [domain = ''] = row.domains;
    return domain;
  }

  /** Why the mailing is held, in words for its owner. */
  reason(mailingId: number): string {
    const { row } = this.#of(mailingId);
    const count = row.all.size === 1 ? 'one recipient' : `${row.all.size} recipients in a row`;
    return `The relay refuses this sender or server, not the recipients (${count}, now back in the queue): ${row.waiting.at(-1)?.outcome.reply}`;
  }

  /** Gives those that wait, who then wait no more. The row goes on until somebody is accepted. */
  take(mailingId: number): Suspect[] {
    return this.#known.get(mailingId)?.row.waiting.splice(0) ?? [];
  }

  /** It is their domain that refuses: ends the row and gives those that waited. More of that domain do not wait. */
  blameDomain(mailingId: number): Suspect[] {
    const known = this.#of(mailingId);
    for (const one of known.row.domains) known.refusing.add(one);
    return endRow(known);
  }

  /** The mailing stopped: forgets what is known of it and gives those that waited. */
  end(mailingId: number): Suspect[] {
    const waiting = this.take(mailingId);
    this.#known.delete(mailingId);
    return waiting;
  }

  #of(mailingId: number): Known {
    const known = this.#known.get(mailingId);
    if (known !== undefined) return known;
    const made: Known = { row: newRow(), accepted: new Set(), acceptedAt: 0, refusing: new Set() };
    this.#known.set(mailingId, made);
    return made;
  }
}

function newRow(): Row {
  return { waiting: [], named: new Set(), same: new Set(), all: new Set(), kind: '', domains: new Set(), asked: 0 };
}

function endRow(known: Known): Suspect[] {
  const { waiting } = known.row;
  known.row = newRow();
  return waiting;
}

/** The recipient's domain in ASCII form. */
export function domainOf({ compared_email: email }: Pick<Claim, 'compared_email'>): string {
  return email.slice(email.lastIndexOf('@') + 1);
}
