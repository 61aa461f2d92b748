/** Checks that a file is a backup that this release can restore, and compares it with the database that it would replace. */

import { fileURLToPath } from 'node:url';
import Sqlite, { type Database } from 'better-sqlite3';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import {
  addFunctions,
  connect,
  type Db,
  dropTriggers,
  hasTriggers,
  hasTriggersApart,
  MIGRATIONS,
  migrateAndSeed,
  newestMigration,
  schemaState,
} from '../database/open.ts';
import { allSecrets } from '../delivery/links/secrets.ts';
import { latestBeatAt } from '../delivery/queue/holds.ts';
import { SaidError, type Sentence, sentence } from '../errors/sentences.ts';
import { isoTimestamp } from '../time/clock.ts';
import { copiedAt } from './copies.ts';
import { checkIntegrity } from './make-backup.ts';

/** What a restore would bring back, and what it would lose. */
export interface Comparison {
  /** When the backup was made, as an ISO timestamp; null where the file does not say. */
  made_at: string | null;
  /** 1: a copy of the database that it would replace, however old. */
  is_own: 0 | 1;
  people: number;
  mailings: number;
  /** What there is now. */
  people_now: number;
  mailings_now: number;
  /** What was added since, and would be lost; everything where the backup is of another installation. */
  people_lost: number;
  mailings_lost: number;
  /** Addresses that left or were blocked since. The backup does not know, so they would get mail again. */
  left_since: number;
}

/**
 * Opens a file as a database of Sendlark, checked as a whole. Throws a SaidError, which calls the file `name`, when it is
 * damaged, something else or of a newer release. Opening it changes it, so it must be a copy.
 */
export function openBackup(path: string, name: string): Db {
  const db = opened(path, name);
  const problem = problemOf(db, name);
  if (problem === null) return db;
  db.$client.close();
  throw new SaidError(problem);
}

/** Why a file cannot be restored, in one line; null where it can. The file's schema comes first, because the rest may run what is in it. */
function problemOf(db: Db, file: string): Sentence | null {
  const damaged = (reason: string) => sentence('backup_damaged', { file, reason });
  const tables = ['installation', 'accounts', 'contacts', 'mailings'];
  try {
    if (!tables.every((table) => hasTable(db.$client, table))) return sentence('backup_foreign', { file });
    if (schemaState(db.$client) === 'newer') return sentence('backup_newer', { file });
    const foreign = findForeignPart(db.$client);
    if (foreign !== null) return damaged(`${foreign} is not as Sendlark made it`);
    // Its triggers may be those of another release, or of somebody who wants them to run. The upgrade installs those of this release.
    if (hasTriggersApart(db.$client) && !hasTriggers(db.$client)) dropTriggers(db.$client);
    const integrity = checkIntegrity(db);
    return integrity === 'ok' ? null : damaged(integrity);
  } catch (error) {
    // A file can be too damaged for the checks.
    return damaged(reasonOf(error));
  }
}

/**
 * Checks an uploaded file, brings it up to date, so that the start after the restore cannot fail on it, and compares it with the
 * database at `databasePath`. Throws as `openBackup` does. Leaves one file.
 */
export function checkBackup(path: string, name: string, databasePath: string): Comparison {
  const backup = openBackup(path, name);
  try {
    try {
      migrateAndSeed(backup);
    } catch (error) {
      throw new SaidError(sentence('backup_damaged', { file: name, reason: reasonOf(error) }));
    }
    const present = connect(databasePath);
    try {
      return compare(backup.$client, present.$client);
    } finally {
      present.$client.close();
    }
  } finally {
    backup.$client.pragma('journal_mode = DELETE');
    backup.$client.close();
  }
}

function compare(backup: Database, present: Database): Comparison {
  const isOwn = allSecrets(backup).some((secret) => allSecrets(present).includes(secret));
  const beat = latestBeatAt(backup);
  const made = copiedAt(backup) ?? (beat === 0 ? null : isoTimestamp(new Date(beat)));
  // Ids are never used again, so what has a higher one was added since.
  const since = (table: string) => count(present, table, isOwn ? lastId(backup, table) : 0);
  return {
    made_at: made,
    is_own: isOwn ? 1 : 0,
    people: count(backup, 'contacts'),
    mailings: count(backup, 'mailings'),
    people_now: count(present, 'contacts'),
    mailings_now: count(present, 'mailings'),
    people_lost: since('contacts'),
    mailings_lost: since('mailings'),
    left_since: since('unsubscribers') + since('suppressions'),
  };
}

function opened(path: string, name: string): Db {
  try {
    return connect(path);
  } catch (error) {
    const isOther = error instanceof Error && 'code' in error && error.code === 'SQLITE_NOTADB';
    const problem = isOther
      ? sentence('backup_foreign', { file: name })
      : sentence('backup_damaged', { file: name, reason: reasonOf(error) });
    throw new SaidError(problem);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function hasTable(client: Database, table: string): boolean {
  return client.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table) !== undefined;
}

function lastId(client: Database, table: string): number {
  return Number(client.prepare('SELECT ifnull(max(seq), 0) FROM sqlite_sequence WHERE name = ?').pluck().get(table));
}

/** Rows with an id beyond `after`. Deleted contacts do not count. */
function count(client: Database, table: string, after = 0): number {
  const alive = table === 'contacts' ? 'AND deleted_at IS NULL' : '';
  return Number(client.prepare(`SELECT count(*) FROM ${table} WHERE id > ? ${alive}`).pluck().get(after));
}

/** SQLite's own tables, and the list of migrations, which Drizzle makes. */
const OTHERS = ['sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4', '__drizzle_migrations'];
/** What Litestream adds to a database that it replicates, so that its copies have it too: two tables on which nothing runs. */
const OF_LITESTREAM = new Map([
  ['the table _litestream_lock', 'CREATE TABLE _litestream_lock (id INTEGER)'],
  ['the table _litestream_seq', 'CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)'],
]);

/**
 * The first part that is another one than the file's release made, or is missing, such as `the trigger spy`; null where there is none.
 * It runs nothing of the file. Triggers that are no part of a migration are not compared. Throws where the schema cannot be read.
 */
export function findForeignPart(client: Database): string | null {
  const [found, made] = [partsOf(client), partsMadeUntil(newestMigration(client))];
  for (const [name, definition] of OF_LITESTREAM) if (found.get(name) === definition) found.delete(name);
  const isCompared = hasTriggersApart(client) ? (name: string) => !name.startsWith('the trigger ') : () => true;
  for (const name of new Set([...found.keys(), ...made.keys()]))
    if (isCompared(name) && found.get(name) !== made.get(name)) return name;
  return null;
}

/** The schema of the release whose newest migration is of this time, epoch milliseconds. */
function partsMadeUntil(newest: number): Map<string, string> {
  const client = new Sqlite(':memory:');
  try {
    addFunctions(client);
    const migrations = readMigrationFiles({ migrationsFolder: fileURLToPath(MIGRATIONS) });
    for (const { sql, folderMillis } of migrations)
      if (folderMillis <= newest) for (const statement of sql) client.exec(statement);
    return partsOf(client);
  } finally {
    client.close();
  }
}

/** Each part of a schema, such as `the index contacts_type`, with its definition. Those without one are SQLite's own indexes. */
function partsOf(client: Database): Map<string, string> {
  const rows = client
    .prepare<[], { type: string; name: string; sql: string }>(
      'SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL',
    )
    .all();
  const own = rows.filter(({ type, name }) => type !== 'table' || !OTHERS.includes(name));
  return new Map(own.map(({ type, name, sql }) => [`the ${type} ${name}`, sql]));
}
