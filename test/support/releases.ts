/** Databases as earlier releases left them. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { migrate } from 'drizzle-orm/better-sqlite3/migrator';
import type { Test } from 'tap';
import { connect } from '../../src/database/open.ts';
import { readPlacesIndex } from '../../src/database/place-data.ts';

export const MIGRATIONS = resolve(import.meta.dirname, '../../drizzle');

interface Journal {
  entries: { tag: string }[];
}

const JOURNAL: Journal = JSON.parse(readFileSync(join(MIGRATIONS, 'meta/_journal.json'), 'utf8'));

/** The migrations, oldest first. */
export const releases = JOURNAL.entries;

/** The databases made in this process, by the number of migrations, so that a later one is made of an earlier one. */
const made = new Map<number, Buffer>();

/** A database as a release with the first `count` migrations left it, with an account in it, and the last of the cities alone. */
export function oldDatabase(t: Test, count: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'sendlark-old-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'old.db');
  const nearest = Math.max(0, ...[...made.keys()].filter((known) => known <= count));
  const begun = made.get(nearest);
  if (begun !== undefined) writeFileSync(path, begun);
  if (nearest < count) {
    upgradeTo(count, path, join(folder, 'drizzle'));
    made.set(count, readFileSync(path));
  }
  return path;
}

function upgradeTo(count: number, path: string, migrations: string): void {
  mkdirSync(join(migrations, 'meta'), { recursive: true });
  const entries = releases.slice(0, count);
  for (const { tag } of entries) cpSync(join(MIGRATIONS, `${tag}.sql`), join(migrations, `${tag}.sql`));
  writeFileSync(join(migrations, 'meta/_journal.json'), JSON.stringify({ ...JOURNAL, entries }));
  const db = connect(path);
  migrate(db, { migrationsFolder: migrations });
  db.$client.exec("INSERT INTO accounts (id, name, created_at) VALUES (7, 'Kept', '') ON CONFLICT DO NOTHING");
  // A start takes the cities for complete then. Writing 150 000 of them takes a quarter of a second of CPU.
  db.$client
    .prepare("INSERT INTO cities (id, country_id, name) VALUES (?, 1, 'Last') ON CONFLICT DO NOTHING")
    .run(readPlacesIndex().cities);
  db.$client.close();
}
