/**
 * What of a file's schema no release of Sendlark made. A trigger, a view or a virtual table of somebody else runs inside the service as
 * soon as the file is written to or read, so such a file must not become the database.
 */
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { addFunctions, hasTriggersApart, MIGRATIONS, newestMigration } from '../database/open.ts';

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
export function findForeignPart(client: Database.Database): string | null {
  const [found, made] = [partsOf(client), partsMadeUntil(newestMigration(client))];
  for (const [name, definition] of OF_LITESTREAM) if (found.get(name) === definition) found.delete(name);
  const isCompared = hasTriggersApart(client) ? (name: string) => !name.startsWith('the trigger ') : () => true;
  for (const name of new Set([...found.keys(), ...made.keys()]))
    if (isCompared(name) && found.get(name) !== made.get(name)) return name;
  return null;
}

/** The schema of the release whose newest migration is of this time, epoch milliseconds. */
function partsMadeUntil(newest: number): Map<string, string> {
  const client = new Database(':memory:');
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
function partsOf(client: Database.Database): Map<string, string> {
  const rows = client
    .prepare<[], { type: string; name: string; sql: string }>(
      'SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL',
    )
    .all();
  const own = rows.filter(({ type, name }) => type !== 'table' || !OTHERS.includes(name));
  return new Map(own.map(({ type, name, sql }) => [`the ${type} ${name}`, sql]));
}
