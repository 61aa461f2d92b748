/**
 * Slows down sending to groups of recipient domains that ask for fewer mails, separately for each SMTP relay. Groups that never refused are
 * not limited. The limits apply when recipients are claimed and adapt to outcomes, so they work for sender nodes, too.
 */
import type { Database } from 'better-sqlite3';
import type { Clock } from '../../time/clock.ts';
import { SECOND_MS } from '../../units.ts';
import { findBlame, isPersonal } from '../replies/blame.ts';
import type { Outcome } from '../transport/courier.ts';
import { DomainGroups, type ResolveMx } from './domain-groups.ts';
import { Limit } from './limit.ts';
import { readPacedGroups, type StoredGroup, writePacedGroups } from './paced-groups.ts';

/** The length of a period in milliseconds. Results are counted over the current period and the one before. */
const WINDOW_MS = 10 * SECOND_MS;
/** The number of accepted mails per refusal from which sending is not slowed down. */
const ACCEPTED_PER_REFUSAL = 50;
/** The time after which an unused limit is forgotten, in milliseconds. It is longer than the longest wait between two attempts. */
const UNUSED_MS = 75 * 60 * SECOND_MS;
/** The minimum time between two writes of the limits, in milliseconds. */
const SAVE_MS = 5 * SECOND_MS;
/**
 * The number of mails in a period from which a domain is looked up while something is limited, because it may belong to a limited provider.
 */
const MIN_LOOKUP_MAILS = 50;
const MAX_DOMAINS = 20_000;
const MAX_LIMITS = 1000;

type RelayId = number | null;

/** The outcomes of a group's mails in one period. */
interface Counts {
  since: number;
  accepted: number;
  refused: number;
}

/** The mails to one group through one SMTP relay, counted in the current period and the one before. */
interface Flow {
  relayId: RelayId;
  group: string;
  now: Counts;
  before: Counts;
  limit: Limit | null;
}

interface PacingDeps {
  client: Database;
  clock: Clock;
  /** Resolves MX records; if null, only the providers' own domains are known. */
  resolveMx: ResolveMx | null;
}

export class Pacing {
  readonly #client: Database;
  readonly #clock: Clock;
  readonly #groups: DomainGroups;
  /** The flows by SMTP relay and recipient domain. */
  readonly #flows = new Map<RelayId, Map<string, Flow>>();
  /** The limited flows by SMTP relay and group. */
  readonly #limited = new Map<string, Flow>();
  #windowAt: number;
  #savedAt = Number.NEGATIVE_INFINITY;
  #isSaved = true;

  /** Restores the limits stored by an earlier run. */
  constructor({ client, clock, resolveMx }: PacingDeps) {
    this.#client = client;
    this.#clock = clock;
    this.#groups = new DomainGroups(clock, resolveMx, (domain) => this.#regroup(domain));
    this.#windowAt = clock.monotonic();
    for (const { relay_id: relayId, group, rate, refused } of readPacedGroups(client, clock.now().getTime())) {
      const flow = newFlow(relayId, group, this.#windowAt);
      flow.limit = new Limit({ rate, refused }, this.#windowAt);
      this.#limited.set(keyOf(flow), flow);
    }
  }

  /** True if nothing is limited, so that claims need not ask. */
  get isIdle(): boolean {
    return this.#limited.size === 0;
  }

  /** Records the outcome of a mail to this domain through this SMTP relay. */
  note(relayId: RelayId, domain: string, outcome: Outcome): void {
    if (outcome.kind === 'accepted') {
      const flow = this.#flow(relayId, domain);
      if (flow === null) return;
      flow.now.accepted++;
      if (flow.limit?.raise(this.#clock.monotonic())) this.#end(flow);
    } else if (asksForLowerRate(outcome)) {
      const flow = this.#flow(relayId, domain);
      this.#groups.lookUp(domain);
      if (flow !== null) this.#noteRefusal(flow);
    }
  }

  /** Asks to send a mail: returns 0 if it may be sent now; otherwise the number of milliseconds after which to ask again. */
  waitFor({ id, relay_id }: { id: number; relay_id: RelayId }, domain: string): number {
    if (this.isIdle) return 0;
    return this.#flow(relay_id, domain)?.limit?.waitFor(id, this.#clock.monotonic()) ?? 0;
  }

  /** Forgets the waiting recipients of a mailing that is finished or stopped. */
  forget(mailingId: number): void {
    for (const { limit } of this.#limited.values()) limit?.forget(mailingId);
  }

  /** Begins a round: ends unused limits, and from time to time stores the limits. Must be called inside a transaction. */
  startRound(): void {
    const now = this.#clock.monotonic();
    if (now - this.#windowAt >= WINDOW_MS) this.#startWindow(now);
    for (const flow of this.#limited.values())
      if (flow.limit !== null && now - flow.limit.usedAt > UNUSED_MS) this.#end(flow);
    if ((this.isIdle && this.#isSaved) || now - this.#savedAt < SAVE_MS) return;
    writePacedGroups(this.#client, this.#stored(now));
    this.#savedAt = now;
    this.#isSaved = this.isIdle;
  }

  /** Returns the flow of a domain's mails; null if there are too many domains to count. */
  #flow(relayId: RelayId, domain: string): Flow | null {
    const ofRelay = this.#flows.get(relayId);
    const known = ofRelay?.get(domain);
    if (known !== undefined) return known;
    const flows = ofRelay ?? new Map<string, Flow>();
    if (ofRelay === undefined) this.#flows.set(relayId, flows);
    if (flows.size >= MAX_DOMAINS) return null;
    const group = this.#groups.groupOf(domain);
    const flow =
      this.#limited.get(keyOf({ relayId, group })) ??
      // All domains of a provider share the flow of the first one.
      flows.get(group) ??
      newFlow(relayId, group, this.#clock.monotonic());
    flows.set(domain, flow);
    flows.set(group, flow);
    return flow;
  }

  #noteRefusal(flow: Flow): void {
    const now = this.#clock.monotonic();
    if (flow.limit !== null) flow.limit.usedAt = now;
    if (flow.limit?.isSettling(now)) return;
    flow.now.refused++;
    const accepted = flow.now.accepted + flow.before.accepted;
    if ((flow.now.refused + flow.before.refused) * ACCEPTED_PER_REFUSAL < accepted) return;
    if (flow.limit === null) {
      if (this.#limited.size >= MAX_LIMITS) return;
      // The time counts as at least a second, because a first burst says little about the rate.
      const seconds = Math.max(SECOND_MS, now - flow.before.since) / SECOND_MS;
      flow.limit = new Limit({ rate: Math.max(1, accepted / seconds), refused: 1 }, now);
      this.#limited.set(keyOf(flow), flow);
    }
    flow.limit.cut(now);
    flow.now = newCounts(now);
    flow.before = newCounts(now);
  }

  #end(flow: Flow): void {
    flow.limit = null;
    this.#limited.delete(keyOf(flow));
    this.#isSaved = false;
  }

  /** Begins a period: forgets domains to which nothing was sent, and looks up those with many mails while something is limited. */
  #startWindow(now: number): void {
    this.#windowAt = now;
    for (const flows of this.#flows.values()) {
      for (const [domain, flow] of flows) {
        if (flow.limit === null && flow.now.accepted + flow.before.accepted === 0) flows.delete(domain);
        else if (!this.isIdle && flow.group === domain && flow.now.accepted >= MIN_LOOKUP_MAILS)
          this.#groups.lookUp(domain);
      }
      for (const flow of new Set(flows.values())) {
        flow.before = flow.now;
        flow.now = newCounts(now);
      }
    }
  }

  /** Counts a domain together with its provider from now on. A limit of the domain becomes the provider's. */
  #regroup(domain: string): void {
    for (const [relayId, flows] of this.#flows) {
      const old = flows.get(domain);
      if (old === undefined || old.group !== domain) continue;
      flows.delete(domain);
      const flow = this.#flow(relayId, domain);
      const { limit } = old;
      this.#end(old);
      if (flow === null || flow.limit !== null || limit === null) continue;
      flow.limit = limit;
      this.#limited.set(keyOf(flow), flow);
    }
  }

  #stored(now: number): StoredGroup[] {
    const wall = this.#clock.now().getTime();
    return [...this.#limited.values()].flatMap(({ relayId, group, limit }) =>
      limit === null
        ? []
        : [
            {
              relay_id: relayId,
              group,
              ...limit.rates,
              mailings: limit.waiting(now),
              over_at: Math.round(wall + limit.restMs),
              forgotten_at: Math.round(wall + UNUSED_MS - (now - limit.usedAt)),
            },
          ],
    );
  }
}

function newFlow(relayId: RelayId, group: string, now: number): Flow {
  return { relayId, group, now: newCounts(now), before: newCounts(now), limit: null };
}

function newCounts(since: number): Counts {
  return { since, accepted: 0, refused: 0 };
}

function keyOf({ relayId, group }: Pick<Flow, 'relayId' | 'group'>): string {
  return `${relayId ?? ''} ${group}`;
}

/**
 * Phrases in replies that ask for a lower rate, such as those of Google (421 4.7.28), Microsoft (451 4.7.650), Yahoo (421 4.7.0 [TSS04])
 * and Comcast (421 4.1.0): https://support.google.com/a/answer/3726730,
 * https://learn.microsoft.com/exchange/mail-flow/non-delivery-reports-in-exchange-online, https://senders.yahooinc.com/smtp-error-codes.
 */
const RATE_PHRASES = new RegExp(
  [
    '\\b(?:rate[- ]?limit\\w*|(?:sending|message|mail|delivery) rate|too (?:many|fast|much|quickly)|throttl\\w+|slow down',
    '(?:unusual|unexpected|excessive|high) (?:rate|volume)|volume of (?:mail|e-?mail|messages)',
    'limit (?:exceeded|reached)|exceeded the .{0,40}limit)\\b',
  ].join('|'),
);
/**
 * Matches security and policy codes (RFC 3463 3.8), except the general codes 4.7.0 and 4.7.1, with which filters and greylisting servers
 * defer any mail: "451 4.7.1 Service unavailable - try again later".
 */
const SPECIFIC_CODE = /^4\.7\.(?![01]$)/;
/** Matches the phrases with which greylisting servers say when to try the same mail again. */
const GREYLIST_PHRASES = /\b(?:in|after|for) \d+ ?(?:s|secs?|seconds?|m|mins?|minutes?)\b|\bback in \d+:\d+/;

/**
 * Returns true if a refusal asks for a lower rate. Refusals before RCPT concern the SMTP relay, and refusals because of a mailbox,
 * greylisting or faults of our own do not depend on the rate.
 */
export function asksForLowerRate(outcome: Outcome): boolean {
  const { kind, stage, code, enhanced } = outcome;
  if (kind !== 'deferred' || code < 400 || (stage !== 'rcpt' && stage !== 'data' && stage !== 'body')) return false;
  if (isPersonal(outcome) || findBlame(outcome) === 'us') return false;
  const reply = String(outcome.reply).toLowerCase();
  if (RATE_PHRASES.test(reply)) return true;
  // With 421, a server shuts down or is overloaded (RFC 5321 3.8).
  return (code === 421 || SPECIFIC_CODE.test(enhanced ?? '')) && !GREYLIST_PHRASES.test(reply);
}
