/**
 * Copies of the database, such as a restored backup. The service may have sent mail and assigned ids after the copy was made. A
 * copy that replaces the database therefore holds all sending and continues every id sequence far beyond the assigned ids. All
 * users must sign in again.
 */
import { randomInt } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { addNamedValue, findNamedValue, removeNamedValue } from '../../database/named-values.ts';
import { holdSending } from '../../delivery/queue/holds.ts';
import { type Said, sentence } from '../../errors/sentences.ts';
import { stored } from '../../errors/stored.ts';
import { isoTimestamp, systemClock } from '../../time/clock.ts';

/**
 * How far ids skip ahead. The leap is larger than the number of ids assigned between a backup and its restore; random, so that two restores of
 * one backup assign different ids; and small enough that ids stay below 2^31 after dozens of restores, because some clients store 32 bits.
 */
const MIN_LEAP = 1_000_000;
const MAX_LEAP = 60_000_000;

/** The name of the value that marks a copy and says when it was made. */
const IS_COPY = 'is_copy';

/** Returns the last id of each table with an AUTOINCREMENT id, by table name. */
export function lastIds(client: Database): Map<string, number> {
  const rows = client
    .prepare<[], { name: string; last: number }>(`
      SELECT name, ifnull((SELECT max(seq) FROM sqlite_sequence s WHERE s.name = t.name), 0) AS last
      FROM sqlite_master t WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'`)
    .all();
  return new Map(rows.map(({ name, last }) => [name, last]));
}

/** Marks a file as a copy, so that a service that starts on it notices even without `sendlark restore`. */
export function markAsCopy(client: Database, now: Date): void {
  addNamedValue(client, IS_COPY, isoTimestamp(now));
}

/**
 * Returns when this copy was made, as an ISO timestamp; null if the file is not a copy, or was made by a release that did not
 * write the time.
 */
export function copiedAt(client: Database): string | null {
  const value = findNamedValue(client, IS_COPY);
  return value?.includes('T') ? value : null;
}

/** Returns true if this file is a copy that has not replaced a database yet. */
export function isCopy(client: Database): boolean {
  return findNamedValue(client, IS_COPY) !== null;
}

/**
 * Prepares a copy to replace a database, in one transaction: holds sending, ends all sessions, and moves id sequences beyond
 * all ids that may have been assigned after the copy was made. `replaced` has the last ids of the replaced database by table name, as far as
 * they are known; `who` restores the copy.
 */
export function continueFromCopy(
  client: Database,
  replaced: ReadonlyMap<string, number>,
  who: Said = sentence('actor_command_line'),
): void {
  client
    .transaction(() => {
      const leap = randomInt(MIN_LEAP, MAX_LEAP);
      const removeSequence = client.prepare('DELETE FROM sqlite_sequence WHERE name = ?');
      const addSequence = client.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)');
      for (const [table, last] of lastIds(client)) {
        removeSequence.run(table);
        addSequence.run(table, Math.max(last, replaced.get(table) ?? 0) + leap);
      }
      removeNamedValue(client, IS_COPY);
      // Sessions that were ended after the copy was made must not work again. A copy from an early release has no table of sessions.
      const tables = lastIds(client);
      for (const table of ['sessions', 'login_links']) if (tables.has(table)) client.exec(`DELETE FROM ${table}`);
      // The audit log tells owners why all users must sign in again.
      if (tables.has('audit_log'))
        client
          .prepare(`
            INSERT INTO audit_log (account_id, actor, action, created_at)
            SELECT id, CASE id WHEN 1 THEN ? ELSE ? END, 'backup_restored', ? FROM accounts`)
          .run(stored(who), stored(sentence('actor_operator')), isoTimestamp(systemClock.now()));
      holdSending(client, sentence('held_restored'));
    })
    .immediate();
}
