/**
 * Copies of the database, such as a restored backup. The service may have mailed people and handed out ids after the copy was made, so
 * a copy that replaces the database holds all sending and continues every id sequence far beyond those ids. Everybody signs in anew.
 */
import { randomInt } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { addNamedValue, findNamedValue, removeNamedValue } from '../database/named-values.ts';
import { holdSending } from '../delivery/queue/holds.ts';
import { type Said, sentence } from '../errors/sentences.ts';
import { stored } from '../errors/stored.ts';
import { isoTimestamp, systemClock } from '../time/clock.ts';

/**
 * How far ids skip ahead: more than are handed out between a backup and its restore; at random, so that two restores of one backup
 * do not hand out the same ids; and little enough that dozens of restores leave ids below 2^31, for clients that store 32 bits.
 */
const MIN_LEAP = 1_000_000;
const MAX_LEAP = 60_000_000;

/** The name of the time at which this copy was made. */
const IS_COPY = 'is_copy';

/** The last id of each table with an AUTOINCREMENT id, by table name. */
export function lastIds(client: Database): Map<string, number> {
  const rows = client
    .prepare<[], { name: string; last: number }>(`
      SELECT name, ifnull((SELECT max(seq) FROM sqlite_sequence s WHERE s.name = t.name), 0) AS last
      FROM sqlite_master t WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'`)
    .all();
  return new Map(rows.map(({ name, last }) => [name, last]));
}

/** Marks a file as a copy, so that a service started on it notices even when nobody ran `sendlark restore`. */
export function markAsCopy(client: Database, now: Date): void {
  addNamedValue(client, IS_COPY, isoTimestamp(now));
}

/** When this copy was made, as an ISO timestamp; null when it is none, or was made by a release that did not write the time. */
export function copiedAt(client: Database): string | null {
  const value = findNamedValue(client, IS_COPY);
  return value?.includes('T') ? value : null;
}

/** Whether this file is a copy that has not replaced a database yet. */
export function isCopy(client: Database): boolean {
  return findNamedValue(client, IS_COPY) !== null;
}

/**
 * Prepares a copy to replace a database, in one transaction: holds sending, ends all sessions, and hands out no id that may have been handed out after
 * the copy was made. `replaced` are the last ids of the database it replaces, as far as they are known; `who` restores it.
 */
export function continueFromCopy(
  client: Database,
  replaced: ReadonlyMap<string, number>,
  who: Said = sentence('actor_command_line'),
): void {
  client
    .transaction(() => {
      const leap = randomInt(MIN_LEAP, MAX_LEAP);
      const forget = client.prepare('DELETE FROM sqlite_sequence WHERE name = ?');
      const start = client.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)');
      for (const [table, last] of lastIds(client)) {
        forget.run(table);
        start.run(table, Math.max(last, replaced.get(table) ?? 0) + leap);
      }
      removeNamedValue(client, IS_COPY);
      // Those that were ended after the copy was made must not work again. A copy of an earlier release has none.
      const tables = lastIds(client);
      for (const table of ['sessions', 'login_links']) if (tables.has(table)) client.exec(`DELETE FROM ${table}`);
      // Owners read there why everybody has to sign in again.
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
