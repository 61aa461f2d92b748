/** Checks that a file is a backup that this release can restore, and compares it with the database that it would replace. */

import { fileURLToPath } from 'node:url';
import Sqlite, { type Database } from 'better-sqlite3';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { ForeignDatabase } from '../../database/faults.ts';
import { addFunctions, connect, type Db } from '../../database/open.ts';
import {
  dropTriggers,
  hasCurrentTriggers,
  hasTriggersOutsideMigrations,
  MIGRATIONS,
  migrateAndSeed,
  newestMigration,
  schemaState,
} from '../../database/upgrade.ts';
import { allSecrets } from '../../delivery/links/secrets.ts';
import { latestBeatAt } from '../../delivery/queue/holds.ts';
import { type Said, SaidError, type Sentence, saidBy, sentence } from '../../errors/sentences.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { checkIntegrity } from './make-backup.ts';
import { copiedAt } from './restored-copy.ts';

/** What a restore would bring back and what it would lose. */
export interface Comparison {
  /** When the backup was made, as an ISO timestamp; null if unknown. */
  made_at: string | null;
  /** 1: a copy of the current database, however old. */
  is_own: 0 | 1;
  people: number;
  mailings: number;
  /** The numbers of contacts and mailings in the current database. */
  people_now: number;
  mailings_now: number;
  /**
   * The numbers of contacts and mailings added after the backup, which a restore would lose; all of them if the backup is from
   * another installation.
   */
  people_lost: number;
  mailings_lost: number;
  /**
   * The number of addresses that unsubscribed or were suppressed after the backup; all of them if the backup is from another installation.
   * The backup does not know about them, so they would get mail again.
   */
  left_since: number;
}

/**
 * Opens a file as a database of Sendlark after checking all of it. Throws a SaidError, which calls the file `name`, if the file
 * is damaged, not a database of Sendlark or from a newer release. Opening changes the file, so it must be a copy.
 */
export function openBackup(path: string, name: string): Db {
  const db = openFile(path, name);
  const problem = problemOf(db, name);
  if (problem === null) return db;
  db.$client.close();
  throw new SaidError(problem);
}

/**
 * Returns why a file cannot be restored; null if nothing prevents it. Drops triggers that are not those of this release, before they can
 * run. The schema is checked first, because the other checks may run triggers and expressions of the schema.
 */
function problemOf(db: Db, file: string): Sentence | null {
  const damaged = (reason: Said) => sentence('backup_damaged', { file, reason });
  const tables = ['installation', 'accounts', 'contacts', 'mailings'];
  try {
    if (!tables.every((table) => hasTable(db.$client, table))) return sentence('backup_foreign', { file });
    if (schemaState(db.$client) === 'newer') return sentence('backup_newer', { file });
    const foreign = findForeignPart(db.$client);
    if (foreign !== null) return damaged(sentence('backup_changed', { name: foreign }));
    // The triggers may be from another release, or malicious. The upgrade installs the triggers of this release.
    if (hasTriggersOutsideMigrations(db.$client) && !hasCurrentTriggers(db.$client)) dropTriggers(db.$client);
    const integrity = checkIntegrity(db);
    return integrity === 'ok' ? null : damaged(integrity);
  } catch (error) {
    // A file can be so damaged that a check throws.
    return damaged(saidBy(error));
  }
}

/**
 * Checks an uploaded file and compares it with the database at `databasePath`. Upgrades the schema of the file, so that the upgrade cannot
 * fail when Sendlark starts after the restore. Throws as `openBackup` does. Leaves the database in one file, without a write-ahead log.
 */
export function checkBackup(path: string, name: string, databasePath: string): Comparison {
  const backup = openBackup(path, name);
  try {
    try {
      migrateAndSeed(backup);
    } catch (error) {
      throw new SaidError(sentence('backup_damaged', { file: name, reason: saidBy(error) }));
    }
    const current = connect(databasePath);
    try {
      return compare(backup.$client, current.$client);
    } finally {
      current.$client.close();
    }
  } finally {
    backup.$client.pragma('journal_mode = DELETE');
    backup.$client.close();
  }
}

function compare(backup: Database, current: Database): Comparison {
  const isOwn = allSecrets(backup).some((secret) => allSecrets(current).includes(secret));
  const beat = latestBeatAt(backup);
  const madeAt = copiedAt(backup) ?? (beat === 0 ? null : isoTimestamp(new Date(beat)));
  // Ids are never used twice, so rows with higher ids were added after the backup.
  const countSince = (table: string) => count(current, table, isOwn ? lastId(backup, table) : 0);
  return {
    made_at: madeAt,
    is_own: isOwn ? 1 : 0,
    people: count(backup, 'contacts'),
    mailings: count(backup, 'mailings'),
    people_now: count(current, 'contacts'),
    mailings_now: count(current, 'mailings'),
    people_lost: countSince('contacts'),
    mailings_lost: countSince('mailings'),
    left_since: countSince('unsubscribers') + countSince('suppressions'),
  };
}

/** Opens a file. Throws a SaidError, which calls the file `name`, if it is not a database or damaged. */
function openFile(path: string, name: string): Db {
  try {
    return connect(path);
  } catch (error) {
    const cause = error instanceof Error ? error.cause : null;
    const isForeign =
      error instanceof ForeignDatabase || (cause instanceof Error && 'code' in cause && cause.code === 'SQLITE_NOTADB');
    const problem = isForeign
      ? sentence('backup_foreign', { file: name })
      : sentence('backup_damaged', { file: name, reason: saidBy(cause ?? error) });
    throw new SaidError(problem);
  }
}

function hasTable(client: Database, table: string): boolean {
  return client.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table) !== undefined;
}

/** Returns the highest id that a table has ever had; 0 if it has never had a row. */
function lastId(client: Database, table: string): number {
  return Number(client.prepare('SELECT ifnull(max(seq), 0) FROM sqlite_sequence WHERE name = ?').pluck().get(table));
}

/** Counts the rows with an id beyond `after`. Deleted contacts do not count. */
function count(client: Database, table: string, after = 0): number {
  const andPresent = table === 'contacts' ? 'AND deleted_at IS NULL' : '';
  return Number(client.prepare(`SELECT count(*) FROM ${table} WHERE id > ? ${andPresent}`).pluck().get(after));
}

/** SQLite's own tables, and Drizzle's list of migrations. */
const IGNORED_TABLES = ['sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4', '__drizzle_migrations'];
/** The two tables that Litestream adds to a database that it replicates, with their SQL. Backups contain them, too. */
const LITESTREAM_TABLES = new Map([
  ['table _litestream_lock', 'CREATE TABLE _litestream_lock (id INTEGER)'],
  ['table _litestream_seq', 'CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)'],
]);

/**
 * Compares the schema of a file with the schema of the release that made the file. Returns the first part that is missing or differs, such as
 * `trigger spy`; null if all parts are the same. Runs nothing from the file. Compares triggers only if they are part of migrations. Throws
 * if the schema cannot be read.
 */
export function findForeignPart(client: Database): string | null {
  const actual = partsOf(client);
  const comparesTriggers = !hasTriggersOutsideMigrations(client);
  const expected = partsAfterMigration(newestMigration(client), comparesTriggers);
  for (const [name, definition] of LITESTREAM_TABLES) if (actual.get(name) === definition) actual.delete(name);
  const isCompared = (name: string) => comparesTriggers || !name.startsWith('trigger ');
  for (const name of new Set([...actual.keys(), ...expected.keys()]))
    if (isCompared(name) && actual.get(name) !== expected.get(name)) return name;
  return null;
}

/**
 * Returns the parts of the schema after all migrations up to this one, by its time in epoch milliseconds. Triggers are left out unless they
 * are needed, because SQLite would parse all of them again for each table that a migration changes, which takes half of the time. Each
 * part of a migration is one statement, perhaps after comments.
 */
function partsAfterMigration(newest: number, needsTriggers: boolean): Map<string, string> {
  const client = new Sqlite(':memory:');
  try {
    addFunctions(client);
    const migrations = readMigrationFiles({ migrationsFolder: fileURLToPath(MIGRATIONS) });
    const statements = migrations.flatMap(({ sql, folderMillis }) => (folderMillis <= newest ? sql : []));
    for (const statement of statements)
      if (needsTriggers || !/^(CREATE|DROP) TRIGGER/m.test(statement)) client.exec(statement);
    return partsOf(client);
  } finally {
    client.close();
  }
}

/** Returns each part of a schema, such as `index contacts_type`, with its SQL. Leaves out SQLite's automatic indexes, which have no SQL. */
function partsOf(client: Database): Map<string, string> {
  const rows = client
    .prepare<[], { type: string; name: string; sql: string }>(
      'SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL',
    )
    .all();
  const parts = rows.filter(({ type, name }) => type !== 'table' || !IGNORED_TABLES.includes(name));
  return new Map(parts.map(({ type, name, sql }) => [`${type} ${name}`, sql]));
}
