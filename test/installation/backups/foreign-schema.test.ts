/** Which schemas count as made by Sendlark: those of its releases, and no others. */
import type { Database } from 'better-sqlite3';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import t from 'tap';
import { connect } from '../../../src/database/open.ts';
import { migrateAndSeed } from '../../../src/database/upgrade.ts';
import { findForeignPart, openBackup } from '../../../src/installation/backups/check-backup.ts';
import { MIGRATIONS, oldDatabase, releases } from '../../support/releases.ts';

const SPY = 'CREATE TRIGGER spy AFTER INSERT ON contacts BEGIN DELETE FROM users; END';
/** How many migrations there were when the last of them had triggers. */
const LAST_WITH_TRIGGERS = 66;
/**
 * Which releases are looked at: each check applies all migrations up to its release anew, and what one migration makes otherwise than the
 * check does is there in later releases, too.
 */
const isLookedAt = (release: number) =>
  release % 20 === 0 || Math.abs(release - LAST_WITH_TRIGGERS) <= 1 || release > releases.length - 3;

t.test('the schema of releases from the first to this one is known', async (t) => {
  const { $client } = connect(oldDatabase(t, 1));
  $client.pragma('synchronous = OFF');
  const note = $client.prepare('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)');
  t.equal(findForeignPart($client), null);
  const later = readMigrationFiles({ migrationsFolder: MIGRATIONS }).slice(1);
  t.equal(later.length, releases.length - 1);
  for (const [at, { sql, hash, folderMillis }] of later.entries()) {
    for (const statement of sql) $client.exec(statement);
    note.run(hash, folderMillis);
    if (isLookedAt(at + 2)) t.equal(findForeignPart($client), null, hash);
  }
  $client.exec('ANALYZE');
  t.equal(findForeignPart($client), null, 'also with the statistics of SQLite');
  $client.close();
});

t.test('the two tables of Litestream are known, under these names and as Litestream makes them alone', async (t) => {
  const { $client } = connect(oldDatabase(t, releases.length));
  $client.exec('CREATE TABLE IF NOT EXISTS _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);');
  $client.exec('CREATE TABLE IF NOT EXISTS _litestream_lock (id INTEGER);');
  t.equal(findForeignPart($client), null);
  $client.exec('ALTER TABLE _litestream_lock ADD COLUMN spy');
  t.equal(findForeignPart($client), 'table _litestream_lock');
  $client.close();
});

t.test('what somebody else added, changed or removed is named', async (t) => {
  const changes: [string, string][] = [
    ['CREATE VIEW spy AS SELECT 1', 'view spy'],
    ['CREATE VIRTUAL TABLE spy USING fts5(text)', 'table spy'],
    ['CREATE INDEX spy ON contacts (lower(email))', 'index spy'],
    ['ALTER TABLE users ADD COLUMN spy', 'table users'],
    ['DROP TABLE own_templates', 'table own_templates'],
  ];
  const triggers: typeof changes = [
    [SPY, 'trigger spy'],
    ['DROP TRIGGER single_sends_versioned', 'trigger single_sends_versioned'],
  ];
  for (const [path, parts] of [
    [oldDatabase(t, releases.length), changes],
    [oldDatabase(t, LAST_WITH_TRIGGERS), triggers],
  ] as const)
    for (const [sql, part] of parts) {
      const { $client } = connect(path);
      $client.exec(`BEGIN; ${sql}`);
      t.equal(findForeignPart($client), part);
      $client.exec('ROLLBACK');
      $client.close();
    }
});

t.test(
  'a trigger of somebody else in a backup never runs, and the upgrade gives it those of this release',
  async (t) => {
    const path = oldDatabase(t, releases.length);
    const db = connect(path);
    migrateAndSeed(db);
    const made = triggersOf(db.$client);
    db.$client.exec(SPY);
    db.$client.close();
    const backup = openBackup(path, 'backup.db');
    t.strictSame(triggersOf(backup.$client), []);
    migrateAndSeed(backup);
    t.strictSame(triggersOf(backup.$client), made);
    backup.$client.close();
  },
);

function triggersOf(client: Database): unknown[] {
  return client.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY rowid").all();
}
