/** Opens the database file: pragmas, migrations and triggers. */

import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type Database from 'better-sqlite3';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { english } from '../errors/stored.ts';
import { Connection } from './connection.ts';
import { databaseFault, ForeignDatabase, openingFault } from './faults.ts';
import { fold } from './functions/fold.ts';
import { packContent } from './functions/packed-content.ts';
import { findPictureIds } from './functions/picture-ids.ts';
import { reasonKind } from './functions/reply-kind.ts';
import { makePrivateFile } from './private-file.ts';
import { seed } from './reference-data.ts';

export type Db = BetterSQLite3Database & { $client: Database.Database };

/** The folder of the migrations. */
export const MIGRATIONS = new URL('../../drizzle/', import.meta.url);
/** The first release of SQLite that does not corrupt databases in WAL mode. */
const MIN_SQLITE = [3, 51, 3] as const;

/** "SLrk": marks a file as Sendlark's (https://www.sqlite.org/pragma.html#pragma_application_id). */
const APPLICATION_ID = 0x534c726b;

/**
 * Opens a connection with the pragmas that durability depends on. Creates a missing file, readable by its owner only. Throws if the file
 * belongs to another program, before anything in it is changed; if the file cannot be used, with the reason and the cure; or if the file
 * system or this build of SQLite does not support the pragmas.
 */
export function connect(path: string): Db {
  const client = openFile(path);
  try {
    setPragmas(client, path);
  } catch (error) {
    client.close();
    throw databaseFault(error, path);
  }
  addFunctions(client);
  return drizzle(client);
}

function setPragmas(client: Database.Database, path: string): void {
  client.pragma('busy_timeout = 5000');
  if (isForeign(client)) throw new ForeignDatabase(path);
  // This pragma takes effect only in a file without tables. It lets `sendlark purge` return space to the disk in small steps.
  client.pragma('auto_vacuum = INCREMENTAL');
  client.pragma('journal_mode = WAL');
  client.pragma('synchronous = FULL');
  client.pragma('foreign_keys = ON');
  // SQLite overwrites changed and removed content in the file, so that no personal data of erased contacts remains in its bytes
  // (`mayHaveErasedCopies` tells about the exceptions).
  client.pragma('main.secure_delete = ON');
  const settings = [
    client.pragma('journal_mode', { simple: true }),
    client.pragma('synchronous', { simple: true }),
    client.pragma('foreign_keys', { simple: true }),
  ];
  if (settings.join() !== 'wal,2,1')
    throw new Error(`The database refuses WAL, synchronous=FULL or foreign keys: ${path}`);
  assertVersion(String(client.prepare('SELECT sqlite_version()').pluck().get()));
}

/** Returns true if the file belongs to another program. Files of early releases, which have no mark, are recognised by their tables. */
export function isForeign(client: Database.Database): boolean {
  const mark = client.pragma('application_id', { simple: true });
  if (mark === APPLICATION_ID) return false;
  const tables = client.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all();
  if (tables.length === 0) return mark !== 0;
  return !['__drizzle_migrations', 'accounts', 'contacts'].every((table) => tables.includes(table));
}

/** Adds the SQL functions that the schema uses. */
export function addFunctions(client: Database.Database): void {
  client.function('fold', { deterministic: true }, (text) => (typeof text === 'string' ? fold(text) : ''));
  client.function('picture_ids', { deterministic: true }, (text) =>
    findPictureIds(typeof text === 'string' ? text : ''),
  );
  client.function('packed_content', { deterministic: true }, (template_id, template_json, template_html) =>
    packContent({
      template_id: Number(template_id),
      template_json: String(template_json ?? ''),
      template_html: String(template_html ?? ''),
    }),
  );
  client.function('reply_kind', { deterministic: true }, (reply) =>
    typeof reply === 'string' ? reasonKind(reply) : '',
  );
  client.function('english', { deterministic: true }, (text) => (typeof text === 'string' ? english(text) : null));
}

/** Like `new Database`, but if a file cannot be opened, the Error names the file and the reason. */
export function openFile(path: string, options?: Database.Options): Database.Database {
  const failure = (reason: string) => new Error(`The database ${path} cannot be opened: ${reason}`);
  const folder = dirname(resolve(path));
  if (!existsSync(folder)) throw failure(`there is no folder ${folder}`);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw failure('it is a folder');
  try {
    if (path !== ':memory:') makePrivateFile(path);
    return new Connection(path, options);
  } catch (error) {
    throw openingFault(error, path);
  }
}

/** Throws if a version of SQLite, such as `3.51.2`, is older than `MIN_SQLITE`. */
export function assertVersion(version: string): void {
  const parts = version.split('.').map(Number);
  const difference = MIN_SQLITE.map((oldest, at) => (parts[at] ?? 0) - oldest).find((delta) => delta !== 0) ?? 0;
  if (difference < 0) throw new Error(`SQLite ${version} is too old: ${MIN_SQLITE.join('.')} or newer is needed`);
}

/**
 * When the last migration with triggers was made, in epoch milliseconds. Migrations up to this one create and drop triggers themselves;
 * later migrations run without any triggers.
 */
const LAST_WITH_TRIGGERS = 1795452498184;

/**
 * Upgrades the schema and the triggers to this release in one transaction, and loads the reference data. Throws if a newer
 * release has written the file.
 */
export function migrateAndSeed(db: Db): void {
  const client = db.$client;
  const state = schemaState(client);
  if (state === 'newer')
    throw new Error('The database was written by a newer release of Sendlark: upgrade the program');
  if (state === 'older') client.transaction(() => upgrade(client)).immediate();
  // The mark is written only if it is missing, because a write waits for the lock.
  if (client.pragma('application_id', { simple: true }) !== APPLICATION_ID)
    client.pragma(`application_id = ${APPLICATION_ID}`);
  seed(client);
}

function upgrade(client: Database.Database): void {
  // Earlier releases let Drizzle create this table. The text is the same to the last character, so that all files have the same schema.
  client.exec(
    'CREATE TABLE IF NOT EXISTS "__drizzle_migrations" (\n\t\t\t\tid SERIAL PRIMARY KEY,\n\t\t\t\thash text NOT NULL,\n\t\t\t\tcreated_at numeric\n\t\t\t)',
  );
  const recordMigration = client.prepare('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)');
  const newest = newestMigration(client);
  for (const { sql, hash, folderMillis } of readMigrationFiles({ migrationsFolder: fileURLToPath(MIGRATIONS) })) {
    if (folderMillis <= newest) continue;
    // Triggers of the previous release may read what a migration changes.
    if (folderMillis > LAST_WITH_TRIGGERS) dropTriggers(client);
    for (const statement of sql) client.prepare(statement).run();
    recordMigration.run(hash, folderMillis);
  }
  if (!hasCurrentTriggers(client)) installTriggers(client);
}

/**
 * Returns whether a file's schema is older or newer than this release's, judged by its newest migration and its triggers. A
 * file without migrations is older.
 */
export function schemaState(client: Database.Database): 'older' | 'current' | 'newer' {
  const table = client.prepare("SELECT 1 FROM sqlite_master WHERE name = '__drizzle_migrations'").get();
  if (table === undefined) return 'older';
  const journal: { entries: { when: number }[] } = JSON.parse(
    readFileSync(new URL('meta/_journal.json', MIGRATIONS), 'utf8'),
  );
  const known = Math.max(...journal.entries.map((entry) => entry.when));
  const newest = newestMigration(client);
  if (newest > known) return 'newer';
  return newest < known || !hasCurrentTriggers(client) ? 'older' : 'current';
}

/** Returns true if a file's triggers are not part of its migrations, so that they can be removed until the file is upgraded. */
export function hasTriggersOutsideMigrations(client: Database.Database): boolean {
  return newestMigration(client) >= LAST_WITH_TRIGGERS;
}

/** Returns when a file's newest migration was made, in epoch milliseconds; 0 if the file has no migration. */
export function newestMigration(client: Database.Database): number {
  return Number(client.prepare('SELECT max(created_at) FROM __drizzle_migrations').pluck().get());
}

/** The triggers of this release, with the text that SQLite stores for them, in the order of their creation. */
const TRIGGERS: readonly string[] =
  readFileSync(new URL('../../drizzle/triggers.sql', import.meta.url), 'utf8').match(
    /^CREATE TRIGGER [\s\S]*?^END(?=;$)/gm,
  ) ?? [];

/** Returns true if a database has exactly the triggers of this release, in their order. */
export function hasCurrentTriggers(client: Database.Database): boolean {
  const installed = client.prepare("SELECT sql FROM sqlite_master WHERE type = 'trigger' ORDER BY rowid").pluck().all();
  return installed.length === TRIGGERS.length && TRIGGERS.every((sql, at) => sql === installed[at]);
}

/** Replaces the triggers of a database by the triggers of this release. Call inside a transaction. */
function installTriggers(client: Database.Database): void {
  dropTriggers(client);
  for (const sql of TRIGGERS) client.prepare(sql).run();
}

/** Removes all triggers of a database, also those that this program did not create. */
export function dropTriggers(client: Database.Database): void {
  const names = client.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'trigger'").pluck().all();
  for (const name of names) client.prepare(`DROP TRIGGER "${name.replaceAll('"', '""')}"`).run();
}
