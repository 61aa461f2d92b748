/** The triggers of the schema, which are all in one file, drizzle/triggers.sql. A file of the database that has others is given these. */
import { readFileSync } from 'node:fs';
import type { Database } from 'better-sqlite3';

/** The triggers of this release as SQLite keeps their text, in the order in which they are made. */
const TRIGGERS: readonly string[] =
  readFileSync(new URL('../../drizzle/triggers.sql', import.meta.url), 'utf8').match(
    /^CREATE TRIGGER [\s\S]*?^END(?=;$)/gm,
  ) ?? [];

/** Whether a database has the triggers of this release, in their order, and no others. */
export function hasTriggers(client: Database): boolean {
  const found = client.prepare("SELECT sql FROM sqlite_master WHERE type = 'trigger' ORDER BY rowid").pluck().all();
  return found.length === TRIGGERS.length && TRIGGERS.every((sql, at) => sql === found[at]);
}

/** Gives a database the triggers of this release in place of those that it has. Call inside a transaction. */
export function installTriggers(client: Database): void {
  dropTriggers(client);
  for (const sql of TRIGGERS) client.prepare(sql).run();
}

/** Removes all triggers of a database, whoever made them. */
export function dropTriggers(client: Database): void {
  const names = client.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'trigger'").pluck().all();
  for (const name of names) client.prepare(`DROP TRIGGER "${name.replaceAll('"', '""')}"`).run();
}
