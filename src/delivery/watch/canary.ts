/**
 * The canary of a mailing: a first batch of its recipients, chosen evenly from all domains. The rest is sent after the canary has had good
 * results. Deliveries of the canary have a negative `due_at` and are claimed first; those of the rest have 0 and are not claimed before the
 * canary is released. The state is stored in rows, so a killed process continues where it stopped.
 */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { inChunks } from '../../database/bulk.ts';
import { DELIVERY_STATE, type watchedMailings } from '../../database/schema/index.ts';
import { sentence } from '../../errors/sentences.ts';
import { DUE } from '../queue/due.ts';
import type { Held } from '../queue/holds.ts';
import { MailingStates } from '../queue/mailing-state.ts';
import { DomainSpread } from './domain-spread.ts';
import { countResults } from './limits.ts';
import { continuesAt, findResultHold, readResults, releaseCanary } from './watched-mailings.ts';

/** The share of the canary that must have a result before the rest is sent. */
const MIN_RESULT_SHARE = 0.5;

const PAGE_ROWS = 2000;

type Canary = Pick<typeof watchedMailings.$inferSelect, 'mailing_id' | 'percent' | 'minutes' | 'stage' | 'tried_at'> & {
  /** The state of the mailing. */
  state: string;
  /** The number of recipients of the mailing who are not suppressed. */
  audience: number;
};

/** The progress of choosing a canary. It is kept in memory only: after a restart the choice begins again and takes the same recipients. */
interface Choice {
  spread: DomainSpread;
  /** The number of recipients to choose. */
  size: number;
  /** The id of the last delivery that was read. */
  after: number;
  /** The ids of the deliveries that are chosen. */
  chosen: number[];
}

/** The canaries of all mailings. The background thread advances them. */
export class Canaries {
  readonly #client: Database;
  readonly #states: MailingStates;
  readonly #steady: () => number;
  readonly #choices = new Map<number, Choice>();

  /** `steady` returns epoch milliseconds that do not change with the system clock while the process runs. */
  constructor(client: Database, steady: () => number) {
    this.#client = client;
    this.#states = new MailingStates(client);
    this.#steady = steady;
  }

  /** Advances each canary as far as possible now, while `mayContinue()` is true. Returns true if there is more to do at once. */
  async advance(mayContinue: () => boolean): Promise<boolean> {
    let hasMore = false;
    const canaries = this.#client.prepare<[], Canary>(UNRELEASED).all();
    // Discard choices for mailings that were cancelled meanwhile.
    for (const id of this.#choices.keys())
      if (!canaries.some(({ mailing_id }) => mailing_id === id)) this.#choices.delete(id);
    for (const canary of canaries) {
      if (canary.stage === 'choosing') {
        if (await this.#choose(canary, mayContinue)) hasMore = true;
      } else if (canary.stage === 'sending') this.#recordTried(canary.mailing_id);
      else if (canary.state === 'sending' && this.#decide(canary)) hasMore = true;
    }
    return hasMore;
  }

  /** Chooses the recipients of a canary, then marks them to be claimed first. Returns true if there is more to do at once. */
  async #choose(canary: Canary, mayContinue: () => boolean): Promise<boolean> {
    const { mailing_id: mailing, audience, percent } = canary;
    const size = canarySize(audience, percent);
    if (size === 0) return releaseCanary(this.#client, mailing);
    const stored = this.#client.prepare<[number], { chosen: string | null }>(CHOSEN).get(mailing)?.chosen;
    if (stored === null || stored === undefined) {
      const choice = this.#choices.get(mailing) ?? {
        spread: new DomainSpread(audience / size),
        size,
        after: 0,
        chosen: [],
      };
      this.#choices.set(mailing, choice);
      if (!(await this.#read(mailing, choice, mayContinue))) return true;
      this.#choices.delete(mailing);
      this.#client.prepare(SAVE_CHOSEN).run(JSON.stringify(choice.chosen), choice.chosen.length, mailing);
      return true;
    }
    const chosen: number[] = JSON.parse(stored);
    let marked = 0;
    await inChunks(this.#client, (rows) => {
      const ids = JSON.stringify(chosen.slice(marked, marked + rows));
      this.#client.prepare(PUT_FIRST).run({ mailing, ids });
      marked += rows;
      if (marked < chosen.length) return true;
      this.#client.prepare(START).run(mailing);
      return false;
    });
    return true;
  }

  /** Reads the next recipients, page by page. Returns true once all recipients have been read or enough have been chosen. */
  async #read(mailing: number, choice: Choice, mayContinue: () => boolean): Promise<boolean> {
    const page = this.#client.prepare<[number, number], { id: number; domain: string }>(RECIPIENTS);
    do {
      const rows = page.all(mailing, choice.after);
      for (const { id, domain } of rows) {
        choice.after = id;
        if (choice.spread.takes(domain)) choice.chosen.push(id);
        if (choice.chosen.length === choice.size) return true;
      }
      if (rows.length < PAGE_ROWS) return true;
      await setImmediate();
    } while (mayContinue());
    return false;
  }

  /** Stores the time once each recipient of the canary has been tried. Deferred recipients are retried while the rest waits. */
  #recordTried(mailing: number): void {
    if (this.#client.prepare(IS_UNTRIED).get({ mailing }) !== undefined) return;
    this.#client.prepare(RECORD_TRIED).run(this.#steady(), mailing);
  }

  /** Releases the rest or holds the mailing once the wait is over. Returns false during the wait. */
  #decide({ mailing_id: mailing, minutes, tried_at }: Canary): boolean {
    const now = this.#steady();
    // `tried_at` is in the future if the clock was set back while the service was stopped.
    if (tried_at > now) this.#client.prepare(RECORD_TRIED).run(now, mailing);
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

/**
 * Returns the reason to hold the mailing although no limit is exceeded: too few recipients of the canary have a result. Returns null if
 * enough of them have one.
 */
function findUnclear(client: Database, mailing: number): Held | null {
  const results = countResults(readResults(client, mailing));
  const size = client.prepare<[number], { size: number }>(SIZE_OF_TRIED).get(mailing)?.size ?? 0;
  if (results >= size * MIN_RESULT_SHARE) return null;
  return { held_code: 'canary_unclear', held_reason: sentence('held_canary_unclear', { size, results }) };
}

const UNRELEASED = `
  SELECT w.mailing_id, w.percent, w.minutes, w.stage, w.tried_at, m.state, m.recipients - m.suppressed AS audience
  FROM watched_mailings w INDEXED BY watched_mailings_canary CROSS JOIN mailings m ON m.id = w.mailing_id
  WHERE w.stage <> 'released' AND m.finished_at IS NULL AND m.enqueue_progress IS NULL AND m.state <> 'cancelled'`;

const CHOSEN = 'SELECT chosen FROM watched_mailings WHERE mailing_id = ?';

/**
 * SQL for the size of the canary without recipients who were excluded after the choice, because they unsubscribed or reached a frequency
 * cap.
 */
const SIZE_OF_TRIED = `
  SELECT size - (SELECT count(*) FROM json_each(chosen) c CROSS JOIN deliveries d ON d.id = c.value WHERE d.state = ${DELIVERY_STATE.suppressed})
    AS size FROM watched_mailings WHERE mailing_id = ?`;

const RECIPIENTS = `
  SELECT d.id, substr(a.normalized_email, instr(a.normalized_email, '@') + 1) AS domain
  FROM deliveries d INDEXED BY deliveries_queue CROSS JOIN addresses a ON a.id = d.address_id
  WHERE d.mailing_id = ? AND d.state = ${DELIVERY_STATE.queued} AND d.due_at = 0 AND d.id > ? ORDER BY d.id LIMIT ${PAGE_ROWS}`;

const SAVE_CHOSEN = "UPDATE watched_mailings SET chosen = ?, size = ? WHERE mailing_id = ? AND stage = 'choosing'";

const PUT_FIRST = `
  UPDATE deliveries SET due_at = ${DUE.canary}
  WHERE id IN (SELECT value FROM json_each(@ids)) AND mailing_id = @mailing AND state = ${DELIVERY_STATE.queued} AND due_at = 0`;

const START = "UPDATE watched_mailings SET stage = 'sending' WHERE mailing_id = ? AND stage = 'choosing'";

/**
 * SQL that selects a row if any recipient of the canary has not been tried yet. A recipient who waits because of a rate limit has a
 * positive `due_at`; the rest has 0.
 */
const IS_UNTRIED = `
  SELECT 1 WHERE EXISTS (SELECT 1 FROM deliveries INDEXED BY deliveries_queue
      WHERE mailing_id = @mailing AND state = ${DELIVERY_STATE.queued} AND (due_at < ${DUE.atOnce} OR due_at > ${DUE.atOnce}) AND attempt = 0)
    OR EXISTS (SELECT 1 FROM deliveries INDEXED BY deliveries_sending WHERE state = ${DELIVERY_STATE.sending} AND mailing_id = @mailing)`;

const RECORD_TRIED =
  "UPDATE watched_mailings SET stage = 'waiting', tried_at = ? WHERE mailing_id = ? AND stage IN ('sending', 'waiting')";

/**
 * The smallest audience that has a canary. In a smaller audience, a batch large enough for a reliable result would be most of the audience.
 */
export const MIN_AUDIENCE = 1000;
/**
 * The least number of recipients in a canary. It is larger than the number of results that a hold needs, because some recipients are
 * deferred.
 */
const MIN_RECIPIENTS = 300;
/** The largest number of recipients in a canary. A larger canary would not make the result more reliable. */
const MAX_RECIPIENTS = 10_000;

/** Returns the number of recipients in the canary of an audience; 0 if the audience is too small for a canary. */
export function canarySize(audience: number, percent: number): number {
  if (audience < MIN_AUDIENCE || percent === 0) return 0;
  return Math.min(MAX_RECIPIENTS, Math.max(MIN_RECIPIENTS, Math.ceil((audience * percent) / 100)));
}
