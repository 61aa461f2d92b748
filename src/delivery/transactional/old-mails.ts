/** Removes the data of transactional mail that are kept only for a time: idempotency keys and records of mails. */
import type { Database } from 'better-sqlite3';
import { DELIVERY_STATE } from '../../database/schema/index.ts';
import { DAY_MS, MEBIBYTE, MINUTE_MS } from '../../units.ts';

/** How long an idempotency key is remembered, in milliseconds. */
const KEYS_MS = DAY_MS;
/** The maximum number of keys remembered for all accounts; the oldest are removed first. */
const MAX_KEYS = 1_000_000;
/** How long the record of a mail is kept, in milliseconds. */
const RECORDS_MS = 90 * DAY_MS;
/** The number of rows that are removed in one transaction, which takes some milliseconds. */
const ROWS = 200;
/**
 * The maximum number of bytes of stored messages that one transaction removes; the last message, of up to 1 MiB, may exceed it. There is a
 * maximum because SQLite overwrites removed bytes.
 */
const MAX_REMOVED_BYTES = 2 * MEBIBYTE;
/** The delay before the next search, once nothing is left to remove, in milliseconds. */
const IDLE_MS = MINUTE_MS;

const FORGET_KEYS = `
  UPDATE transactional_mails SET idempotency_key = NULL, request_hash = '' WHERE id IN (
    SELECT id FROM transactional_mails INDEXED BY transactional_mails_keyed
    WHERE idempotency_key IS NOT NULL AND created_at < @before ORDER BY created_at LIMIT ${ROWS})`;
/** SQL for the time of the newest key beyond the maximum. */
const NEWEST_EXCESS_KEY = `
  SELECT created_at FROM transactional_mails INDEXED BY transactional_mails_keyed
  WHERE idempotency_key IS NOT NULL ORDER BY created_at DESC LIMIT 1 OFFSET ${MAX_KEYS}`;
/**
 * SQL that removes old mails. It examines only the oldest rows, so that the cost does not depend on the number of rows. Queued mails are
 * not removed. They cannot block the removal, because a mail stays queued for at most 4 days.
 */
const REMOVE_OLD = removeSome(`
  SELECT id FROM (SELECT id, created_at, state FROM transactional_mails ORDER BY id LIMIT ${ROWS})
  WHERE created_at < @before AND state >= ${DELIVERY_STATE.accepted}`);
const ERASE = removeSome(`
  SELECT id FROM transactional_mails INDEXED BY transactional_mails_address WHERE address_id = @address ORDER BY id LIMIT ${ROWS}`);

/** Returns SQL that removes the first of these mails, as many as fit into one transaction, together with their stored messages. */
function removeSome(mails: string): string {
  return `
    DELETE FROM transactional_mails WHERE id IN (
      SELECT id FROM (
        SELECT id, sum(bytes) OVER (ORDER BY id) - bytes AS bytes_before FROM (
          SELECT m.id, ifnull((SELECT length(k.message) FROM sent_transactional_mails k WHERE k.mail_id = m.id), 0) AS bytes
          FROM (${mails}) m))
      WHERE bytes_before < ${MAX_REMOVED_BYTES})`;
}

/** Removes some of the mails to an address, together with their stored messages. Returns true if there were any. */
export function eraseSomeMails(client: Database, address: number): boolean {
  return client.prepare(ERASE).run({ address }).changes > 0;
}

/** Removes old records as a task of the background thread. */
export class OldMails {
  readonly #client: Database;
  #restsUntil = Number.NEGATIVE_INFINITY;
  /**
   * The time before which keys exceed MAX_KEYS; 0 if none do; null before the round. It is found once per round, because counting the keys
   * takes long.
   */
  #excessKeysBefore: number | null = null;

  constructor(client: Database) {
    this.#client = client;
  }

  /**
   * Removes some of the old records in one short transaction. Returns true if there is more to do at once. `now` is epoch milliseconds,
   * `monotonic` milliseconds of a monotonic clock.
   */
  continueRemoval(now: number, monotonic: number): boolean {
    if (monotonic < this.#restsUntil) return false;
    const client = this.#client;
    this.#excessKeysBefore ??=
      (client.prepare<[], { created_at: number }>(NEWEST_EXCESS_KEY).get()?.created_at ?? -1) + 1;
    const before = Math.max(now - KEYS_MS, this.#excessKeysBefore);
    const hasMore = client
      .transaction(() => {
        const keys = client.prepare(FORGET_KEYS).run({ before }).changes;
        const mails = client.prepare(REMOVE_OLD).run({ before: now - RECORDS_MS }).changes;
        return keys >= ROWS || mails > 0;
      })
      .immediate();
    if (hasMore) return true;
    this.#excessKeysBefore = null;
    this.#restsUntil = monotonic + IDLE_MS;
    return false;
  }
}
