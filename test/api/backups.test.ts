/** Backups through the API: what a download holds, what an upload is compared with, and which files are refused. */
import { copyFileSync, linkSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { connect } from '../../src/database/open.ts';
import { sendingHeldReason } from '../../src/delivery/queue/holds.ts';
import { Backups } from '../../src/installation/backups/backups.ts';
import { putWaitingInPlace } from '../../src/installation/backups/put-in-place.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { addPerson, callerOf } from '../support/people.ts';

async function prepared(t: Test) {
  const app = await startApp(t);
  const operator = callerOf(app, addPerson(app));
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const add = async (...addresses: string[]) => {
    const content = ['email', ...addresses.map((name) => `${name}@example.org`)].join('\n');
    const multipart: [string, string | { filename: string; content: string }][] = [
      ['contact_type_id', '1'],
      ['file', { filename: 'people.csv', content }],
    ];
    await app.one.call('POST', '/contacts/upload-csv', { multipart });
  };
  const download = async () => {
    const response = await app.fastify.inject({ url: '/api/backups/download', headers: operator.headers });
    return { status: response.statusCode, headers: response.headers, bytes: response.rawPayload };
  };
  const upload = (content: Buffer, filename = 'backup.db') =>
    operator.call('POST', '/backups/upload', { multipart: [['file', { filename, content }]] });
  return { app, operator, add, download, upload };
}

/** The files that backups and restores have left beside the database. */
function leftBeside({ path }: TestApp): string[] {
  const own = [basename(path), `${basename(path)}-wal`, `${basename(path)}-shm`];
  return readdirSync(dirname(path)).filter((name) => !own.includes(name));
}

t.test('a download is a checked backup, noted in the log, of which nothing is left', async (t) => {
  const { app, add, download, operator } = await prepared(t);
  await add('ann', 'bob');
  const { status, headers, bytes } = await download();
  t.equal(status, 200);
  t.match(headers, {
    'content-type': 'application/vnd.sqlite3',
    'content-length': String(bytes.length),
    'content-disposition': 'attachment; filename="sendlark-2026-01-15.db"',
    'cache-control': 'no-store',
  });
  t.strictSame(leftBeside(app), []);
  const copy = join(t.testdir(), 'copy.db');
  writeFileSync(copy, bytes);
  const client = new Database(copy, { readonly: true });
  t.teardown(() => client.close());
  t.strictSame(client.prepare('SELECT email FROM contacts ORDER BY id').pluck().all(), [
    'ann@example.org',
    'bob@example.org',
  ]);
  t.match(client.prepare("SELECT value FROM installation WHERE name = 'is_copy'").pluck().get(), /^20\d\d-/);
  const { backups } = (await operator.call('GET', '/backups')).body.message;
  t.match(backups, { last_backup_at: '2026-01-15T09:00:00.000000Z', restore: null });
  t.match(app.db.prepare('SELECT actor, action FROM audit_log ORDER BY id DESC LIMIT 1').get(), {
    actor: 'owner@example.org',
    action: 'backup_made',
  });
});

t.test('one backup is made at a time', async (t) => {
  const { download } = await prepared(t);
  const answers = await Promise.all([download(), download()]);
  t.strictSame(answers.map(({ status }) => status).sort(), [200, 409]);
  t.match(answers.find(({ status }) => status === 409)?.bytes.toString(), /is being made/);
});

t.test('who gives up a download ends no upload of another', async (t) => {
  const { app, download } = await prepared(t);
  const { bytes } = await download();
  const backups = new Backups(app.path);
  t.teardown(() => backups.close());
  const timer = setInterval(() => backups.stopMaking(), 1);
  t.teardown(() => clearInterval(timer));
  const { file_name } = await backups.take(bytes.length, async (path) => {
    writeFileSync(path, bytes);
    return 'backup.db';
  });
  t.equal(file_name, 'backup.db');
});

t.test('an uploaded backup is compared with what there is, and changes nothing before it is confirmed', async (t) => {
  const { app, add, download, upload, operator } = await prepared(t);
  await add('ann', 'bob');
  const { bytes } = await download();
  await add('cleo', 'dan', 'eve');
  await app.one.call('POST', '/global-unsubscribes/save', { form: { email_address: 'ann@example.org' } });
  const { restore } = (await upload(bytes, 'monday.db')).body.message;
  t.match(restore, {
    file_name: 'monday.db',
    is_own: 1,
    people: 2,
    people_now: 5,
    people_lost: 3,
    mailings_lost: 0,
    left_since: 1,
  });
  t.match(restore.made_at, /^20\d\d-/);
  t.equal(app.db.prepare('SELECT count(*) FROM contacts').pluck().get(), 5);
  const [file = ''] = leftBeside(app);
  t.equal(statSync(join(dirname(app.path), file)).mode & 0o777, 0o600, 'only its owner can read it');
  t.strictSame((await operator.call('GET', '/backups')).body.message.backups.restore, restore);
  t.equal((await operator.call('POST', '/backups/restore', { form: { upload_id: 'another' } })).status, 404);
  const again = (await upload(bytes)).body.message.restore;
  t.equal(leftBeside(app).length, 1, 'another upload takes its place');
  t.equal(
    (await operator.call('POST', '/backups/upload/drop', { form: { upload_id: restore.upload_id } })).status,
    404,
  );
  t.equal((await operator.call('POST', '/backups/upload/drop', { form: { upload_id: again.upload_id } })).status, 200);
  t.strictSame(leftBeside(app), []);
});

t.test('a file that is broken, something else, of a newer release or too large is refused and removed', async (t) => {
  const { app, add, download, upload } = await prepared(t);
  await add('ann');
  const { bytes } = await download();
  const changed = (sql: string) => {
    const path = join(t.testdir(), 'changed.db');
    writeFileSync(path, bytes);
    new Database(path).exec(sql).close();
    return readFileSync(path);
  };
  const broken = Buffer.from(bytes);
  broken.fill(0x55, 8192, 200_000);
  const other = join(t.testdir(), 'other.db');
  new Database(other).exec('CREATE TABLE cats (name)').close();
  const refused: [string, Buffer, RegExp][] = [
    ['empty', Buffer.alloc(0), /^backup.db is no database of Sendlark$/],
    ['a text', Buffer.from('email\nann@example.org\n'.repeat(100)), /is no database of Sendlark/],
    ['half a file', bytes.subarray(0, bytes.length / 2), /is damaged/],
    ['a page overwritten', broken, /is (damaged|no database)/],
    ['of another program', readFileSync(other), /is no database of Sendlark/],
    ['of a newer release', changed('UPDATE __drizzle_migrations SET created_at = created_at + 1e15'), /newer release/],
    ['with a view of somebody else', changed('CREATE VIEW spy AS SELECT 1'), /the view spy is not as/],
    ['with a table of somebody else', changed('CREATE TABLE cats (name)'), /the table cats is not as/],
    ['of tables we cannot upgrade', changed('DELETE FROM __drizzle_migrations'), /is damaged/],
  ];
  for (const [what, file, sentence] of refused) {
    const { status, body } = await upload(file);
    t.equal(status, 422, what);
    t.match(body.errors?.file?.[0], sentence, what);
    t.strictSame(leftBeside(app), [], `${what}: nothing is left`);
  }
  const nothing = await upload(Buffer.alloc(0), '');
  t.equal(nothing.status, 422);
  t.match(nothing.body.errors.file, ['The file field is required.']);
  t.strictSame(leftBeside(app), []);
});

t.test(
  'a confirmed restore waits beside the database; the next start puts it in place and keeps what was there',
  async (t) => {
    const { app, add, download, upload, operator } = await prepared(t);
    await add('ann', 'bob');
    const { bytes } = await download();
    await add('cleo');
    const { upload_id } = (await upload(bytes)).body.message.restore;
    t.equal((await operator.call('POST', '/backups/restore', { form: { upload_id } })).status, 200);
    t.strictSame(leftBeside(app), ['test.db.to-restore']);
    t.match(app.db.prepare('SELECT action FROM audit_log ORDER BY id DESC LIMIT 1').get(), {
      action: 'restore_confirmed',
    });

    // As the next start finds it, with the write-ahead log of a service that was killed.
    const folder = t.testdir();
    const path = join(folder, 'test.db');
    for (const end of ['', '-wal', '.to-restore']) copyFileSync(app.path + end, path + end);
    const now = new Date('2026-01-15T10:00:00Z');
    const kept = `${path}.before-restore-20260115T100000Z`;
    t.strictSame(putWaitingInPlace(path, now), { kept });
    t.equal(putWaitingInPlace(path, now), null, 'once');
    t.strictSame(readdirSync(folder).sort(), ['test.db', basename(kept)]);
    const emails = (file: string) => {
      const { $client } = connect(file);
      const found = $client.prepare('SELECT email FROM contacts ORDER BY id').pluck().all();
      $client.close();
      return found;
    };
    t.strictSame(emails(path), ['ann@example.org', 'bob@example.org']);
    t.strictSame(emails(kept), ['ann@example.org', 'bob@example.org', 'cleo@example.org']);
    const { $client } = connect(path);
    t.teardown(() => $client.close());
    t.match(sendingHeldReason($client), /Restored from a backup/);
    t.match(
      $client
        .prepare("SELECT account_id, actor FROM audit_log WHERE action = 'backup_restored' ORDER BY account_id")
        .all(),
      [
        { account_id: 1, actor: 'owner@example.org' },
        { account_id: 2, actor: 'operator' },
      ],
    );
  },
);

t.test('a start that is killed while it puts a backup in place goes on at the next one', async (t) => {
  const { app, add, download, upload, operator } = await prepared(t);
  await add('ann');
  const { upload_id } = (await upload((await download()).bytes)).body.message.restore;
  await operator.call('POST', '/backups/restore', { form: { upload_id } });
  const path = join(t.testdir(), 'test.db');
  for (const end of ['', '-wal', '.to-restore']) copyFileSync(app.path + end, path + end);
  // The killed one had merged the log and given the old file its second name.
  connect(path).$client.close();
  const kept = `${path}.before-restore-20260115T100000Z`;
  linkSync(path, kept);
  t.strictSame(putWaitingInPlace(path, new Date('2026-01-15T10:05:00Z')), { kept });
  t.strictSame(readdirSync(dirname(path)).sort(), ['test.db', basename(kept)]);
});

t.test('a waiting backup that cannot be used is set aside, and the service keeps the database it has', async (t) => {
  const { app, add } = await prepared(t);
  await add('ann');
  const path = join(t.testdir(), 'test.db');
  for (const end of ['', '-wal']) copyFileSync(app.path + end, path + end);
  writeFileSync(`${path}.to-restore`, 'no database');
  t.match(putWaitingInPlace(path, new Date('2026-01-15T10:00:00Z')), { refused: /could not be restored/ });
  t.strictSame(readdirSync(dirname(path)).sort(), ['test.db', 'test.db-wal', 'test.db.not-restored-20260115T100000Z']);
});
