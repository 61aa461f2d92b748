/** Which schemas count as made by Sendlark: those of every release, and no others. */
import { readMigrationFiles } from 'drizzle-orm/migrator';
import t from 'tap';
import { findForeignPart } from '../../src/backups/foreign-schema.ts';
import { connect } from '../../src/database/open.ts';
import { MIGRATIONS, oldDatabase, releases } from '../support/releases.ts';

t.test('the schema of every release is known', async (t) => {
  const { $client } = connect(oldDatabase(t, 1));
  $client.pragma('synchronous = OFF');
  const note = $client.prepare('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)');
  t.equal(findForeignPart($client), null);
  const later = readMigrationFiles({ migrationsFolder: MIGRATIONS }).slice(1);
  t.equal(later.length, releases.length - 1);
  for (const { sql, hash, folderMillis } of later) {
    for (const statement of sql) $client.exec(statement);
    note.run(hash, folderMillis);
    t.equal(findForeignPart($client), null, hash);
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
  t.equal(findForeignPart($client), 'the table _litestream_lock');
  $client.close();
});

t.test('what somebody else added, changed or removed is named', async (t) => {
  const changes: [string, string][] = [
    ['CREATE TRIGGER spy AFTER INSERT ON contacts BEGIN DELETE FROM users; END', 'the trigger spy'],
    ['CREATE VIEW spy AS SELECT 1', 'the view spy'],
    ['CREATE VIRTUAL TABLE spy USING fts5(text)', 'the table spy'],
    ['CREATE INDEX spy ON contacts (lower(email))', 'the index spy'],
    ['ALTER TABLE users ADD COLUMN spy', 'the table users'],
    ['DROP TRIGGER single_sends_versioned', 'the trigger single_sends_versioned'],
    ['DROP TABLE own_templates', 'the table own_templates'],
  ];
  const path = oldDatabase(t, releases.length);
  for (const [sql, part] of changes) {
    const { $client } = connect(path);
    $client.exec(`BEGIN; ${sql}`);
    t.equal(findForeignPart($client), part);
    $client.exec('ROLLBACK');
    $client.close();
  }
});
