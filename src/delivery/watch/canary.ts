/**
 * The canary of a mailing: the first part of its recipients, chosen evenly from all domains. They are due before 0, so they are claimed before everybody
 * else, who are due at 0; the claim takes nobody who is due at 0 before the canary is released. All of it is rows, so that a kill changes nothing.
 */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { inChunks } from '../../database/bulk.ts';
import { prepared } from '../../database/prepared.ts';
import { DELIVERY_STATE, type watchedMailings } from '../../database/schema/index.ts';
import { sentence } from '../../errors/sentences.ts';
import { DUE_FIRST } from '../queue/candidates.ts';
import type { Held } from '../queue/held.ts';
import { MailingStates } from '../queue/mailing-state.ts';
import { countResults } from './limits.ts';
import { continuesAt, findResultHold, readResults, releaseCanary } from './watched-mailings.ts';

/** The share of the canary that must have a result before the rest goes. */
const LEAST_RESULT_SHARE = 0.5;

const PAGE_ROWS = 2000;

type Canary = Pick<typeof watchedMailings.$inferSelect, 'mailing_id' | 'percent' | 'minutes' | 'stage' | 'tried_at'> & {
  state: string;
  /** How many may get it. */
  audience: number;
};

/** How far the choice of a canary is. It is not stored: after a kill it begins again and comes to the same. */
interface Choice {
  spread: DomainSpread;
  size: number;
  after: number;
  chosen: number[];
}

export class Canaries {
  readonly #client: Database;
  readonly #states: MailingStates;
  readonly #steady: () => number;
  readonly #choices = new Map<number, Choice>();

  /** Waits are measured by `steady`, epoch milliseconds. */
  constructor(client: Database, steady: () => number) {
    this.#client = client;
    this.#states = new MailingStates(client);
    this.#steady = steady;
  }

  /** Moves each canary on as far as it can go now, while `goesOn`; gives whether there is more to do at once. */
  async moveOn(goesOn: () => boolean): Promise<boolean> {
    let isMore = false;
    const canaries = prepared<[], Canary>(this.#client, UNRELEASED).all();
    // Of a mailing that was cancelled meanwhile.
    for (const id of this.#choices.keys())
      if (!canaries.some(({ mailing_id }) => mailing_id === id)) this.#choices.delete(id);
    for (const canary of canaries) {
      if (canary.stage === 'choosing') isMore = (await this.#choose(canary, goesOn)) || isMore;
      else if (canary.stage === 'sending') this.#noteTried(canary.mailing_id);
      else if (canary.state === 'sending') isMore = this.#decide(canary) || isMore;
    }
    return isMore;
  }

  /** Chooses the recipients, and has them be claimed first. */
  async #choose(canary: Canary, goesOn: () => boolean): Promise<boolean> {
    const { mailing_id: mailing, audience, percent } = canary;
    const size = canarySize(audience, percent);
    if (size === 0) return releaseCanary(this.#client, mailing);
    const stored = prepared<[number], { chosen: string | null }>(this.#client, CHOSEN).get(mailing)?.chosen;
    if (stored === null || stored === undefined) {
      const choice = this.#choices.get(mailing) ?? {
        spread: new DomainSpread(audience / size),
        size,
        after: 0,
        chosen: [],
      };
      this.#choices.set(mailing, choice);
      if (!(await this.#read(mailing, choice, goesOn))) return true;
      this.#choices.delete(mailing);
      prepared(this.#client, SAVE_CHOSEN).run(JSON.stringify(choice.chosen), choice.chosen.length, mailing);
      return true;
    }
    const chosen: number[] = JSON.parse(stored);
    let marked = 0;
    await inChunks(this.#client, (rows) => {
      const ids = JSON.stringify(chosen.slice(marked, marked + rows));
      prepared(this.#client, PUT_FIRST).run({ mailing, ids });
      marked += rows;
      if (marked < chosen.length) return true;
      prepared(this.#client, START).run(mailing);
      return false;
    });
    return true;
  }

  /** Reads on through the recipients; true once all were read, or enough are chosen. */
  async #read(mailing: number, choice: Choice, goesOn: () => boolean): Promise<boolean> {
    const page = prepared<[number, number], { id: number; domain: string }>(this.#client, RECIPIENTS);
    do {
      const rows = page.all(mailing, choice.after);
      for (const { id, domain } of rows) {
        choice.after = id;
        if (choice.spread.takes(domain)) choice.chosen.push(id);
        if (choice.chosen.length === choice.size) return true;
      }
      if (rows.length < PAGE_ROWS) return true;
      await setImmediate();
    } while (goesOn());
    return false;
  }

  /** Notes when everybody of the canary was tried. Those whom a server put off are tried again while the rest waits. */
  #noteTried(mailing: number): void {
    if (prepared(this.#client, IS_UNTRIED).get({ mailing }) !== undefined) return;
    prepared(this.#client, NOTE_TRIED).run(this.#steady(), mailing);
  }

  /** Once the wait is over, lets the rest go or holds the mailing; gives whether it did. */
  #decide({ mailing_id: mailing, minutes, tried_at }: Canary): boolean {
    const now = this.#steady();
    // Tried in the future: the clock was set back while the service was stopped.
    if (tried_at > now) prepared(this.#client, NOTE_TRIED).run(now, mailing);
    if (tried_at > now || now < continuesAt({ tried_at, minutes }).getTime()) return false;
    return this.#client
      .transaction(() => {
        const held = findResultHold(this.#client, mailing) ?? findUnclear(this.#client, mailing);
        if (held !== null) this.#states.hold(mailing, held);
        else releaseCanary(this.#client, mailing);
        return true;
      })
      .immediate();
  }
}

/** Why the rest does not go although no limit is exceeded: too few of the canary have a result. */
function findUnclear(client: Database, mailing: number): Held | null {
  const results = countResults(readResults(client, mailing));
  const size = prepared<[number], { size: number }>(client, SIZE_OF_TRIED).get(mailing)?.size ?? 0;
  if (results >= size * LEAST_RESULT_SHARE) return null;
  return { held_code: 'canary_unclear', held_reason: String(sentence('held_canary_unclear', { size, results })) };
}

const UNRELEASED = `
  SELECT w.mailing_id, w.percent, w.minutes, w.stage, w.tried_at, m.state, m.recipients - m.suppressed AS audience
  FROM watched_mailings w INDEXED BY watched_mailings_canary CROSS JOIN mailings m ON m.id = w.mailing_id
  WHERE w.stage <> 'released' AND m.finished_at IS NULL AND m.enqueue_progress IS NULL AND m.state <> 'cancelled'`;

const CHOSEN = 'SELECT chosen, size FROM watched_mailings WHERE mailing_id = ?';

/** Without those who were left out when they would have got it: unsubscribed since, or with as many mails as are allowed. */
const SIZE_OF_TRIED = `
  SELECT size - (SELECT count(*) FROM json_each(chosen) c CROSS JOIN deliveries d ON d.id = c.value WHERE d.state = ${DELIVERY_STATE.suppressed})
    AS size FROM watched_mailings WHERE mailing_id = ?`;

const RECIPIENTS = `
  SELECT d.id, substr(a.normalized_email, instr(a.normalized_email, '@') + 1) AS domain
  FROM deliveries d INDEXED BY deliveries_queue CROSS JOIN addresses a ON a.id = d.address_id
  WHERE d.mailing_id = ? AND d.state = ${DELIVERY_STATE.queued} AND d.due_at = 0 AND d.id > ? ORDER BY d.id LIMIT ${PAGE_ROWS}`;

const SAVE_CHOSEN = "UPDATE watched_mailings SET chosen = ?, size = ? WHERE mailing_id = ? AND stage = 'choosing'";

const PUT_FIRST = `
  UPDATE deliveries SET due_at = ${DUE_FIRST}
  WHERE id IN (SELECT value FROM json_each(@ids)) AND mailing_id = @mailing AND state = ${DELIVERY_STATE.queued} AND due_at = 0`;

const START = "UPDATE watched_mailings SET stage = 'sending' WHERE mailing_id = ? AND stage = 'choosing'";

/** Whether anybody of the first part waits for their first try; those who were put off for a rate are due later. The rest is due at 0. */
const IS_UNTRIED = `
  SELECT 1 WHERE EXISTS (SELECT 1 FROM deliveries INDEXED BY deliveries_queue
      WHERE mailing_id = @mailing AND state = ${DELIVERY_STATE.queued} AND (due_at < 0 OR due_at > 0) AND attempt = 0)
    OR EXISTS (SELECT 1 FROM deliveries INDEXED BY deliveries_sending WHERE state = ${DELIVERY_STATE.sending} AND mailing_id = @mailing)`;

const NOTE_TRIED =
  "UPDATE watched_mailings SET stage = 'waiting', tried_at = ? WHERE mailing_id = ? AND stage IN ('sending', 'waiting')";

/** A smaller audience gets the mail at once: a part of it that is large enough to say something would be most of it. */
export const LEAST_AUDIENCE = 1000;
/** More than the results that a hold needs, since some are put off. */
const LEAST_RECIPIENTS = 300;
/** More would say nothing more. */
const MAX_RECIPIENTS = 10_000;
/** How many recipients the canary of an audience has; 0 for an audience that is too small for one. */
export function canarySize(audience: number, percent: number): number {
  if (audience < LEAST_AUDIENCE || percent === 0) return 0;
  return Math.min(MAX_RECIPIENTS, Math.max(LEAST_RECIPIENTS, Math.ceil((audience * percent) / 100)));
}

const BUCKETS = 2 ** 16;
const MAX_HASH = 2 ** 32;

/**
 * Takes every so many-th recipient of each domain, so that a domain has the same share among those taken as among all, a list sorted by
 * domain or by age included. Domains are counted in a fixed number of buckets; two that share one are counted together.
 */
export class DomainSpread {
  readonly #stride: number;
  readonly #seen = new Uint32Array(BUCKETS);

  /** One in `stride` recipients is taken; `stride` is at least 1. */
  constructor(stride: number) {
    this.#stride = stride;
  }

  /** Whether the next recipient, who is of this domain, is taken. The same recipients in the same order give the same answers. */
  takes(domain: string): boolean {
    const hash = hashOf(domain);
    const bucket = hash % BUCKETS;
    const seen = this.#seen[bucket] ?? 0;
    this.#seen[bucket] = seen + 1;
    // Each domain starts elsewhere, so that one in so many of the domains with a single recipient is taken, too.
    const start = hash / MAX_HASH;
    return Math.floor((seen + 1) / this.#stride + start) > Math.floor(seen / this.#stride + start);
  }
}

/** FNV-1a, 32 bits, with a last mixing, since the first letters of short names reach the high bits little. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
