/** Recognizes refusals that are about us and not about the recipient: they hold the mailing, and no recipient fails. */
import { replyKind } from '../../database/functions/reply-kind.ts';
import { type Sentence, sentence } from '../../errors/sentences.ts';
import type { Claim } from '../queue/candidates.ts';
import type { OpenMailing } from '../queue/mailing-state.ts';
import { findBlame } from '../replies/blame.ts';
import type { Outcome } from '../transport/courier.ts';

/** How many recipients refused in a row, with nobody accepted in between, hold a mailing: by replies that name us, that have the same text, or of any kind. */
const MAX_NAMING_US = 3;
const MAX_SAME_TEXT = 10;
const MAX_REFUSALS = 50;
/** How often recipients of other domains are tried for comparison before refusals of one domain alone hold the mailing. */
const MAX_COMPARISONS = 4;

/** A recipient whose refusal is not judged yet: they stay in hand-off until others have been accepted or refused too. */
export interface Suspect {
  mailing: OpenMailing;
  claim: Claim;
  outcome: Outcome;
}

/** The refusals of a mailing since it was last accepted for somebody; recipients who are tried again count once. */
interface Streak {
  waiting: Suspect[];
  /** Delivery ids of the refusals that name us, of those with the latest text, and of all. */
  named: Set<number>;
  same: Set<number>;
  all: Set<number>;
  /** The latest text, without the parts that differ from mail to mail. */
  kind: string;
  domains: Set<string>;
  /** How often recipients of other domains were tried for comparison. */
  comparisons: number;
}

/** What is known of a mailing. */
interface MailingRefusals {
  streak: Streak;
  /** Two of the domains that accepted it, and when the last did (steady epoch milliseconds). */
  accepted: Set<string>;
  acceptedAt: number;
  /** Domains that refuse it while others accept it. */
  refusing: Set<string>;
}

/** `hold`: hold the mailing; `compare`: try recipients of other domains first; `theirs`: only the recipients' domain refuses. */
export type Verdict = 'hold' | 'compare' | 'theirs' | null;

/** The refusals of each mailing that may be about us. */
export class Refusals {
  readonly #known = new Map<number, MailingRefusals>();
  /** How many refusals were noted so far. */
  noted = 0;

  /** Notes a refusal that may be about us. True when the recipient must wait until it is judged. */
  note(mailing: OpenMailing, claim: Claim, outcome: Outcome): boolean {
    const blame = findBlame(outcome);
    if (blame === null) return false;
    const { streak, refusing } = this.#refusalsFor(mailing.id);
    const domain = domainOf(claim);
    if (refusing.has(domain)) return false;
    const kind = replyKind(String(outcome.reply));
    if (kind !== streak.kind) streak.same.clear();
    streak.kind = kind;
    streak.waiting.push({ mailing, claim, outcome });
    streak.domains.add(domain);
    for (const set of [streak.all, streak.same, ...(blame === 'us' ? [streak.named] : [])]) set.add(claim.id);
    this.noted++;
    return true;
  }

  /** Notes that a recipient was accepted at `steady`, which ends the streak. Returns the waiting recipients, to be recorded. */
  accepted(mailingId: number, claim: Claim, steady: number): Suspect[] {
    const known = this.#refusalsFor(mailingId);
    const domain = domainOf(claim);
    known.acceptedAt = steady;
    if (known.accepted.size < 2) known.accepted.add(domain);
    if (known.streak.all.size === 0) return [];
    if (known.streak.comparisons > 0 && !known.streak.domains.has(domain))
      for (const one of known.streak.domains) known.refusing.add(one);
    return endStreak(known);
  }

  /** When somebody was last accepted, steady epoch milliseconds; 0 when that is not known. */
  acceptedAt(mailingId: number): number {
    return this.#known.get(mailingId)?.acceptedAt ?? 0;
  }

  /** The mailings with recipients that wait. */
  get waiting(): number[] {
    return [...this.#known].filter(([, { streak }]) => streak.waiting.length > 0).map(([id]) => id);
  }

  /** The recipients of a mailing that wait. */
  suspects(mailingId: number): readonly Suspect[] {
    return this.#known.get(mailingId)?.streak.waiting ?? [];
  }

  /**
   * What the streak of a mailing means. One domain alone may refuse by a policy of its own, so recipients of others are tried first.
   * `isLast`: there are no others to try. `isFirst`: nobody of the mailing has been accepted either.
   */
  verdict(mailingId: number, { isLast = false, isFirst = false } = {}): Verdict {
    const known = this.#known.get(mailingId);
    if (known === undefined || known.streak.waiting.length === 0) return null;
    const { streak, accepted } = known;
    if (isLast && isFirst && streak.named.size > 0) return 'hold';
    if (streak.named.size < MAX_NAMING_US && streak.same.size < MAX_SAME_TEXT && streak.all.size < MAX_REFUSALS)
      return null;
    if (streak.domains.size > 1 || streak.comparisons >= MAX_COMPARISONS) return 'hold';
    if (!isLast) return streak.all.size >= streak.comparisons * MAX_REFUSALS ? 'compare' : null;
    const isElsewhereAccepted = [...accepted].some((domain) => !streak.domains.has(domain));
    return streak.named.size >= MAX_NAMING_US || !isElsewhereAccepted ? 'hold' : 'theirs';
  }

  /** Counts a comparison and returns the domain whose recipients were refused. */
  compare(mailingId: number): string {
    const { streak } = this.#refusalsFor(mailingId);
    streak.comparisons++;
    const [domain = ''] = streak.domains;
    return domain;
  }

  /** Why the mailing is held. */
  reason(mailingId: number): Sentence {
    const { streak } = this.#refusalsFor(mailingId);
    const reply = streak.waiting.at(-1)?.outcome.reply ?? '';
    const count = streak.all.size;
    return count === 1 ? sentence('held_by_refusal', { reply }) : sentence('held_by_refusals', { count, reply });
  }

  /** Removes and returns the waiting recipients. The streak continues until somebody is accepted. */
  take(mailingId: number): Suspect[] {
    return this.#known.get(mailingId)?.streak.waiting.splice(0) ?? [];
  }

  /** Notes that only the recipients' domain refuses: ends the streak and returns the waiting recipients. Later ones of that domain do not wait. */
  blameDomain(mailingId: number): Suspect[] {
    const known = this.#refusalsFor(mailingId);
    for (const one of known.streak.domains) known.refusing.add(one);
    return endStreak(known);
  }

  /** Forgets a mailing that has stopped or finished, and returns the waiting recipients. */
  end(mailingId: number): Suspect[] {
    const waiting = this.take(mailingId);
    this.#known.delete(mailingId);
    return waiting;
  }

  #refusalsFor(mailingId: number): MailingRefusals {
    const known = this.#known.get(mailingId);
    if (known !== undefined) return known;
    const made: MailingRefusals = { streak: newStreak(), accepted: new Set(), acceptedAt: 0, refusing: new Set() };
    this.#known.set(mailingId, made);
    return made;
  }
}

function newStreak(): Streak {
  return {
    waiting: [],
    named: new Set(),
    same: new Set(),
    all: new Set(),
    kind: '',
    domains: new Set(),
    comparisons: 0,
  };
}

function endStreak(known: MailingRefusals): Suspect[] {
  const { waiting } = known.streak;
  known.streak = newStreak();
  return waiting;
}

/** The recipient's domain in ASCII form. */
export function domainOf({ normalized_email: email }: Pick<Claim, 'normalized_email'>): string {
  return email.slice(email.lastIndexOf('@') + 1);
}
