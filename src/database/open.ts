/** Opens the database file, with the pragmas that durability depends on and the SQL functions that the schema uses. */

import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type Database from 'better-sqlite3';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';
import { english } from '../errors/stored.ts';
import { Connection } from './connection.ts';
import { databaseFault, ForeignDatabase, openingFault } from './faults.ts';
import { fold } from './functions/fold.ts';
import { packContent } from './functions/packed-content.ts';
import { findPictureIds } from './functions/picture-ids.ts';
import { reasonKind } from './functions/reply-kind.ts';
import { makePrivateFile } from './private-file.ts';

export type Db = BetterSQLite3Database & { $client: Database.Database };

/** The first release of SQLite that does not corrupt databases in WAL mode. */
const MIN_SQLITE = [3, 51, 3] as const;

/** "SLrk": marks a file as Sendlark's (https://www.sqlite.org/pragma.html#pragma_application_id). */
export const APPLICATION_ID = 0x534c726b;

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
