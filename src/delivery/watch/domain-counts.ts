/** Counts the results of a canary, or of a mailing held because of its results, by recipient domain, for the owner of the mailing. */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { DELIVERY_STATE, RESULT_HELD_CODES } from '../../database/schema/index.ts';
import { storedSql } from '../../errors/stored.ts';
import { type Clock, isoTimestamp } from '../../time/clock.ts';

/** The results of the mails to one domain. */
export interface DomainCount {
  /** The domain; empty for all domains that are not listed separately. */
  domain: string;
  /** The number of mails attempted at least once. */
  mails: number;
  delivered: number;
  /** The number of delivered mails that the test outbox kept, so that no recipient got them. */
  kept: number;
  bounces: number;
  failed: number;
  complaints: number;
  /** The number of mails that are deferred by the recipient's server or being sent. */
  waiting: number;
}

/** The results by domain at the last count, as they are stored. */
export interface SeenDomains {
  /** When the results were counted, as an ISO timestamp. */
  counted_at: string;
  domains: DomainCount[];
}

const PAGE_ROWS = 1000;
/** The maximum number of domains listed separately. */
const MAX_NAMED = 20;
/** The minimum number of mails to a domain listed separately, because a domain with fewer mails could identify a contact. */
const MIN_MAILS = 5;
/** The maximum number of domains counted separately, to limit memory use. The domains of the first recipients are counted separately. */
const MAX_COUNTED = 20_000;
/** The minimum pause between two counts of a mailing, in milliseconds. */
const PAUSE_MS = 10_000;
/** The minimum pause between two counts of a mailing, as a multiple of the duration of a count. */
const PAUSE_TIMES = 100;

interface Watched {
  id: number;
  /** The mailing's state and its canary's stage; a change of either causes an immediate count. */
  phase: string;
  /** The mailing's counters; while they do not change, neither do the counts. */
  counters: string;
  /** The ids of the canary's deliveries as JSON; null if the whole mailing is counted. */
  chosen: string | null;
}

/** A count in progress. It is not stored, so after a restart it begins again. */
interface Count {
  watched: Watched;
  /** The ids of the canary's deliveries; null if the whole mailing is counted. */
  ids: readonly number[] | null;
  /** The position in `ids`, or the id of the last counted delivery of the mailing. */
  at: number;
  /** The results so far, by domain. */
  domains: Map<string, DomainCount>;
  /** When the count began, in monotonic milliseconds. */
  startedAt: number;
}

/** Counts in the background thread, a page of deliveries at a time. */
export class DomainCounts {
  readonly #client: Database;
  readonly #clock: Clock;
  /**
   * The phase and counters of each mailing at its last count, and when it may be counted again (monotonic milliseconds), by the id of the
   * mailing.
   */
  readonly #counted = new Map<number, Pick<Watched, 'phase' | 'counters'> & { countAgainAt: number }>();
  #count: Count | null = null;

  constructor(client: Database, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Continues counting while `mayContinue()` is true. Returns true if there is more to do at once. */
  async countOn(mayContinue: () => boolean): Promise<boolean> {
    this.#count ??= this.#next();
    const count = this.#count;
    if (count === null) return false;
    do {
      const ids = this.#page(count);
      for (const row of this.#client.prepare<[{ ids: string; mailing: number }], DomainCount>(BY_DOMAIN).all({
        ids: JSON.stringify(ids),
        mailing: count.watched.id,
      }))
        add(count.domains, row);
      if (ids.length < PAGE_ROWS) {
        this.#finish(count);
        break;
      }
      await setImmediate();
    } while (mayContinue());
    return true;
  }

  /** Begins to count the next mailing whose results have changed since its last count; returns null if there is none. */
  #next(): Count | null {
    const now = this.#clock.monotonic();
    const codes = JSON.stringify(RESULT_HELD_CODES);
    const watched = this.#client
      .prepare<[string], Watched>(WATCHED)
      .all(codes)
      .find(({ id, phase, counters }) => {
        const counted = this.#counted.get(id);
        return counted?.phase !== phase || (counted.counters !== counters && counted.countAgainAt <= now);
      });
    if (watched === undefined) return null;
    const ids = watched.chosen === null ? null : JSON.parse(watched.chosen);
    return { watched, ids, at: 0, domains: new Map(), startedAt: now };
  }

  /** Returns the ids of the next deliveries to count. */
  #page(count: Count): readonly number[] {
    const { ids, at, watched } = count;
    if (ids !== null) {
      count.at += PAGE_ROWS;
      return ids.slice(at, at + PAGE_ROWS);
    }
    const page = this.#client.prepare<[number, number], { id: number }>(RECIPIENTS).all(watched.id, at);
    count.at = page.at(-1)?.id ?? at;
    return page.map(({ id }) => id);
  }

  /** Stores a finished count. */
  #finish({ watched: { id, phase, counters }, domains, startedAt }: Count): void {
    this.#count = null;
    const now = this.#clock.monotonic();
    const pause = Math.max(PAUSE_MS, (now - startedAt) * PAUSE_TIMES);
    this.#counted.set(id, { phase, counters, countAgainAt: now + pause });
    const counts: SeenDomains = { counted_at: isoTimestamp(this.#clock.now()), domains: listedDomains(domains) };
    this.#client.prepare(SAVE).run(id, JSON.stringify(counts));
  }
}

/** Adds a count to the sum of its domain, or to that of all other domains if too many domains are counted. */
function add(domains: Map<string, DomainCount>, row: DomainCount): void {
  const domain = domains.has(row.domain) || domains.size < MAX_COUNTED ? row.domain : '';
  const sum = domains.get(domain);
  if (sum === undefined) {
    domains.set(domain, { ...row, domain });
    return;
  }
  for (const key of ['mails', 'delivered', 'kept', 'bounces', 'failed', 'complaints', 'waiting'] as const)
    sum[key] += row[key];
}

/** Returns the domains with the most bad results, and all other domains combined. */
function listedDomains(domains: ReadonlyMap<string, DomainCount>): DomainCount[] {
  const countBad = ({ bounces, failed, complaints }: DomainCount) => bounces + failed + complaints;
  const sorted = [...domains.values()].sort((one, two) => countBad(two) - countBad(one) || two.mails - one.mails);
  const shown = sorted.filter(({ domain, mails }) => domain !== '' && mails >= MIN_MAILS).slice(0, MAX_NAMED);
  const others = new Map<string, DomainCount>();
  for (const count of sorted) if (!shown.includes(count)) add(others, { ...count, domain: '' });
  return [...shown, ...others.values()];
}

const { queued, sending, accepted, bounced, failed } = DELIVERY_STATE;

const WATCHED = `
  SELECT m.id, w.chosen, m.state || ' ' || ifnull(w.stage, '') AS phase, m.triggered || ' ' || m.delivered || ' ' || m.bounces || ' ' || m.failed || ' ' ||
    (SELECT count(*) FROM events WHERE kind = 'complaint' AND mailing_id = m.id) AS counters
  FROM (SELECT mailing_id AS id FROM watched_mailings INDEXED BY watched_mailings_canary WHERE stage <> 'released' AND chosen IS NOT NULL
    UNION SELECT id FROM mailings INDEXED BY mailings_unfinished
      WHERE finished_at IS NULL AND state = 'held' AND held_code IN (SELECT value FROM json_each(?))) found
    CROSS JOIN mailings m ON m.id = found.id LEFT JOIN watched_mailings w ON w.mailing_id = m.id
  WHERE m.finished_at IS NULL`;

const RECIPIENTS = `
  SELECT id FROM deliveries INDEXED BY deliveries_mailing WHERE mailing_id = ? AND id > ? ORDER BY id LIMIT ${PAGE_ROWS}`;

const BY_DOMAIN = `
  SELECT substr(a.normalized_email, instr(a.normalized_email, '@') + 1) AS domain, count(*) AS mails,
    sum(d.state = ${accepted}) AS delivered, sum(d.state = ${accepted} AND d.reply IS ${storedSql('kept_in_outbox')}) AS kept,
    sum(d.state = ${bounced}) AS bounces, sum(d.state = ${failed}) AS failed,
    sum(d.state IN (${queued}, ${sending})) AS waiting,
    sum(EXISTS (SELECT 1 FROM events WHERE kind = 'complaint' AND mailing_id = @mailing AND delivery_id = d.id)) AS complaints
  FROM json_each(@ids) ids CROSS JOIN deliveries d ON d.id = ids.value CROSS JOIN addresses a ON a.id = d.address_id
  WHERE d.attempt > 0 AND d.state <= ${failed} GROUP BY domain`;

const SAVE =
  'INSERT INTO watched_mailings (mailing_id, seen) VALUES (?, ?) ON CONFLICT DO UPDATE SET seen = excluded.seen';
