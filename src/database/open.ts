/** Opens the database file: pragmas, migrations, triggers, and the lock that keeps a second server out. */

import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { english } from '../errors/stored.ts';
import { fold } from './functions/fold.ts';
import { packContent } from './functions/packed-content.ts';
import { findPictureIds } from './functions/picture-ids.ts';
import { reasonKind } from './functions/reply-kind.ts';
import { makePrivateFile } from './private-file.ts';
import { seed } from './seed.ts';

export type Db = BetterSQLite3Database & { $client: Database.Database };

export const MIGRATIONS = new URL('../../drizzle/', import.meta.url);
const MIN_SQLITE = [3, 51, 3] as const;

/**
 * Opens a connection with the pragmas that durability depends on. A missing file is created, readable by its owner only. Throws
 * when the file system or this build of SQLite does not support them.
 */
export function connect(path: string): Db {
  const client = opened(path);
  client.pragma('busy_timeout = 5000');
  // This takes effect only in a file without tables. It lets `sendlark purge` return space to the disk in small steps.
  client.pragma('auto_vacuum = INCREMENTAL');
  client.pragma('journal_mode = WAL');
  client.pragma('synchronous = FULL');
  client.pragma('foreign_keys = ON');
  // What is changed or removed is overwritten in the file, so that nobody reads in its bytes who was erased (for what stays see `mayHaveErasedCopies`).
  client.pragma('main.secure_delete = ON');
  const found = [
    client.pragma('journal_mode', { simple: true }),
    client.pragma('synchronous', { simple: true }),
    client.pragma('foreign_keys', { simple: true }),
  ];
  if (found.join() !== 'wal,2,1')
    throw new Error(`The database refuses WAL, synchronous=FULL or foreign keys: ${path}`);
  assertVersion(String(client.prepare('SELECT sqlite_version()').pluck().get()));
  addFunctions(client);
  return drizzle(client);
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

/** Like `new Database`, but when a file cannot be opened the Error names the file and the reason. */
function opened(path: string, options?: Database.Options): Database.Database {
  const failure = (reason: string) => new Error(`The database ${path} cannot be opened: ${reason}`);
  const folder = dirname(resolve(path));
  if (!existsSync(folder)) throw failure(`there is no folder ${folder}`);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw failure('it is a folder');
  try {
    if (path !== ':memory:') makePrivateFile(path);
    return new Database(path, options);
  } catch (error) {
    throw failure(error instanceof Error ? error.message : String(error));
  }
}

/** Throws for a version of SQLite, such as `3.51.2`, that is older than the release which fixed the corruption of databases in WAL mode. */
export function assertVersion(version: string): void {
  const parts = version.split('.').map(Number);
  const difference = MIN_SQLITE.map((oldest, at) => (parts[at] ?? 0) - oldest).find((delta) => delta !== 0) ?? 0;
  if (difference < 0) throw new Error(`SQLite ${version} is too old: ${MIN_SQLITE.join('.')} or newer is needed`);
}

/** When the newest migration with triggers was made. Up to it, migrations make and drop triggers; later ones run while there are none. */
const LAST_WITH_TRIGGERS = 1795452498184;

/**
 * Upgrades the schema with its triggers to this release, in one transaction, and loads the reference data. Throws when a newer release has
 * written the file.
 */
export function migrateAndSeed(db: Db): void {
  const client = db.$client;
  const state = schemaState(client);
  if (state === 'newer')
    throw new Error('The database was written by a newer release of Sendlark: upgrade the program');
  if (state === 'older') client.transaction(() => upgrade(client)).immediate();
  seed(client);
}

function upgrade(client: Database.Database): void {
  // Letter by letter as Drizzle made it in files of earlier releases.
  client.exec(
    'CREATE TABLE IF NOT EXISTS "__drizzle_migrations" (\n\t\t\t\tid SERIAL PRIMARY KEY,\n\t\t\t\thash text NOT NULL,\n\t\t\t\tcreated_at numeric\n\t\t\t)',
  );
  const note = client.prepare('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)');
  const newest = newestMigration(client);
  for (const { sql, hash, folderMillis } of readMigrationFiles({ migrationsFolder: fileURLToPath(MIGRATIONS) })) {
    if (folderMillis <= newest) continue;
    // Triggers of the release before may read what a migration changes.
    if (folderMillis > LAST_WITH_TRIGGERS) dropTriggers(client);
    for (const statement of sql) client.prepare(statement).run();
    note.run(hash, folderMillis);
  }
  if (!hasTriggers(client)) installTriggers(client);
}

/** Whether a file's schema is older or newer than this release's, judged by its newest migration and its triggers. A file without migrations is older. */
export function schemaState(client: Database.Database): 'older' | 'current' | 'newer' {
  const table = client.prepare("SELECT 1 FROM sqlite_master WHERE name = '__drizzle_migrations'").get();
  if (table === undefined) return 'older';
  const journal: { entries: { when: number }[] } = JSON.parse(
    readFileSync(new URL('meta/_journal.json', MIGRATIONS), 'utf8'),
  );
  const known = Math.max(...journal.entries.map((entry) => entry.when));
  const newest = newestMigration(client);
  if (newest > known) return 'newer';
  return newest < known || !hasTriggers(client) ? 'older' : 'current';
}

/** Whether a file's triggers are no part of its migrations, so that they can be removed until it is upgraded. */
export function hasTriggersApart(client: Database.Database): boolean {
  return newestMigration(client) >= LAST_WITH_TRIGGERS;
}

/** When a file's newest migration was made, epoch milliseconds; 0: it has none. */
export function newestMigration(client: Database.Database): number {
  return Number(client.prepare('SELECT max(created_at) FROM __drizzle_migrations').pluck().get());
}

/**
 * Locks the file for this process until it ends, even by a crash. Throws when another server has locked it; the message ends with
 * `advice`, if given.
 */
export function lockForServer(path: string, advice?: string): { release(): void } {
  // SQLite follows symbolic links, so two names of one file must share one lock.
  const file = existsSync(path) ? realpathSync(path) : path;
  if (existsSync(file) && statSync(file).isDirectory())
    throw new Error(`The database ${path} cannot be opened: it is a folder`);
  const lock = opened(`${file}-lock`, { timeout: 0 });
  try {
    lock.pragma('journal_mode = DELETE');
    lock.exec('BEGIN EXCLUSIVE');
  } catch {
    lock.close();
    throw new Error(`Another Sendlark server is running on ${path}${advice ? `. ${advice}` : ''}`);
  }
  return { release: () => lock.close() };
}

/** The triggers of this release as SQLite keeps their text, in the order in which they are made. */
const TRIGGERS: readonly string[] =
  readFileSync(new URL('../../drizzle/triggers.sql', import.meta.url), 'utf8').match(
    /^CREATE TRIGGER [\s\S]*?^END(?=;$)/gm,
  ) ?? [];

/** Whether a database has the triggers of this release, in their order, and no others. */
export function hasTriggers(client: Database.Database): boolean {
  const found = client.prepare("SELECT sql FROM sqlite_master WHERE type = 'trigger' ORDER BY rowid").pluck().all();
  return found.length === TRIGGERS.length && TRIGGERS.every((sql, at) => sql === found[at]);
}

/** Gives a database the triggers of this release in place of those that it has. Call inside a transaction. */
function installTriggers(client: Database.Database): void {
  dropTriggers(client);
  for (const sql of TRIGGERS) client.prepare(sql).run();
}

/** Removes all triggers of a database, whoever made them. */
export function dropTriggers(client: Database.Database): void {
  const names = client.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'trigger'").pluck().all();
  for (const name of names) client.prepare(`DROP TRIGGER "${name.replaceAll('"', '""')}"`).run();
}
