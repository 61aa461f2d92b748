/** Upgrades the schema and the triggers of a database file to this release, and tells how old they are. */

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type Database from 'better-sqlite3';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { APPLICATION_ID, type Db } from './open.ts';
import { seed } from './reference-data.ts';

/** The folder of the migrations. */
export const MIGRATIONS = new URL('../../drizzle/', import.meta.url);

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
