/** The one file: what a connection promises, which schemas are taken, what a kill leaves. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { assertVersion, connect, lockForServer, migrateAndSeed, schemaState } from '../../src/database/open.ts';
import { MIGRATIONS, oldDatabase, releases } from './releases.ts';

/** The migrations of version 0.1.0. */
const FIRST_RELEASE = 2;
/** Beyond what the seed uses; the same for keys and references, so that the references hold. */
const NUMBER = 777_001;

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

t.test('a database of any earlier release is brought to the newest schema with its data', async (t) => {
  const fresh = connect(join(folder(t), 'fresh.db'));
  migrateAndSeed(fresh);
  for (let count = 1; count <= releases.length; count++) {
    const db = connect(oldDatabase(t, count));
    t.equal(schemaState(db.$client), count === releases.length ? 'current' : 'older');
    migrateAndSeed(db);
    t.equal(schemaState(db.$client), 'current');
    t.strictSame(schemaOf(db.$client), schemaOf(fresh.$client), `from ${releases[count - 1]?.tag}`);
    t.equal(db.$client.prepare('SELECT name FROM accounts WHERE id = 7').pluck().get(), 'Kept');
    t.strictSame(db.$client.pragma('foreign_key_check'), []);
    db.$client.close();
  }
  fresh.$client.close();
});

t.test('an upgrade from the first release keeps every row of every table', async (t) => {
  const path = oldDatabase(t, FIRST_RELEASE);
  const { $client } = connect(path);
  // Joins and leaves that wait to be taken in are work, not records; their own test is the next.
  const tables = tablesOf($client).filter((table) => table !== 'membership_changes');
  $client.pragma('foreign_keys = OFF');
  for (const table of tables) insertRow($client, table);
  const before = new Map(tables.map((table) => [table, rowsOf($client, table)]));
  $client.close();

  const db = connect(path);
  migrateAndSeed(db);
  for (const [table, rows] of before) {
    t.ok(rows.length > 0, `${table} has a row`);
    const after = rowsOf(db.$client, table);
    for (const row of rows)
      t.ok(
        after.some((found) => isSubset(row, found)),
        `${table} keeps it`,
      );
  }
  db.$client.close();
});

t.test(
  'an upgrade from the first release keeps the joins and leaves that automations are still to take in',
  async (t) => {
    const path = oldDatabase(t, FIRST_RELEASE);
    const { $client } = connect(path);
    const now = Date.UTC(2026, 0, 2);
    $client.pragma('foreign_keys = OFF');
    const automation = $client.prepare(`
    INSERT INTO automations (id, utr, user_id, automation_name, unsubscribe_group_id, automation_type, automation_for_table, automation_for, status, exit_criteria, live_at, created_at, updated_at)
    VALUES (?, ?, 7, 'A', '1', 1, 'contacts', ?, ?, ?, '2026-01-01 00:00:00', '', '')`);
    automation.run(1, 'live', 5, 1, 0);
    automation.run(2, 'paused', 5, 2, 1);
    automation.run(3, 'elsewhere', 6, 1, 1);
    const change = $client.prepare(`
    INSERT INTO membership_changes (user_id, target_table, target_id, address_id, contact_id, change, happened_at)
    VALUES (7, 'contacts', 5, ?, NULL, ?, ?)`);
    $client.exec(
      "INSERT INTO addresses (id, user_id, compared_email) VALUES (11, 7, 'a@example.com'), (12, 7, 'b@example.com')",
    );
    change.run(11, 'joined', now);
    change.run(12, 'left', now);
    $client.close();

    const db = connect(path);
    migrateAndSeed(db);
    t.strictSame(
      db.$client.prepare('SELECT automation_id, address_id, change FROM membership_changes ORDER BY id').raw().all(),
      [
        [1, 11, 'joined'],
        [2, 12, 'left'],
      ],
    );
    db.$client.close();
  },
);

t.test(
  'people whose mail of an automation is queued at the upgrade wait for it, and a deleted mail is cancelled',
  async (t) => {
    const path = oldDatabase(
      t,
      releases.findIndex(({ tag }) => tag.endsWith('_series')),
    );
    const { $client } = connect(path);
    $client.pragma('foreign_keys = OFF');
    $client.exec(`
    INSERT INTO addresses (id, user_id, compared_email) VALUES (11, 7, 'a@example.com'), (12, 7, 'b@example.com');
    INSERT INTO automations (id, utr, user_id, automation_name, unsubscribe_group_id, automation_type, created_at, updated_at)
      VALUES (1, 'one', 7, 'A', '1', 1, '', '');
    INSERT INTO automation_schedules (id, user_id, automation_id, sender_id, subject, waiting_period, waiting_type, utr, template_id,
      preview_img, created_at, updated_at) VALUES (5, 7, 1, 3, 's', 1, 'days', 's5', 1, '', '', '');
    INSERT INTO mailings (id, user_id, owner_kind, owner_id, automation_id, content, state, created_at)
      VALUES (1, 7, 'schedule', 4, 1, '{}', 'paused', ''), (2, 7, 'schedule', 5, 1, '{}', 'sending', '');
    INSERT INTO deliveries (id, mailing_id, address_id, state) VALUES (21, 2, 11, 0), (22, 2, 12, 2);
    INSERT INTO enrolments (id, automation_id, address_id, state, entered_at, schedule_id, waiting_since, due_at)
      VALUES (31, 1, 11, 'finished', 1, 5, 2, 3), (32, 1, 12, 'active', 1, 5, 2, 3);
    INSERT INTO steps (enrolment_id, schedule_id, delivery_id, taken_at)
      VALUES (31, 4, NULL, 1), (31, 5, 21, 2), (32, 4, NULL, 1), (32, 5, 22, 2)`);
    $client.close();
    const db = connect(path);
    migrateAndSeed(db);
    t.strictSame(db.$client.prepare('SELECT state, schedule_id, delivery_id FROM enrolments ORDER BY id').raw().all(), [
      ['active', 4, 21],
      ['active', 5, null],
    ]);
    t.strictSame(db.$client.prepare('SELECT state, sender_id FROM mailings ORDER BY id').raw().all(), [
      ['cancelled', null],
      ['sending', 3],
    ]);
    db.$client.close();
  },
);

function tablesOf(client: Database.Database): string[] {
  return client
    .prepare<[], string>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE '__drizzle%'",
    )
    .pluck()
    .all();
}

function insertRow(client: Database.Database, table: string): void {
  const columns = client.pragma(`table_xinfo(${table})`) as { name: string; type: string; hidden: number }[];
  const own = columns.filter(({ hidden }) => hidden === 0);
  const values = own.map(({ type }) =>
    /INT|REAL/i.test(type) ? NUMBER : /BLOB/i.test(type) ? Buffer.from('7') : '["7"]',
  );
  client
    .prepare(
      `INSERT INTO ${table} (${own.map(({ name }) => `"${name}"`).join()}) VALUES (${own.map(() => '?').join()})`,
    )
    .run(...values);
}

function rowsOf(client: Database.Database, table: string): Record<string, unknown>[] {
  return client.prepare<[], Record<string, unknown>>(`SELECT * FROM ${table}`).all();
}

/** Whether `found` has every column of `row` with its value; a later release may add columns. */
function isSubset(row: Record<string, unknown>, found: Record<string, unknown>): boolean {
  return Object.entries(row).every(([name, value]) => JSON.stringify(found[name]) === JSON.stringify(value));
}

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
    .flatMap(({ tag }) => readFileSync(join(MIGRATIONS, `${tag}.sql`), 'utf8').split('--> statement-breakpoint'));
  for (const fatal of [1, 2, Math.ceil(statements.length / 2), statements.length, statements.length + 1]) {
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

function schemaIn(path: string): unknown[] {
  const client = new Database(path, { readonly: true });
  const schema = schemaOf(client);
  client.close();
  return schema;
}

/** Migrates in a process that kills itself before its change number `fatal`; gives the signal it died of. */
function migrateAndDie(path: string, fatal: number): string | null {
  const script = `
    import { connect, migrateAndSeed } from '${resolve(import.meta.dirname, '../../src/database/open.ts')}';
    const db = connect('${path}');
    const prepare = db.$client.prepare.bind(db.$client);
    let changes = 0;
    db.$client.prepare = (sql) => {
      if (/^\\s*(CREATE (?!TABLE IF NOT)|ALTER|DROP|DELETE|INSERT)/i.test(sql) && ++changes === ${fatal}) process.kill(process.pid, 'SIGKILL');
      return prepare(sql);
    };
    migrateAndSeed(db);`;
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
  });
  if (child.signal === null) throw new Error(`it lived: ${child.stderr}`);
  return child.signal;
}
