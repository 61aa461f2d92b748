/** Mails as sent: their exact bytes for 90 days, only where the account keeps them, and for nobody else. */
import t from 'tap';
import { showThread } from '../../src/delivery/compiling/compile.ts';
import { createDkimKey } from '../../src/delivery/mime/dkim.ts';
import { removeOldSentMails } from '../../src/delivery/sending/sent-mails.ts';
import { OldMails } from '../../src/delivery/transactional/old-mails.ts';
import { insertDkimKey } from '../../src/senders/dkim-keys.ts';
import type { TestApp } from '../support/app.ts';
import { DAY, withWelcomeSeries } from '../support/automations.ts';
import { countsDuring } from '../support/counts-during.ts';
import { ACCEPTED } from '../support/launched-mailing.ts';
import { addPerson, callerOf, cookieOf, FROM_PAGE } from '../support/people.ts';
import { createSend, outboxOf, RECALL, readyToSend } from '../support/single-sends.ts';
import { RECEIPT, sent, stateOf, withRelay } from '../support/transactional.ts';
import { until } from '../support/until.ts';

const KEEPS = { form: { keeps_sent_mails: 1 } };

/** Asks for the mail of a delivery. */
const mailOf = (app: TestApp, id: number) => app.one.call('GET', '/deliveries/mail', { query: { id } });

/** The mails in the outbox and the answers for the deliveries to the same addresses. */
async function compared(app: TestApp) {
  const find = app.db
    .prepare<[string], number>(
      'SELECT d.id FROM deliveries d JOIN addresses a ON a.id = d.address_id WHERE a.normalized_email = lower(?) ORDER BY d.id DESC',
    )
    .pluck();
  const left = outboxOf(app);
  const answers = await Promise.all(left.map(({ envelope_to }) => mailOf(app, find.get(envelope_to) ?? 0)));
  return left.map(({ raw }, at) => ({ raw: raw.toString('latin1'), answer: answers[at] }));
}

async function send(app: TestApp, body: Record<string, unknown>): Promise<string> {
  const utr = await createSend(app, body);
  app.clock.advance(RECALL);
  await app.background();
  return utr;
}

t.test('each mail has the bytes that left, signed, after all that it was made from has changed', async (t) => {
  const { app, body } = await readyToSend(t);
  const sign = (selector: string) =>
    insertDkimKey(
      app.drizzle,
      { domain: 'example.com', selector, privateKey: createDkimKey('rsa'), awaitsRecord: false },
      app.clock.now(),
    );
  sign('old');
  await app.one.call('POST', '/sending/mails/save', KEEPS);
  await app.one.call('POST', '/custom-fields/save', { form: { field_name: 'plan', field_type: 'text' } });
  await send(app, {
    ...body,
    template_html:
      '<p>Hello ((first_name|there)) ((if first_name = "Ann"))special((else))ordinary((end)), <a href="https://example.com/a">this</a></p>',
  });
  app.clock.advance(5 * DAY);
  sign('new');
  app.db.exec("UPDATE contacts SET first_name = 'Changed', last_name = 'Changed'");
  app.db.exec("UPDATE senders SET from_name = 'Other', reply_to_email = 'other@example.com'");
  await app.one.call('POST', '/tracking/save', { form: { mode: 'off' } });
  const mails = await compared(app);
  t.equal(mails.length, 3);
  for (const { raw, answer } of mails) {
    t.match(raw, /^DKIM-Signature/);
    t.equal(answer?.status, 200);
    t.equal(answer?.text, raw);
    t.match(answer?.headers['content-type'], 'message/rfc822');
  }
  t.match(mails.map(({ raw }) => raw).join(), 'special');
});

for (const mode of ['totals', 'consent', 'off'])
  t.test(`the bytes are the same with the tracking mode ${mode}`, async (t) => {
    const { app, body } = await readyToSend(t);
    await app.one.call('POST', '/tracking/save', { form: { mode } });
    await app.one.call('POST', '/sending/mails/save', KEEPS);
    await send(app, body);
    for (const { raw, answer } of await compared(app)) t.equal(answer?.text, raw);
  });

t.test('mails whose results could not be written at once are kept when the results are written', async (t) => {
  const { app, body } = await readyToSend(t);
  await app.one.call('POST', '/sending/mails/save', KEEPS);
  app.db.exec("CREATE TEMP TRIGGER full BEFORE INSERT ON main.sent_mails BEGIN SELECT raise(ABORT, 'disk full'); END");
  await t.rejects(send(app, body), /disk full/);
  app.db.exec('DROP TRIGGER temp.full');
  await app.background();
  const mails = await compared(app);
  t.equal(mails.length, 3);
  for (const { raw, answer } of mails) t.equal(answer?.text, raw);
});

t.test('the bytes of a large mail are the same', async (t) => {
  const { app, body } = await readyToSend(t);
  await app.one.call('POST', '/sending/mails/save', KEEPS);
  await send(app, { ...body, template_html: `<p>Hello ((first_name)) ${'und ein Löwe '.repeat(8000)}</p>` });
  for (const { raw, answer } of await compared(app)) t.ok(answer?.text === raw);
});

t.test(
  'mails of an account are read and rendered one after the other, and not for requests that have ended',
  async (t) => {
    const { app, body } = await readyToSend(t);
    await app.one.call('POST', '/sending/mails/save', KEEPS);
    await send(app, { ...body, template_html: `<p>${'x'.repeat(100_000)}</p>` });
    const origin = await app.fastify.listen({ port: 0, host: '127.0.0.1' });
    const gate = Promise.withResolvers<void>();
    const asked: unknown[] = [];
    t.intercept(showThread, 'ask', {
      async value(_account: number, name: string) {
        asked.push(name);
        await gate.promise;
        return 'raw';
      },
    });
    const { headers } = app.one;
    const [id] = app.db.prepare<[], number>('SELECT delivery_id FROM sent_mails').pluck().all();
    const ended = new AbortController();
    const read = (signal?: AbortSignal) =>
      fetch(`${origin}/api/deliveries/mail?id=${id}`, { headers, ...(signal && { signal }) });
    const first = read();
    await until(() => asked.length === 1);
    const left = [read(ended.signal), read(ended.signal)];
    const last = read();
    const connections = () =>
      new Promise<number>((found) => app.fastify.server.getConnections((_, count) => found(count)));
    await until(async () => (await connections()) === 4);
    ended.abort();
    await Promise.allSettled(left);
    await until(async () => (await connections()) === 2);
    t.equal(asked.length, 1);
    gate.resolve();
    t.strictSame([(await first).status, (await last).status], [200, 200]);
    t.strictSame(asked, ['renderAgain', 'renderAgain']);
  },
);

for (const [name, path, form] of [
  ['each variant of an A/B test', 'variants', { subjects: ['Other'], winner_by: 'hand', share: 100 }],
  ['each version in another language', 'languages', { language: 'de', subject: 'Other' }],
] as const)
  t.test(`the bytes of ${name} are the same`, async (t) => {
    const { app, body } = await readyToSend(t);
    await app.one.call('POST', '/sending/mails/save', KEEPS);
    // With this many, no variant is without a recipient.
    const contacts = Array.from({ length: 40 }, (_, at) => ({ email: `reader${at}@example.org` }));
    await app.one.call('POST', '/contacts/upsert', { json: { contact_type_id: 1, contacts } });
    app.db.exec("UPDATE contacts SET language = 'de' WHERE id % 2 = 0");
    const later = { schedule_type: 1, schedule_date: '2030-01-01', schedule_time: '10:00:00' };
    const utr = await createSend(app, { ...body, ...later });
    t.equal((await app.one.call('POST', `/single/send/${path}`, { form: { utr, ...form } })).status, 200);
    app.db.exec('UPDATE single_sends SET schedule_type = 0, starts_at = 0');
    app.clock.advance(RECALL);
    await app.background();
    const mails = await compared(app);
    const others = mails.filter(({ raw }) => /^Subject: Other\r$/m.test(raw));
    t.ok(others.length > 0 && others.length < mails.length, `${others.length} of ${mails.length}`);
    for (const { raw, answer } of mails) t.ok(answer?.text === raw);
  });

t.test('the bytes of the mails of an automation are the same', async (t) => {
  const { app, join, pass, live } = await withWelcomeSeries(t);
  await live();
  await app.one.call('POST', '/sending/mails/save', KEEPS);
  await join('ann');
  await pass(DAY);
  const mails = await compared(app);
  t.equal(mails.length, 1);
  for (const { raw, answer } of mails) t.equal(answer?.text, raw);
});

t.test('nothing is kept where the settings do not say so, and the answer says why', async (t) => {
  const { app, body } = await readyToSend(t);
  await send(app, body);
  const { id } = app.db.prepare<[], { id: number }>('SELECT max(id) AS id FROM deliveries').get() ?? { id: 0 };
  const { status, body: answer } = await mailOf(app, id);
  t.equal(status, 409);
  t.match(answer.errors, 'This e-mail was not kept.');
  t.equal(app.db.prepare('SELECT count(*) FROM sent_mails').pluck().get(), 0);
});

t.test('a mail that would differ is not given', async (t) => {
  const { app, body } = await readyToSend(t);
  await app.one.call('POST', '/sending/mails/save', KEEPS);
  await send(app, body);
  app.db.exec(`UPDATE mailings SET content = replace(content, 'see ', 'saw ') WHERE owner_kind = 'single'`);
  for (const { answer } of await compared(app)) {
    t.equal(answer?.status, 409);
    t.match(answer?.body.errors, 'can no longer be shown exactly as it was sent');
  }
});

t.test('neither another account nor a user with read access only has the mail', async (t) => {
  const { app, body } = await readyToSend(t);
  await app.one.call('POST', '/sending/mails/save', KEEPS);
  await send(app, body);
  const id = app.db.prepare<[], number>('SELECT max(delivery_id) FROM sent_mails').pluck().get() ?? 0;
  t.equal((await app.two.call('GET', '/deliveries/mail', { query: { id } })).status, 404);
  const viewer = callerOf(app, addPerson(app, 'viewer'));
  t.equal((await viewer.call('GET', '/deliveries/mail', { query: { id } })).status, 403);
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app, 'viewer', { email: 'v2@example.org' })) };
  for (const part of ['', '/html', '/mail.eml'])
    t.equal((await app.page('GET', `/deliveries/${id}${part}`, { headers })).status, 403);
});

t.test('what was kept goes after 90 days, and with the person', async (t) => {
  const { app, body } = await readyToSend(t);
  await app.one.call('POST', '/sending/mails/save', KEEPS);
  await send(app, body);
  const kept = app.db.prepare<[], string>('SELECT recipient FROM sent_mails').pluck();
  t.equal(kept.all().length, 3);
  t.equal((await app.one.call('POST', '/contacts/person/erase', { form: { contact_id: 1 } })).status, 200);
  await app.background();
  t.equal(kept.all().length, 2);
  t.notMatch(kept.all().join().toLowerCase(), 'ann@');
  const now = app.clock.now().getTime();
  t.notOk(removeOldSentMails(app.db, now + 90 * DAY));
  t.equal(kept.all().length, 2);
  while (removeOldSentMails(app.db, now + 92 * DAY));
  t.equal(kept.all().length, 0);
  t.equal(app.db.prepare('SELECT count(*) FROM sent_facts').pluck().get(), 0);
});

t.test('the page of the contact and the recipients lead to the mail, which can be seen and saved', async (t) => {
  const { app, body } = await readyToSend(t);
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)) };
  const settings = async () => (await app.page('GET', '/settings/mails', { headers })).text;
  t.notMatch(await settings(), /name="keeps_sent_mails"[^>]*checked/);
  const form = { keeps_sent_mails: '1' };
  t.equal((await app.page('POST', '/settings/mails/sent', { headers, form })).status, 303);
  t.match(await settings(), /name="keeps_sent_mails"[^>]*checked/);
  const utr = await send(app, body);
  const person = (await app.page('GET', '/contacts/1', { headers })).text;
  const [, path = ''] = /href="(\/deliveries\/\d+)"/.exec(person) ?? [];
  t.match((await app.page('GET', `/campaigns/${utr}/recipients`, { headers })).text, `href="${path}"`);
  const page = await app.page('GET', path, { headers });
  t.equal(page.status, 200);
  t.match(page.text, 'E-mail as sent');
  t.match((await app.page('GET', `${path}?view=source`, { headers })).text, 'Message-ID');
  t.match((await app.page('GET', `${path}/html`, { headers })).text, 'Hello Ann');
  const file = await app.page('GET', `${path}/mail.eml`, { headers });
  t.equal(file.headers['content-disposition'], 'attachment; filename="mail.eml"');
  t.equal(
    file.text,
    outboxOf(app)
      .find(({ envelope_to: to }) => to.startsWith('Ann'))
      ?.raw.toString('latin1'),
  );
  t.equal(app.db.prepare("SELECT count(*) FROM events WHERE kind = 'open'").pluck().get(), 0, 'looking counts no open');
});

/** Asks for a transactional mail as it was sent. */
const receiptOf = (app: TestApp, utr: string) => app.one.call('GET', '/transactional/mail', { query: { utr } });

t.test('a transactional mail is kept as it left, with its files, for editors alone', async (t) => {
  const { app } = await readyToSend(t);
  const before = await sent(app);
  await app.background();
  await app.one.call('POST', '/sending/mails/save', KEEPS);
  const attachments = [{ name: 'a.bin', content: Buffer.alloc(5000, 7).toString('base64') }];
  const utr = await sent(app, { ...RECEIPT, attachments });
  t.equal((await receiptOf(app, utr)).status, 409, 'it has not left');
  await app.background();
  const raw = outboxOf(app).at(-1)?.raw.toString('latin1');
  const answer = await receiptOf(app, utr);
  t.equal(answer.text, raw);
  t.match(answer.headers['content-type'], 'message/rfc822');
  t.match(await stateOf(app, utr), { is_kept: 1 });
  t.match(await stateOf(app, before), { is_kept: 0 });
  t.match((await receiptOf(app, before)).body.errors, 'This e-mail was not kept.');
  t.equal((await app.two.call('GET', '/transactional/mail', { query: { utr } })).status, 404);
  t.equal((await receiptOf(app, 'x')).status, 404);
  const headersOf = (role: 'owner' | 'viewer') => ({
    ...FROM_PAGE,
    cookie: cookieOf(app, addPerson(app, role, { name: role, email: `${role}@example.org` })),
  });
  const [owner, viewer] = [headersOf('owner'), headersOf('viewer')];
  const open = async (path: string, headers = owner) => app.page('GET', `/transactional/${path}`, { headers });
  t.match((await open(utr)).text, `href="/transactional/${utr}/sent"`);
  t.notMatch((await open(utr, viewer)).text, '/sent"');
  t.notMatch((await open(before)).text, '/sent"');
  const kept = (await open(`${utr}/sent`)).text;
  t.match(kept, `href="/transactional/${utr}/sent/mail.eml"`);
  t.match(kept, `href="/transactional/${utr}">Back to the e-mail</a>`);
  t.match((await open(`${utr}/sent/html`)).text, 'Thank you, Ann Lee.');
  t.equal((await open(`${utr}/sent/mail.eml`)).text, raw);
  for (const part of ['', '/html', '/mail.eml']) t.equal((await open(`${utr}/sent${part}`, viewer)).status, 403);
});

t.test('a transactional mail that a server took stays accepted where its message cannot be kept', async (t) => {
  const { app } = await withRelay(t, () => {
    app.db.exec('ALTER TABLE accounts RENAME COLUMN keeps_sent_mails TO unreadable');
    return ACCEPTED;
  });
  await app.one.call('POST', '/sending/mails/save', KEEPS);
  app.db.exec(
    "CREATE TEMP TRIGGER full BEFORE INSERT ON main.sent_transactional_mails BEGIN SELECT raise(ABORT, 'disk full'); END",
  );
  const utr = await sent(app);
  await app.background();
  app.db.exec('ALTER TABLE accounts RENAME COLUMN unreadable TO keeps_sent_mails');
  t.match(await stateOf(app, utr), { state: 'accepted', attempts: 1, is_kept: 0 });
});

t.test('of a transactional mail nothing is kept over 1 MiB, after 90 days, or of an erased person', async (t) => {
  const { app } = await readyToSend(t);
  await app.one.call('POST', '/sending/mails/save', KEEPS);
  const kept = () => app.db.prepare('SELECT count(*) FROM sent_transactional_mails').pluck().get();
  await sent(app, { ...RECEIPT, attachments: [{ name: 'a', content: Buffer.alloc(800_000).toString('base64') }] });
  await app.background();
  t.equal(kept(), 0);
  await sent(app);
  await sent(app, { ...RECEIPT, email: 'other@example.org' });
  await app.background();
  t.equal(kept(), 2);
  t.equal((await app.one.call('POST', '/contacts/person/erase', { form: { contact_id: 1 } })).status, 200);
  t.equal(kept(), 1);
  const inDays = (days: number) => app.clock.now().getTime() + days * DAY;
  new OldMails(app.db).continueRemoval(inDays(89), 0);
  t.equal(kept(), 1);
  new OldMails(app.db).continueRemoval(inDays(91), 0);
  t.equal(kept(), 0);
});

t.test('messages that are kept of transactional mails are removed a few at a time', async (t) => {
  const { app } = await readyToSend(t);
  const keepMany = async () => {
    await sent(app);
    await app.background();
    app.db.exec(`
      WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 11)
      INSERT INTO transactional_mails (utr, user_id, sender_id, address_id, email, name, subject, attachments, size, message_key, message_domain, request_hash, created_at, state)
        SELECT utr || at, user_id, sender_id, address_id, email, name, subject, attachments, size, message_key || at, message_domain, request_hash, created_at, state
        FROM transactional_mails, n;
      INSERT INTO sent_transactional_mails SELECT id, randomblob(1024 * 1024) FROM transactional_mails`);
  };
  const left = 'SELECT count(*) FROM sent_transactional_mails';
  const kept = () => app.db.prepare(left).pluck().get();
  await keepMany();
  const old = new OldMails(app.db);
  const counts: unknown[] = [kept()];
  while (old.continueRemoval(app.clock.now().getTime() + 91 * DAY, 0)) counts.push(kept());
  t.strictSame(counts, [12, 10, 8, 6, 4, 2, 0]);
  await keepMany();
  const erased = await countsDuring(
    app,
    left,
    app.one.call('POST', '/contacts/person/erase', { form: { contact_id: 1 } }),
  );
  t.equal(erased.status, 200);
  t.equal(kept(), 0);
  t.ok(erased.counts.size > 2, `${[...erased.counts]} between the steps`);
});

t.test(
  'the values that are kept with a mail are in the export of the contact, and go when the person is erased',
  async (t) => {
    const { app, body } = await readyToSend(t);
    await app.one.call('POST', '/sending/mails/save', KEEPS);
    await app.one.call('POST', '/custom-fields/save', { form: { field_name: 'plan', field_type: 'text' } });
    await app.one.call('POST', '/contacts/upsert', {
      json: { contact_type_id: 1, contacts: [{ email: 'ann@example.org', custom_field: { plan: 'Gold' } }] },
    });
    await send(app, { ...body, template_html: '<p>((first_name)) ((last_name|?)) ((plan))</p>' });
    app.db.exec("UPDATE contacts SET first_name = 'Changed', custom_values = NULL");
    const exported = async (contact_id: number) =>
      (await app.one.call('GET', '/contacts/person/export', { query: { contact_id } })).body.message;
    const mails = async (contact_id: number) =>
      (await exported(contact_id)).moments.filter(({ kind }: { kind: string }) => kind === 'mail');
    const [mail] = await mails(1);
    t.match(mail, { kept_mail_id: Number, kept_values: { first_name: 'Ann', plan: 'Gold' } });
    t.ok(Object.keys(mail.kept_values).every((name) => !name.startsWith('#')));
    const others = (await exported(1)).moments.filter(({ kind }: { kind: string }) => kind !== 'mail');
    t.ok(others.every(({ kept_values }: { kept_values: unknown }) => kept_values === null));
    const values = () => app.db.prepare<[], string>('SELECT recipient FROM sent_mails').pluck().all();
    t.equal(values().filter((one) => one.includes('Gold')).length, 1);
    t.equal((await app.one.call('POST', '/contacts/person/erase', { form: { contact_id: 1 } })).status, 200);
    await app.background();
    t.notMatch(values().join(), 'Gold');
    t.equal(values().length, 2, 'those of others stay');
    t.match(await mails(2), [{ kept_values: { first_name: 'Bob' } }]);
  },
);
