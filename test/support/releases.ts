/** Databases as earlier releases left them. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { migrate } from 'drizzle-orm/better-sqlite3/migrator';
import type { Test } from 'tap';
import { connect } from '../../src/database/open.ts';

export const MIGRATIONS = resolve(import.meta.dirname, '../../drizzle');

interface Journal {
  entries: { tag: string }[];
}

const JOURNAL: Journal = JSON.parse(readFileSync(join(MIGRATIONS, 'meta/_journal.json'), 'utf8'));

/** The migrations, oldest first. */
export const releases = JOURNAL.entries;

/** A database as a release with the first `count` migrations left it, with an account in it. */
export function oldDatabase(t: Test, count: number): string {
  const made = mkdtempSync(join(tmpdir(), 'sendlark-old-'));
  t.teardown(() => rmSync(made, { recursive: true, force: true }));
  const migrations = join(made, 'drizzle');
  mkdirSync(join(migrations, 'meta'), { recursive: true });
  const entries = releases.slice(0, count);
  for (const { tag } of entries) cpSync(join(MIGRATIONS, `${tag}.sql`), join(migrations, `${tag}.sql`));
  writeFileSync(join(migrations, 'meta/_journal.json'), JSON.stringify({ ...JOURNAL, entries }));
  const path = join(made, 'old.db');
  const db = connect(path);
  migrate(db, { migrationsFolder: migrations });
  db.$client.exec("INSERT INTO accounts (id, name, created_at) VALUES (7, 'Kept', '')");
  db.$client.close();
  return path;
}
