/** Recognizes refusals that the sender caused and not the recipient. Such refusals hold the mailing, and no recipient fails. */
import { domainOf } from '../../audience/contacts/addresses.ts';
import { replyKind } from '../../database/functions/reply-kind.ts';
import { type Sentence, sentence } from '../../errors/sentences.ts';
import type { Claim } from '../queue/candidates.ts';
import type { OpenMailing } from '../queue/mailing-state.ts';
import { findBlame } from '../replies/blame.ts';
import type { Outcome } from '../transport/courier.ts';

/** The number of recipients refused in a row, by replies that refer to us, after which a mailing is held. */
const MAX_NAMING_US = 3;
/** The same number for replies with the same text. */
const MAX_SAME_TEXT = 10;
/** The same number for replies of any kind. */
const MAX_REFUSALS = 50;
/** How often recipients of other domains are tried for comparison, before the refusals of a single domain hold the mailing. */
const MAX_COMPARISONS = 4;

/**
 * A recipient whose refusal is not judged yet. The recipient stays in the state `sending` until other recipients have been accepted or
 * refused.
 */
export interface Suspect {
  mailing: OpenMailing;
  claim: Claim;
  outcome: Outcome;
}

/** A mailing's refusals since its last acceptance. A recipient who is retried counts once. */
interface Streak {
  waiting: Suspect[];
  /** Delivery ids of the refusals that refer to us, of those with the latest text, and of all. */
  named: Set<number>;
  same: Set<number>;
  all: Set<number>;
  /** The latest reply, without the parts that differ from mail to mail. */
  kind: string;
  domains: Set<string>;
  /** How often recipients of other domains were tried for comparison. */
  comparisons: number;
}

interface MailingRefusals {
  streak: Streak;
  /** Two of the domains that accepted the mailing. */
  accepted: Set<string>;
  /** When a recipient was last accepted, in epoch milliseconds of the steady clock; 0 if unknown. */
  acceptedAt: number;
  /** Domains that refuse the mailing while others accept it. */
  refusing: Set<string>;
}

/**
 * What to do about a streak of refusals. `hold`: hold the mailing. `compare`: try recipients of other domains first. `theirs`: only the
 * recipients' domain refuses. Null: wait for more outcomes.
 */
export type Verdict = 'hold' | 'compare' | 'theirs' | null;

/** The refusals of each mailing that the sender may have caused. */
export class Refusals {
  readonly #known = new Map<number, MailingRefusals>();
  /** The number of refusals recorded so far. */
  noted = 0;

  /** Records a refusal that the sender may have caused. Returns true if the recipient must wait until the refusal is judged. */
  note(mailing: OpenMailing, claim: Claim, outcome: Outcome): boolean {
    const blame = findBlame(outcome);
    if (blame === null) return false;
    const { streak, refusing } = this.#refusalsFor(mailing.id);
    const domain = domainOf(claim.normalized_email);
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

  /**
   * Records that a recipient was accepted at `steady`, which ends the streak. Returns the recipients who waited; their refusals are then
   * recorded as results.
   */
  accepted(mailingId: number, claim: Claim, steady: number): Suspect[] {
    const known = this.#refusalsFor(mailingId);
    const domain = domainOf(claim.normalized_email);
    known.acceptedAt = steady;
    if (known.accepted.size < 2) known.accepted.add(domain);
    if (known.streak.all.size === 0) return [];
    if (known.streak.comparisons > 0 && !known.streak.domains.has(domain))
      for (const refusing of known.streak.domains) known.refusing.add(refusing);
    return endStreak(known);
  }

  /** Returns when a recipient was last accepted, in epoch milliseconds of the steady clock; 0 if unknown. */
  acceptedAt(mailingId: number): number {
    return this.#known.get(mailingId)?.acceptedAt ?? 0;
  }

  /** The ids of the mailings with waiting recipients. */
  get waiting(): number[] {
    return [...this.#known].filter(([, { streak }]) => streak.waiting.length > 0).map(([id]) => id);
  }

  /** Returns the waiting recipients of a mailing. */
  suspects(mailingId: number): readonly Suspect[] {
    return this.#known.get(mailingId)?.streak.waiting ?? [];
  }

  /**
   * Returns the verdict on the streak of a mailing. A single domain may refuse by its own policy, so recipients of other domains are tried
   * first. `isLast` is true if there are no others to try; `isFirst` is true if no recipient of the mailing has been accepted yet.
   */
  verdict(mailingId: number, { isLast = false, isFirst = false } = {}): Verdict {
    const known = this.#known.get(mailingId);
    if (known === undefined || known.streak.waiting.length === 0) return null;
    const { streak, accepted } = known;
    if (isLast && isFirst && streak.named.size > 0) return 'hold';
    if (streak.named.size < MAX_NAMING_US && streak.same.size < MAX_SAME_TEXT && streak.all.size < MAX_REFUSALS)
      return null;
    if (streak.domains.size > 1 || streak.comparisons >= MAX_COMPARISONS) return 'hold';
    // The first comparison is made at once, each further one after another MAX_REFUSALS refusals.
    if (!isLast) return streak.all.size >= streak.comparisons * MAX_REFUSALS ? 'compare' : null;
    const isAcceptedElsewhere = [...accepted].some((domain) => !streak.domains.has(domain));
    return streak.named.size >= MAX_NAMING_US || !isAcceptedElsewhere ? 'hold' : 'theirs';
  }

  /** Counts a comparison and returns the domain whose recipients were refused. */
  compare(mailingId: number): string {
    const { streak } = this.#refusalsFor(mailingId);
    streak.comparisons++;
    const [domain = ''] = streak.domains;
    return domain;
  }

  /** Returns why the mailing is held. */
  reason(mailingId: number): Sentence {
    const { streak } = this.#refusalsFor(mailingId);
    const reply = streak.waiting.at(-1)?.outcome.reply ?? '';
    const count = streak.all.size;
    return count === 1 ? sentence('held_by_refusal', { reply }) : sentence('held_by_refusals', { count, reply });
  }

  /** Removes and returns the waiting recipients. The streak continues until a recipient is accepted. */
  take(mailingId: number): Suspect[] {
    return this.#known.get(mailingId)?.streak.waiting.splice(0) ?? [];
  }

  /**
   * Records that only the recipients' domain refuses: ends the streak and returns the waiting recipients. Later recipients of that domain
   * do not wait.
   */
  blameDomain(mailingId: number): Suspect[] {
    const known = this.#refusalsFor(mailingId);
    for (const domain of known.streak.domains) known.refusing.add(domain);
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
    const refusals: MailingRefusals = { streak: newStreak(), accepted: new Set(), acceptedAt: 0, refusing: new Set() };
    this.#known.set(mailingId, refusals);
    return refusals;
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
