/** Attachments of a campaign: what recipients get, what is refused, and what becomes of the files. */
import { createHash } from 'node:crypto';
import PostalMime from 'postal-mime';
import t from 'tap';
import { UnusedAttachments } from '../../src/campaigns/attachments.ts';
import { createDkimKey } from '../../src/delivery/mime/dkim.ts';
import { removeOldSentMails } from '../../src/delivery/sending/sent-mails.ts';
import { insertDkimKey } from '../../src/senders/dkim-keys.ts';
import type { TestApp } from '../support/app.ts';
import { addPerson, callerOf, cookieOf, FROM_PAGE } from '../support/people.ts';
import { createSend, outboxOf, RECALL, readyToSend, sendReport } from '../support/single-sends.ts';

const LATER = { schedule_type: 1, schedule_date: '2030-01-01', schedule_time: '10:00:00' };
const LARGE = Buffer.from(Array.from({ length: 1_000_003 }, (_, at) => (at * 7919) % 251));

/** A campaign that is scheduled, and what can be done with its files. */
async function withCampaign(t: Parameters<typeof readyToSend>[0], more: Record<string, unknown> = {}) {
  const { app, body } = await readyToSend(t);
  const utr = await createSend(app, { ...body, ...LATER, ...more });
  const attach = (name: string, bytes: Buffer | string, form: Record<string, unknown> = {}) =>
    app.one.call('POST', '/single/send/attachments', {
      json: { utr, name, content: Buffer.from(bytes).toString('base64'), ...form },
    });
  const remove = (attachment_id: number, form: Record<string, unknown> = {}) =>
    app.one.call('POST', '/single/send/attachments/remove', { form: { utr, attachment_id, ...form } });
  const draftOf = async (which = utr) =>
    (await app.one.call('GET', '/single-send/draft', { query: { utr: which } })).body.message.draft;
  return { app, body, utr, attach, remove, draftOf };
}

async function launch(app: TestApp) {
  app.db.exec('UPDATE single_sends SET status = 1, schedule_type = 0, starts_at = 0 WHERE status = 1');
  app.clock.advance(RECALL);
  await app.background();
}

const rows = (app: TestApp) => app.db.prepare('SELECT count(*) FROM single_send_attachments').pluck().get();
const removeUnused = (app: TestApp) => new UnusedAttachments(app.db).remove(0, () => true);
const mailsOf = (app: TestApp) => Promise.all(outboxOf(app).map(({ raw }) => PostalMime.parse(raw)));
const hash = (bytes: unknown) =>
  createHash('sha256')
    .update(Buffer.from(bytes as ArrayBuffer))
    .digest('hex');

t.test('every recipient gets the files as they were, beside a mail that is otherwise the same', async (t) => {
  const { app, attach, draftOf } = await withCampaign(t);
  const { body } = await attach('../C:\\Übersicht "1".pdf', LARGE, { type: 'application/pdf' });
  t.match(body.message, { id: 1, updated_at: String });
  await attach('notes.txt', 'Hello', { type: 'text/plain' });
  t.match((await draftOf()).attachments, [
    { id: 1, file_name: 'Übersicht _1_.pdf', type: 'application/pdf', size: 1_000_003 },
    { id: 2, file_name: 'notes.txt', type: 'text/plain', size: 5 },
  ]);
  insertDkimKey(
    app.drizzle,
    { domain: 'example.com', selector: 's', privateKey: createDkimKey('rsa'), awaitsRecord: false },
    app.clock.now(),
  );
  await app.one.call('POST', '/sending/mails/save', { form: { keeps_sent_mails: 1 } });
  await launch(app);
  const mails = await mailsOf(app);
  t.equal(mails.length, 3);
  for (const { attachments, text, html, headers } of mails) {
    t.strictSame(
      attachments.map(({ filename, mimeType }) => [filename, mimeType]),
      [
        ['Übersicht _1_.pdf', 'application/pdf'],
        ['notes.txt', 'text/plain'],
      ],
    );
    t.equal(hash(attachments[0]?.content), hash(LARGE));
    t.equal(Buffer.from(attachments[1]?.content as ArrayBuffer).toString(), 'Hello');
    t.match(html, 'Hello');
    t.match(text, 'Hello');
    t.ok(headers.some(({ key }) => key === 'list-unsubscribe'));
  }
  const raw = outboxOf(app).map((mail) => mail.raw.toString('latin1'));
  t.ok(raw.every((mail) => mail.split('\r\n').every((line) => line.length <= 998)));
  const ids = app.db.prepare<[], number>('SELECT delivery_id FROM sent_mails ORDER BY delivery_id').pluck().all();
  const again = await Promise.all(ids.map((id) => app.one.call('GET', '/deliveries/mail', { query: { id } })));
  t.ok(
    again.length === 3 && again.every(({ text: mail }) => raw.includes(mail)),
    'they can be read exactly as they left',
  );
});

t.test('all variants and versions carry the files, and so does a test mail', async (t) => {
  for (const [path, form] of [
    ['/single/send/variants', { subjects: ['Other'], winner_by: 'hand', share: 100 }],
    ['/single/send/languages', { language: 'de', subject: 'Hallo' }],
  ] as const) {
    const { app, utr, attach } = await withCampaign(t);
    app.db.exec("UPDATE contacts SET language = 'de' WHERE id = 1");
    await attach('notes.txt', 'Hello');
    t.equal((await app.one.call('POST', path, { form: { utr, ...form } })).status, 200);
    // The groups of a test with three recipients are random, so both variants are tested by mail.
    for (const variant of [0, 1]) {
      const test = { utr, email_address: `tester${variant}@example.org`, variant };
      t.equal((await app.one.call('POST', '/single/send/test', { form: test })).status, 200);
    }
    await launch(app);
    const mails = await mailsOf(app);
    t.equal(mails.length, 5);
    const isOther = ({ subject }: (typeof mails)[number]) => /^(Other|Hallo)/.test(subject ?? '');
    t.ok(mails.filter(isOther).length > 0 && !mails.every(isOther));
    t.ok(mails.every(({ attachments }) => attachments[0]?.filename === 'notes.txt'));
  }
});

t.test('copies have their own files, and each campaign takes its files with it', async (t) => {
  const { app, utr, attach, remove, draftOf } = await withCampaign(t);
  await attach('notes.txt', 'Hello');
  t.equal((await app.one.call('GET', '/single/send/duplicate', { query: { utr } })).status, 200);
  const copy = app.db
    .prepare<[], string>("SELECT utr FROM single_sends WHERE single_send_name LIKE 'Copy of%'")
    .pluck()
    .get();
  t.match((await draftOf(copy)).attachments, [{ id: 2, file_name: 'notes.txt' }]);
  t.equal((await remove(2)).status, 404, 'a file of another campaign is unknown');
  await app.one.call('DELETE', '/single/send/delete', { query: { utr: copy } });
  removeUnused(app);
  t.equal(rows(app), 1);
  await launch(app);
  t.equal((await attach('more.txt', 'x')).status, 409);
  t.equal((await remove(1)).status, 409);
  const resent = await app.one.call('POST', '/single/send/resend', { form: { utr, subject: 'Again' } });
  t.equal(resent.status, 200, resent.text);
  t.match((await draftOf(resent.body.message.utr)).attachments, [{ file_name: 'notes.txt', size: 5 }]);
  await app.one.call('DELETE', '/single/send/delete', { query: { utr } });
  removeUnused(app);
  t.equal(rows(app), 1);
});

t.test('files of a deleted campaign stay while it is sent, and as long as its mails are kept', async (t) => {
  const { app, utr, attach } = await withCampaign(t);
  const deleted = () => app.one.call('DELETE', '/single/send/delete', { query: { utr } });
  await attach('notes.txt', 'Hello');
  await app.one.call('POST', '/sending/mails/save', { form: { keeps_sent_mails: 1 } });
  await launch(app);
  app.db.exec('UPDATE mailings SET finished_at = NULL');
  t.equal((await deleted()).status, 200);
  removeUnused(app);
  t.equal(rows(app), 1);
  const now = app.clock.now().getTime();
  app.db.exec(`UPDATE mailings SET finished_at = '${now}'`);
  removeUnused(app);
  t.equal(rows(app), 1);
  const id = app.db.prepare<[], number>('SELECT max(delivery_id) FROM sent_mails').pluck().get();
  const mail = await app.one.call('GET', '/deliveries/mail', { query: { id } });
  t.equal(mail.status, 200);
  t.match(mail.text, 'notes.txt');
  while (removeOldSentMails(app.db, now + 92 * 86_400_000));
  removeUnused(app);
  t.equal(rows(app), 0);
});

t.test('a campaign that is deleted while it is sent loses its files at the end', async (t) => {
  const { app, utr, attach } = await withCampaign(t);
  await attach('notes.txt', 'Hello');
  await launch(app);
  app.db.exec('UPDATE mailings SET finished_at = NULL');
  await app.one.call('DELETE', '/single/send/delete', { query: { utr } });
  removeUnused(app);
  t.equal(rows(app), 1);
  app.db.exec("UPDATE mailings SET finished_at = '1'");
  removeUnused(app);
  t.equal(rows(app), 0);
});

t.test('an account has room for 512 MiB of files, which deleted ones free', async (t) => {
  const { app, body, utr, attach } = await withCampaign(t);
  await attach('notes.txt', 'Hello');
  const other = await createSend(app, { ...body, ...LATER });
  await app.one.call('POST', '/single/send/attachments', { json: { utr: other, name: 'a', content: 'SGVsbG8=' } });
  app.db.exec(`UPDATE single_send_attachments SET size = 512 * 1024 * 1024 - 8 WHERE id = 2`);
  const refused = await attach('b.txt', 'xxxx');
  t.equal(refused.status, 409);
  t.match(refused.text, '512 MB together');
  const copied = await app.one.call('GET', '/single/send/duplicate', { query: { utr } });
  t.equal(copied.status, 409);
  t.equal(app.db.prepare('SELECT count(*) FROM single_sends').pluck().get(), 2, 'no half copy stays');
  t.equal((await attach('b.txt', 'xxx')).status, 200);
  await app.one.call('DELETE', '/single/send/delete', { query: { utr: other } });
  t.equal(rows(app), 2, 'the files of a draft are gone with it, so no draft hides files from the account');
  t.equal((await attach('b.txt', 'xxxx')).status, 200);
});

t.test('files that are still needed are looked at page by page and keep no others from being removed', async (t) => {
  const { app } = await withCampaign(t);
  app.db.exec(`WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 250)
    INSERT INTO single_send_attachments (mailing_id, file_name, type, size, bytes) SELECT 1000 + at, 'x', 'text/plain', 1, 'x' FROM n;
    INSERT INTO sent_facts (mailing_id, facts, created_at)
      SELECT mailing_id, '', 0 FROM single_send_attachments WHERE mailing_id NOT IN (1001, 1250)`);
  const files = new UnusedAttachments(app.db);
  const steps: unknown[] = [];
  for (let more = true; more; steps.push(rows(app))) more = files.remove(0, () => true);
  t.strictSame(steps, [249, 249, 248]);
  app.db.exec('DELETE FROM sent_facts WHERE mailing_id = 1002');
  t.equal(
    files.remove(59_999, () => true),
    false,
  );
  t.equal(rows(app), 248, 'after all were looked at, it rests');
  files.remove(60_000, () => true);
  t.equal(rows(app), 247);
});

t.test('an account has room for 2000 files', async (t) => {
  const { app, body, attach } = await withCampaign(t);
  await createSend(app, { ...body, ...LATER });
  app.db.exec(`WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 1999)
    INSERT INTO single_send_attachments (single_send_id, file_name, type, size, bytes) SELECT 2, 'x', 'text/plain', 1, 'x' FROM n`);
  t.equal((await attach('notes.txt', 'Hello')).status, 200);
  const refused = await attach('more.txt', 'Hello');
  t.equal(refused.status, 409);
  t.match(refused.text, '2000 files');
});

t.test('a completed campaign goes to those who joined since with its files', async (t) => {
  const { app, utr, attach } = await withCampaign(t);
  await attach('notes.txt', 'Hello');
  await launch(app);
  const contacts = [{ email: 'new@example.org', first_name: 'New' }];
  await app.one.call('POST', '/contacts/upsert', { json: { contact_type_id: 1, contacts } });
  t.equal((await app.one.call('POST', '/single/send/joined', { query: { utr } })).status, 200);
  await app.background();
  const joined = (await mailsOf(app)).find(({ to }) => to?.[0]?.address === 'new@example.org');
  t.equal(joined?.attachments[0]?.filename, 'notes.txt');
});

t.test('what Gmail refuses, too much, and what is no base64 are refused, and nothing of it is kept', async (t) => {
  const { app, utr, attach, remove } = await withCampaign(t);
  const fault = async (answer: ReturnType<typeof attach>) => {
    const { status, body } = await answer;
    const [[field, texts] = ['', '']] = Object.entries<string[]>(body.errors ?? {});
    return [status, `${field}: ${texts[0]}`];
  };
  t.match(await fault(attach('Setup.EXE.', 'MZ')), [422, /^name: Gmail refuses mail with a file of the kind exe/]);
  t.match(await fault(attach('a.txt', 'x', { content: 'no base64!' })), [422, /not base64/]);
  t.match(await fault(attach('a.bin', Buffer.alloc(2 * 1024 * 1024 + 1))), [422, /2 MB|characters/]);
  t.equal((await attach('a.bin', Buffer.alloc(2 * 1024 * 1024 - 1))).status, 200);
  t.match(await fault(attach('b.txt', 'xy')), [422, 'content: The attachments can have at most 2 MB together.']);
  t.equal((await attach('c.txt', 'x')).status, 200);
  t.equal(rows(app), 2);
  t.equal((await remove(1)).status, 200);
  for (let at = 0; at < 19; at++) t.equal((await attach('c.txt', 'x')).status, 200);
  t.match(await fault(attach('d.txt', 'x')), [422, 'content: At most 20 attachments are allowed.']);
  const old = { unchanged_since: '2020-01-01T00:00:00.000000Z' };
  t.equal((await remove(2, old)).status, 409);
  const given = { utr, name: 'a.txt', content: 'SGVsbG8=' };
  t.equal((await app.two.call('POST', '/single/send/attachments', { form: given })).status, 404);
  const form = { utr, attachment_id: 2 };
  t.equal((await app.two.call('POST', '/single/send/attachments/remove', { form })).status, 404);
  const viewer = callerOf(app, addPerson(app, 'viewer'));
  t.equal((await viewer.call('POST', '/single/send/attachments', { form: given })).status, 403);
  t.equal((await viewer.call('POST', '/single/send/attachments/remove', { form })).status, 403);
});

t.test('the check counts the whole mail where it has attachments, and the report keeps what it found', async (t) => {
  const { app, utr, attach } = await withCampaign(t);
  const found = async () => {
    const { check } = (await app.one.call('POST', '/check', { form: { utr } })).body.message;
    return check.findings.filter(({ code }: { code: string }) => code === 'attachments');
  };
  await attach('notes.txt', 'Hello');
  t.strictSame(await found(), [], 'a small file is no finding');
  await attach('large.pdf', LARGE);
  t.match(await found(), [{ severity: 'note', count: Number, limit: 1_048_576, path: /edit\/content$/ }]);
  t.ok((await found())[0].count > LARGE.length * 1.36);
  await launch(app);
  const { findings } = await sendReport(app, utr);
  t.match(
    findings.filter(({ code }: { code: string }) => code === 'attachments'),
    [{ limit: 1_048_576 }],
  );
});

t.test('the page beside the content attaches and removes files, in both languages', async (t) => {
  const { app, utr, draftOf } = await withCampaign(t);
  const user = addPerson(app);
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, user) };
  const path = `/campaigns/${utr}/edit/attachments`;
  const post = (name: string, content: Buffer) =>
    app.page('POST', path, {
      headers,
      multipart: [
        ['unchanged_since', ''],
        ['file', { filename: name, content, type: 'text/plain' }],
      ],
    });
  const added = await post('notes.txt', Buffer.from('Hello'));
  t.equal(added.status, 303, added.text.slice(0, 300));
  t.match((await draftOf()).attachments, [{ file_name: 'notes.txt', size: 5 }]);
  const refused = await post('run.exe', Buffer.from('MZ'));
  t.equal(refused.status, 422);
  t.match(refused.text, 'Gmail refuses mail with a file of the kind exe');
  t.match(refused.text, /aria-describedby="file-problem"/);
  t.equal((await post('large.bin', Buffer.alloc(2 * 1024 * 1024 + 10))).status, 413);
  app.db.exec("UPDATE users SET language = 'de'");
  const { text } = await app.page('GET', path, { headers });
  t.match(text, 'Anhänge');
  t.match(text, 'notes.txt');
  t.match((await app.page('GET', `/campaigns/${utr}/edit/content`, { headers })).text, 'notes.txt (5');
  const [{ id }] = (await draftOf()).attachments;
  const form = { attachment_id: String(id), unchanged_since: '' };
  t.equal((await app.page('POST', `${path}/remove`, { headers, form })).status, 303);
  t.strictSame((await draftOf()).attachments, []);
});
