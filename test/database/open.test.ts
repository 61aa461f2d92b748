/** The one file: what a connection promises, which schemas are taken, what a kill leaves. */
import { spawnSync } from 'node:child_process';
import { linkSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { databaseFault, openingFault } from '../../src/database/faults.ts';
import { assertVersion, connect } from '../../src/database/open.ts';
import { lockForServer } from '../../src/database/server-lock.ts';
import { migrateAndSeed, schemaState } from '../../src/database/upgrade.ts';
import { MIGRATIONS, oldDatabase, releases } from '../support/releases.ts';
import { scriptArguments } from '../support/run-script.ts';

function folder(t: Test): string {
  const made = mkdtempSync(join(tmpdir(), 'sendlark-open-'));
  t.teardown(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

function schemaOf(client: Database.Database): unknown[] {
  return client.prepare('SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE ? ORDER BY name').all('sqlite%');
}

t.test('every connection has WAL, synchronous=FULL, foreign keys and patience', async (t) => {
  const { $client } = connect(join(folder(t), 'new.db'));
  const pragma = (name: string) => $client.pragma(name, { simple: true });
  t.equal(pragma('journal_mode'), 'wal');
  t.equal(pragma('synchronous'), 2);
  t.equal(pragma('foreign_keys'), 1);
  t.ok(Number(pragma('busy_timeout')) >= 5000);
  const version = String($client.prepare('SELECT sqlite_version()').pluck().get());
  t.ok(version.localeCompare('3.51.3', undefined, { numeric: true }) >= 0, version);
  $client.close();
});

t.test('a build of SQLite before 3.51.3 is refused with one line', async (t) => {
  for (const version of ['3.51.2', '3.9.9', '3.50.10', '2.99.99'])
    t.throws(() => assertVersion(version), { message: `SQLite ${version} is too old: 3.51.3 or newer is needed` });
  for (const version of ['3.51.3', '3.51.10', '3.53.2', '4.0.0']) t.doesNotThrow(() => assertVersion(version), version);
});

t.test('a file system that cannot do WAL is refused with one line', async (t) => {
  t.throws(() => connect(':memory:'), { message: /^The database refuses WAL[^\n]+$/ });
});

t.test('a second server on the file is refused with one line; the end of the first frees it', async (t) => {
  const path = join(folder(t), 'one.db');
  const first = lockForServer(path);
  t.throws(() => lockForServer(path), { message: `Another Sendlark server is running on ${path}` });
  first.release();
  lockForServer(path).release();
});

t.test(
  'a second server is refused although the lock file is gone, or the file has another name',
  { skip: process.platform !== 'linux' && 'abstract sockets are of Linux' },
  async (t) => {
    const path = join(folder(t), 'one.db');
    const refused = (name: string) => ({ message: `Another Sendlark server is running on ${name}` });
    const first = lockForServer(path);
    connect(path).$client.close();
    first.holdFile();
    rmSync(`${path}-lock`);
    t.throws(() => lockForServer(path), refused(path));
    const other = `${path}-other`;
    linkSync(path, other);
    t.throws(() => lockForServer(other), refused(other));
    // As a restore does.
    renameSync(other, `${path}-kept`);
    rmSync(path);
    connect(path).$client.close();
    first.holdFile();
    rmSync(`${path}-lock`, { force: true });
    t.throws(() => lockForServer(path), refused(path), 'the lock follows the file');
    lockForServer(`${path}-kept`).release();
    first.release();
    lockForServer(path).release();
  },
);

t.test("another program's database is refused unchanged; one of before the mark is taken and marked", async (t) => {
  const path = join(folder(t), 'other.db');
  for (const sql of ['CREATE TABLE notes (text)', 'PRAGMA application_id = 7']) {
    rmSync(path, { force: true });
    const other = new Database(path);
    other.exec(sql);
    other.close();
    const before = readFileSync(path);
    t.throws(() => connect(path), { message: `The database ${path} is not Sendlark's, but of another program` });
    t.ok(readFileSync(path).equals(before), sql);
  }
  const old = oldDatabase(t, releases.length - 1);
  const mark = (client: Database.Database) => client.pragma('application_id', { simple: true });
  const db = connect(old);
  t.equal(mark(db.$client), 0);
  migrateAndSeed(db);
  t.equal(mark(db.$client), 0x534c726b, 'SLrk');
  db.$client.close();
  connect(old).$client.close();
});

t.test('each way in which a file cannot be used is told with the file and the cure', async (t) => {
  const path = join(folder(t), 'broken.db');
  const fault = (bytes: Buffer | string) => {
    writeFileSync(path, bytes);
    try {
      const db = connect(path);
      try {
        migrateAndSeed(db);
      } finally {
        db.$client.close();
      }
    } catch (error) {
      return databaseFault(error, path).message;
    }
    return 'none';
  };
  t.equal(
    fault('not a database, but long enough that SQLite looks at what it is'.repeat(40)),
    `The database ${path} cannot be opened: it is no SQLite database. Look at DATABASE_PATH, or put the last backup in its place: sendlark restore BACKUP --force`,
  );
  rmSync(path);
  const whole = connect(path);
  migrateAndSeed(whole);
  whole.$client.pragma('journal_mode = DELETE');
  whole.$client.close();
  const bytes = readFileSync(path);
  bytes.fill(0xff, 100, 4000);
  t.match(fault(bytes), `The database ${path} cannot be opened: it is damaged. Keep a copy of it, then put the last`);
  const coded = (code: string) => openingFault(Object.assign(new Error(code), { code }), path).message;
  t.match(coded('SQLITE_FULL'), /broken\.db cannot be opened: the disk of \S+ is full\. Free some space/);
  t.match(coded('SQLITE_READONLY'), /broken\.db cannot be opened: the user \S+ may not read and write it; .*chown/);
  t.match(coded('SQLITE_IOERR_READ'), /broken\.db cannot be opened: the disk reports a fault/);
  t.equal(databaseFault(Object.assign(new Error('other'), { code: 'EACCES' }), path).message, 'other');
});

/** The triggers in the order in which they were made, which is the reverse of that in which they fire. */
function triggersOf(client: Database.Database): unknown[] {
  return client.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY rowid").all();
}

/** The migrations of versions 0.1.0 and 0.2.0. */
const OF_VERSIONS = [2, 73];

t.test('a database of any earlier release is brought to the newest schema and triggers with its data', async (t) => {
  const fresh = connect(join(folder(t), 'fresh.db'));
  migrateAndSeed(fresh);
  t.ok(triggersOf(fresh.$client).length > 50);
  // A database passes through the schemas of all later releases, so the releases between these would repeat the same migrations.
  const counts = releases
    .map((_release, at) => at + 1)
    .filter((count) => OF_VERSIONS.includes(count) || count % 10 === 1 || count > releases.length - 5);
  for (const count of counts) {
    const db = connect(oldDatabase(t, count));
    t.equal(schemaState(db.$client), 'older');
    migrateAndSeed(db);
    t.equal(schemaState(db.$client), 'current');
    t.strictSame(schemaOf(db.$client), schemaOf(fresh.$client), `from ${releases[count - 1]?.tag}`);
    t.strictSame(triggersOf(db.$client), triggersOf(fresh.$client));
    t.equal(db.$client.prepare('SELECT name FROM accounts WHERE id = 7').pluck().get(), 'Kept');
    t.strictSame(db.$client.pragma('foreign_key_check'), []);
    db.$client.close();
  }
  fresh.$client.close();
});

t.test('triggers that a release has changed, added or removed are replaced without a migration', async (t) => {
  const db = connect(join(folder(t), 'triggers.db'));
  const { $client } = db;
  migrateAndSeed(db);
  const made = triggersOf($client);
  for (const change of [
    'DROP TRIGGER webhooks_mail',
    'CREATE TRIGGER "an ""old"" one" AFTER INSERT ON contacts BEGIN DELETE FROM users; END',
    'DROP TRIGGER webhooks_mail; CREATE TRIGGER webhooks_mail AFTER INSERT ON events BEGIN SELECT 1; END',
  ]) {
    $client.exec(change);
    t.equal(schemaState($client), 'older');
    migrateAndSeed(db);
    t.strictSame(triggersOf($client), made);
  }
  const schema = $client.pragma('schema_version', { simple: true });
  migrateAndSeed(db);
  t.equal($client.pragma('schema_version', { simple: true }), schema, 'and are left alone otherwise');
  $client.close();
});

t.test('migrations make no triggers since these are in a file of their own', async (t) => {
  const last = releases.findIndex(({ tag }) => tag === '0066_purged_corrections');
  t.not(last, -1);
  for (const { tag } of releases.slice(last + 1))
    t.notMatch(readFileSync(join(MIGRATIONS, `${tag}.sql`), 'utf8'), /CREATE TRIGGER/i, tag);
});

t.test('a database of a newer release is refused and left as it is', async (t) => {
  const path = oldDatabase(t, releases.length);
  const db = connect(path);
  db.$client.prepare("INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('', ?)").run(Date.UTC(2100, 0));
  const before = schemaOf(db.$client);
  t.throws(() => migrateAndSeed(db), { message: /newer release of Sendlark: upgrade the program$/ });
  t.strictSame(schemaOf(db.$client), before);
  db.$client.close();
});

t.test('a kill within the migrations leaves the old schema or the new one', async (t) => {
  const statements = releases
    .slice(1)
    .flatMap(({ tag }) => readFileSync(join(MIGRATIONS, `${tag}.sql`), 'utf8').split('--> statement-breakpoint'))
    .filter((statement) => CHANGE.test(statement));
  const triggers = readFileSync(join(MIGRATIONS, 'triggers.sql'), 'utf8').match(/^CREATE TRIGGER/gm)?.length ?? 0;
  // Each migration is noted by one more change, and the triggers follow.
  const all = statements.length + releases.length;
  const amongTriggers = all + Math.floor(triggers / 2);
  for (const fatal of [1, 2, Math.ceil(statements.length / 2), statements.length, all, amongTriggers]) {
    const path = oldDatabase(t, 1);
    const before = schemaIn(path);
    t.equal(migrateAndDie(path, fatal), 'SIGKILL');
    t.strictSame(schemaIn(path), before, `killed at change ${fatal}: the old schema`);
    const db = connect(path);
    migrateAndSeed(db);
    t.equal(schemaState(db.$client), 'current', 'and the next start finishes the work');
    t.equal(db.$client.prepare('SELECT name FROM accounts WHERE id = 7').pluck().get(), 'Kept');
    db.$client.close();
  }
});

/** A statement that changes the schema or rows. */
const CHANGE = /^\s*(?:--.*\n)?(?:CREATE (?!TABLE IF NOT)|ALTER|DROP|DELETE|INSERT|UPDATE)/i;

function schemaIn(path: string): unknown[] {
  const client = new Database(path, { readonly: true });
  const schema = schemaOf(client);
  client.close();
  return schema;
}

/** Migrates in a process that kills itself before its change number `fatal`; gives the signal it died of. */
function migrateAndDie(path: string, fatal: number): string | null {
  const script = `
    import { connect } from '${resolve(import.meta.dirname, '../../src/database/open.ts')}';
    import { migrateAndSeed } from '${resolve(import.meta.dirname, '../../src/database/upgrade.ts')}';
    const db = connect('${path}');
    const prepare = db.$client.prepare.bind(db.$client);
    let changes = 0;
    db.$client.prepare = (sql) => {
      if (${CHANGE}.test(sql) && ++changes === ${fatal}) process.kill(process.pid, 'SIGKILL');
      return prepare(sql);
    };
    migrateAndSeed(db);`;
  const child = spawnSync(process.execPath, scriptArguments(script), {
    encoding: 'utf8',
  });
  if (child.signal === null) throw new Error(`it lived: ${child.stderr}`);
  return child.signal;
}
