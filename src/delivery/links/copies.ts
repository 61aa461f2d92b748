/**
 * Copies of the database, which continue from an earlier moment. The service went on after that moment and handed out ids, so a copy
 * that takes its place holds all sending and continues every sequence far beyond them.
 */
import { randomInt } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { holdSending } from '../queue/hold.ts';

/**
 * How far ids leap. More than are handed out between a backup and its restore; by chance, so that two restores of one backup do
 * not meet; little enough that dozens of restores leave ids below 2^31, for clients that store them in 32 bits.
 */
const MIN_LEAP = 1_000_000;
const MAX_LEAP = 60_000_000;

/** The last id of each table that never hands one out twice, by table name. */
export function lastIds(client: Database): Map<string, number> {
  const rows = client
    .prepare<[], { name: string; last: number }>(`
      SELECT name, ifnull((SELECT max(seq) FROM sqlite_sequence s WHERE s.name = t.name), 0) AS last
      FROM sqlite_master t WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'`)
    .all();
  return new Map(rows.map(({ name, last }) => [name, last]));
}

/** Marks a file as a copy, so that a service which is started on it knows even when nobody ran `sendlark restore`. */
export function markAsCopy(client: Database): void {
  client.prepare("INSERT INTO installation (name, value) VALUES ('is_copy', '1') ON CONFLICT DO NOTHING").run();
}

/** Whether this file is a copy that has not taken the place of a database yet. */
export function isCopy(client: Database): boolean {
  return client.prepare("SELECT 1 FROM installation WHERE name = 'is_copy'").get() !== undefined;
}

/**
 * Makes a copy take the place of a database, in one transaction: sending is held, and no id is handed out that may have been
 * handed out after the copy was made. `replaced` are the last ids of the database it replaces, as far as they are known.
 */
export function continueFromCopy(client: Database, replaced: ReadonlyMap<string, number>): void {
  client
    .transaction(() => {
      const leap = randomInt(MIN_LEAP, MAX_LEAP);
      const forget = client.prepare('DELETE FROM sqlite_sequence WHERE name = ?');
      const start = client.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)');
      for (const [table, last] of lastIds(client)) {
        forget.run(table);
        start.run(table, Math.max(last, replaced.get(table) ?? 0) + leap);
      }
      client.prepare("DELETE FROM installation WHERE name = 'is_copy'").run();
      holdSending(client, 'Restored from a backup, which does not know who was mailed after it was made');
    })
    .immediate();
}
