/** Removes what is kept of transactional mail for a time only: keys of requests, and the records of old mails. */
import type { Database } from 'better-sqlite3';
import { prepared } from '../../database/prepared.ts';
import { DELIVERY_STATE } from '../../database/schema/index.ts';

const DAY_MS = 86_400_000;
/** How long a request with the same key is known again. */
const KEYS_MS = DAY_MS;
/** The most keys of all accounts that are known; the oldest go first. */
const MAX_KEYS = 1_000_000;
/** How long the record of a mail is kept. */
const RECORDS_MS = 90 * DAY_MS;
/** Rows of one transaction, which takes some milliseconds. */
const ROWS = 200;
/** Once nothing is left to remove, the next look is this much later. */
const IDLE_MS = 60_000;

const FORGET_KEYS = `
  UPDATE transactional_mails SET idempotency_key = NULL, request_hash = '' WHERE id IN (
    SELECT id FROM transactional_mails INDEXED BY transactional_mails_keyed
    WHERE idempotency_key IS NOT NULL AND created_at < @before ORDER BY created_at LIMIT ${ROWS})`;
/** The time of the newest key that is one too many. */
const ONE_TOO_MANY = `
  SELECT created_at FROM transactional_mails INDEXED BY transactional_mails_keyed
  WHERE idempotency_key IS NOT NULL ORDER BY created_at DESC LIMIT 1 OFFSET ${MAX_KEYS}`;
/** Only the oldest are looked at, so that it costs the same however many there are; one that is still queued is so for 4 days at most. */
const REMOVE_OLD = `
  DELETE FROM transactional_mails WHERE id IN (
    SELECT id FROM (SELECT id, created_at, state FROM transactional_mails ORDER BY id LIMIT ${ROWS})
    WHERE created_at < @before AND state >= ${DELIVERY_STATE.accepted})`;

/** The removal, as work for the background thread. */
export class OldMails {
  readonly #client: Database;
  #restsUntil = Number.NEGATIVE_INFINITY;
  /** Since when keys are known, as a round of removals found it: to count the keys takes long, so it is done once for each. */
  #keysSince: number | null = null;

  constructor(client: Database) {
    this.#client = client;
  }

  /**
   * Removes some of what is old, in one short transaction; gives whether there is more to do at once. `now` is epoch milliseconds,
   * `monotonic` milliseconds of a clock that nobody sets.
   */
  continueRemoval(now: number, monotonic: number): boolean {
    if (monotonic < this.#restsUntil) return false;
    const client = this.#client;
    this.#keysSince ??= (prepared<[], { created_at: number }>(client, ONE_TOO_MANY).get()?.created_at ?? -1) + 1;
    const before = Math.max(now - KEYS_MS, this.#keysSince);
    const removed = client
      .transaction(() => {
        const keys = prepared(client, FORGET_KEYS).run({ before }).changes;
        return Math.max(keys, prepared(client, REMOVE_OLD).run({ before: now - RECORDS_MS }).changes);
      })
      .immediate();
    if (removed >= ROWS) return true;
    this.#keysSince = null;
    this.#restsUntil = monotonic + IDLE_MS;
    return false;
  }
}
