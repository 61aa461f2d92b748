/** What is sent, linked and counted after a backup is restored. */
import { chmodSync, chownSync, copyFileSync, cpSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import nodemailer from 'nodemailer';
import PostalMime from 'postal-mime';
import t, { type Test } from 'tap';
import { parseAddress } from '../../src/audience/contacts/addresses.ts';
import { connect } from '../../src/database/open.ts';
import { migrateAndSeed } from '../../src/database/upgrade.ts';
import { startBounceIntake } from '../../src/delivery/feedback/bounces/intake.ts';
import { systemClock } from '../../src/time/clock.ts';
import { COMMAND_LINE } from '../../src/users/audit.ts';
import { createLoginLink, findLoginLink } from '../../src/users/login-links.ts';
import { createSession, findSession } from '../../src/users/sessions.ts';
import { addUser } from '../../src/users/users.ts';
import { startApp } from '../support/app.ts';
import { sendlark } from '../support/command-line.ts';
import { seededCopy } from '../support/seeded-copy.ts';
import { Service, startSink } from '../support/service.ts';
import { until } from '../support/service-campaign.ts';
import { prepared } from './prepared.ts';

/** Puts an earlier file in the place of a service's database, in one of the ways owners do. */
const WAYS_BACK = {
  'a restored backup': async (settings: Record<string, string>, copy: string) => {
    await sendlark(settings, 'restore', copy, '--force');
  },
  'a backup copied over the database': async ({ DATABASE_PATH = '' }: Record<string, string>, copy: string) => {
    for (const end of ['-wal', '-shm']) rmSync(DATABASE_PATH + end, { force: true });
    copyFileSync(copy, DATABASE_PATH);
  },
  'an old file nobody can recognise, a snapshot say': async (
    { DATABASE_PATH = '' }: Record<string, string>,
    copy: string,
  ) => {
    for (const end of ['-wal', '-shm']) rmSync(DATABASE_PATH + end, { force: true });
    copyFileSync(copy, DATABASE_PATH);
    new Database(DATABASE_PATH).exec("DELETE FROM installation WHERE name = 'is_copy'").close();
  },
};

const SETTINGS = { SENDER_VERIFICATION: 'optional', BOUNCE_DOMAIN: 'returns.example.com' };

/** A service on the database in this folder, and its SMTP server. */
async function startOn(t: Test, folder: string) {
  const sink = await startSink(t);
  const service = new Service(t, { ...SETTINGS, DATABASE_PATH: join(folder, 'test.db'), SMTP_URL: sink.url });
  await service.start();
  return { sink, service };
}

/** Imports five more and sends to everybody; gives their mails by address. */
async function importAndSend({ sink, service }: Awaited<ReturnType<typeof startOn>>, name: string) {
  const before = sink.mails.length;
  await service.upload(1, ['email', ...[1, 2, 3, 4, 5].map((at) => `${name}${at}@example.org`)].join('\n'));
  await service.post('/single/send/create', {
    template_id: '1',
    template_html: '<p><a href="https://shop.example/">x</a> <a href="((web_copy))">w</a></p>',
    sender_id: '1',
    unsubscribe_group_id: '1',
    single_send_name: name,
    subject: name,
    preheader: 'p',
    'recipient_id[0]': 'contacts_1',
    schedule_type: '0',
  });
  // Without the mail that confirms the sender: if it still waited at the backup, it leaves after the restore, too.
  const left = () =>
    sink.mails.slice(before).filter(({ from, to }) => from.startsWith('bounce+') && to !== 'lark@example.com');
  await until(left, (mails) => mails.length === 6);
  return Promise.all(left().map(async ({ from, to, raw }) => ({ from, to, ...(await linksOf(raw)) })));
}

function temporaryFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'sendlark-back-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

let lostTime: ReturnType<typeof sendAfterBackup> | undefined;

/** A folder with a backup and the database of a service that was killed after it had sent more, and the mails of that time. */
async function sendAfterBackup() {
  const folder = temporaryFolder(t);
  const started = await startOn(t, folder);
  const { service } = started;
  await service.post('/contacts-type/add', { name: 'Readers' });
  await service.upload(1, 'email\nstays@example.org');
  await service.post('/unsubscribes-groups/save', { group_name: 'News', description: 'n', is_display: '1' });
  await service.post('/sender/save', {
    from_name: 'Lark',
    from_email: 'lark@example.com',
    reply_to_email: 'lark@example.com',
    country_id: '1',
    company_address: '1 Harbour St',
    nickname: 'l',
  });
  await sendlark({ DATABASE_PATH: join(folder, 'test.db') }, 'backup', join(folder, 'copy.db'));
  const lost = await importAndSend(started, 'lost');
  await service.end('SIGKILL');
  return { folder, lost };
}

for (const [way, goBack] of Object.entries(WAYS_BACK)) {
  t.test(`after ${way} no link or returned mail of the lost time reaches another person`, async (t) => {
    lostTime ??= sendAfterBackup();
    const { folder, lost } = await lostTime;
    const database = temporaryFolder(t);
    cpSync(folder, database, { recursive: true });
    const settings = { DATABASE_PATH: join(database, 'test.db') };
    await goBack(settings, join(database, 'copy.db'));
    const started = await startOn(t, database);
    const { service } = started;
    await sendlark(settings, 'release');
    const others = await importAndSend(started, 'other');

    const visit = (path: string, method = 'GET') => {
      const body = method === 'POST' ? new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) : null;
      return fetch(service.origin + path, { method, body, redirect: 'manual' });
    };
    const client = new Database(settings.DATABASE_PATH, { readonly: true });
    t.teardown(() => client.close());
    const counted = (sql: string) => client.prepare(sql).pluck().all();
    for (const { to, paths } of lost.filter(({ to }) => to.startsWith('lost'))) {
      const { u = '', o = '', c = '', w = '' } = paths;
      const answer = await visit(u);
      t.match(
        [answer.status, await answer.text()],
        [404, /that we no longer keep.*reply to the e-mail/s],
        `page of ${to}`,
      );
      t.equal((await visit(u, 'POST')).status, 404, 'a one-click for nobody unsubscribes nobody');
      t.equal((await visit(c)).status, 404);
      t.equal((await visit(w)).status, 404);
      t.equal((await visit(o)).headers.get('content-type'), 'image/gif');
    }
    t.strictSame(counted('SELECT email_address FROM unsubscribers'), []);
    const kept = lost.find(({ to }) => to === 'stays@example.org');
    t.equal((await visit(kept?.paths.u ?? '', 'POST')).status, 200);
    t.strictSame(
      counted('SELECT email_address FROM unsubscribers'),
      ['stays@example.org'],
      'a one-click of the lost time is honoured for who is known beyond doubt',
    );

    await service.end('SIGTERM');
    t.strictSame(counted("SELECT kind FROM events WHERE kind IN ('open', 'click')"), [], 'nobody opened or clicked');
    const db = connect(settings.DATABASE_PATH);
    t.teardown(() => db.$client.close());
    const listener = await startBounceIntake(db, systemClock, {
      host: '127.0.0.1',
      port: 0,
      domain: 'returns.example.com',
    });
    const transport = nodemailer.createTransport({ host: '127.0.0.1', port: listener.port, ignoreTLS: true });
    t.teardown(() => transport.close());
    const comesBack = (to: string) => transport.sendMail({ envelope: { from: '', to: [to] }, raw: GONE });
    for (const { from } of lost.filter(({ to }) => to.startsWith('lost')))
      t.match(await failureOf(comesBack(from)), { responseCode: 550 }, 'a late bounce is nobody’s');
    await comesBack(others.find(({ to }) => to === 'other1@example.org')?.from ?? '');
    await listener.close();
    t.strictSame(
      counted('SELECT normalized_email FROM suppressions JOIN addresses ON addresses.id = address_id'),
      ['other1@example.org'],
      'one of a mail sent since counts',
    );
    if (way.includes('nobody can recognise')) return;
    const again = new Set(others.flatMap(({ from, messageId }) => [from, messageId]));
    t.notOk(
      lost.some(({ from, messageId }) => again.has(from) || again.has(messageId)),
      'neither return path nor Message-ID is handed out again',
    );
  });
}

t.test('ids continue beyond those of the lost time, also when one backup is restored twice', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sendlark-twice-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'test.db');
  const [copy, second] = [join(folder, 'copy.db'), join(folder, 'second.db')];
  const run = async (...words: string[]) => t.equal((await sendlark({ DATABASE_PATH: path }, ...words)).code, 0);
  /** Adds a contact type and a custom field; gives their ids. */
  const add = (name: string) => {
    const db = connect(path);
    migrateAndSeed(db);
    const [type = 0, field = 0] = [
      "INSERT INTO contact_types (user_id, name, created_at, updated_at) VALUES (1, ?, '', '')",
      "INSERT INTO custom_fields (user_id, field_name, field_type, created_at, updated_at) VALUES (1, ?, 'text', '', '')",
    ].map((sql) => Number(db.$client.prepare(sql).run(name).lastInsertRowid));
    db.$client.close();
    return { type, field };
  };
  seededCopy(path);
  const made = connect(path);
  made.$client.exec("INSERT INTO accounts (name, created_at) VALUES ('Main', '')");
  made.$client.close();
  await run('backup', copy);
  const lost = add('lost');
  await run('restore', copy, '--force');
  const once = add('once');
  t.ok(once.type > lost.type && once.field > lost.field, 'of tables that had no row yet, too');
  await run('backup', second);
  const later = add('later');
  await run('restore', copy, '--force');
  const twice = add('twice');
  t.ok(twice.type > later.type && twice.field > later.field, 'beyond the file that the second restore replaces');
  await run('restore', second, '--force');
  t.ok(add('third').type > twice.type, 'so does a backup of a restored file');
  rmSync(path);
  await run('restore', copy);
  t.ok(add('alone').type > lost.type + 1000, 'and where the file it replaces is lost');
});

t.test('after a restore everybody signs in anew, no link to sign in works, and the log says why', async (t) => {
  const { db, path, run } = prepared(t);
  const now = systemClock.now();
  const drizzle = connect(path);
  const address = parseAddress('ann@example.org');
  if (address === null) throw new Error('no address');
  const given = { accountId: 1, address, name: 'Ann', role: 'owner' as const, passwordHash: 'scrypt$4$8$1$AA$AA' };
  const user = addUser(drizzle, given, COMMAND_LINE, now);
  const session = createSession(drizzle, user.id, { address: '192.0.2.1', userAgent: 'Test' }, now);
  const link = createLoginLink(drizzle, { accountId: 1, user }, COMMAND_LINE, now).secret;
  t.ok(findSession(drizzle, session, now) && findLoginLink(drizzle, link, now));
  drizzle.$client.close();
  db.close();
  const copy = join(dirname(path), 'copy.db');
  t.equal((await run('backup', copy)).code, 0);
  t.equal((await run('restore', copy, '--force')).code, 0);
  const restored = connect(path);
  t.teardown(() => restored.$client.close());
  t.equal(findSession(restored, session, now), null);
  t.equal(findLoginLink(restored, link, now), null);
  const rows = (sql: string) => restored.$client.prepare(sql).all();
  t.match(rows('SELECT email FROM users'), [{ email: 'ann@example.org' }], 'the person stays');
  t.match(rows('SELECT account_id, english(actor) AS actor, action FROM audit_log ORDER BY id DESC LIMIT 1'), [
    { account_id: 1, actor: 'command line', action: 'backup_restored' },
  ]);
});

function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (error: unknown) => error,
  );
}

/** What a mail offers to its recipient: paths of their own addresses by first letter, and its Message-ID. */
async function linksOf(raw: Buffer) {
  const { html = '', messageId = '' } = await PostalMime.parse(raw);
  const found = [...html.matchAll(/http:\/\/[^/]+(\/([uocw])\/[^"<\s]+)/g)];
  return { messageId, paths: Object.fromEntries(found.map(([, path = '', letter = '']) => [letter, path])) };
}

const GONE = [
  'From: MAILER-DAEMON@relay.example',
  'MIME-Version: 1.0',
  'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
  '',
  '--b',
  'Content-Type: message/delivery-status',
  '',
  'Reporting-MTA: dns; relay.example',
  '',
  'Final-Recipient: rfc822; somebody@example.org',
  'Action: failed',
  'Status: 5.1.1',
  '',
  '--b--',
  '',
].join('\r\n');

const isRoot = process.getuid?.() === 0;
t.test("a restore never replaces another program's database, with --force neither", async (t) => {
  const app = await startApp(t);
  const path = join(t.testdir({}), 'other.db');
  const other = new Database(path);
  other.exec('CREATE TABLE notes (text)');
  other.close();
  const { code, err } = await sendlark({ DATABASE_PATH: path }, 'restore', app.path, '--force');
  t.match({ code, err }, { code: 1, err: `The database ${path} is not Sendlark's` });
  const after = new Database(path, { readonly: true });
  t.strictSame(after.prepare('SELECT name FROM sqlite_master').pluck().all(), ['notes']);
  after.close();
});

t.test(
  'a restore by root keeps the owner of the database, or of its folder',
  { skip: !isRoot && 'needs root' },
  async (t) => {
    const [uid, gid] = [4711, 4712];
    const { db, path, run } = prepared(t);
    const ownerOf = (file: string) => {
      const { uid, gid, mode } = statSync(file);
      return { uid, gid, mode: (mode & 0o777).toString(8) };
    };
    db.close();
    const copy = join(dirname(path), 'copy.db');
    t.equal((await run('backup', copy)).code, 0);
    chownSync(path, uid, gid);
    chmodSync(path, 0o640);
    t.equal((await run('restore', copy, '--force')).code, 0);
    t.strictSame(ownerOf(path), { uid, gid, mode: '640' });

    for (const end of ['', '-lock']) rmSync(path + end, { force: true });
    chownSync(dirname(path), uid, gid);
    t.equal((await run('restore', copy)).code, 0);
    t.match(ownerOf(path), { uid, gid }, 'where there was no database');
    t.match(ownerOf(`${path}-lock`), { uid, gid }, 'and the lock, which the service opens first');
  },
);

t.test(
  'a restore by root gives away no file to which a link in the folder leads',
  { skip: !isRoot && 'needs root' },
  async (t) => {
    const { db, path, run } = prepared(t);
    db.close();
    const copy = join(dirname(path), 'copy.db');
    t.equal((await run('backup', copy)).code, 0);
    chownSync(path, 4711, 4712);
    const target = join(t.testdir({ 'of-root': '' }), 'of-root');
    rmSync(`${path}-lock`, { force: true });
    symlinkSync(target, `${path}-lock`);
    t.equal((await run('restore', copy, '--force')).code, 0);
    t.equal(statSync(path).uid, 4711);
    t.equal(statSync(target).uid, 0);
  },
);
