/** One person: their timeline, the export of all that is known, and erasing them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { emptyLogAfterErasure, finishErasures } from '../../src/audience/person/erase.ts';
import { connect } from '../../src/database/open.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { readOutbox, sendCampaign } from '../support/campaign.ts';
import { flushHits } from '../support/recipient-links.ts';
import { storeSegment } from '../support/segments.ts';

type Moments = { kind: string; name: string | null; state: string | null; url: string | null }[];

/** A campaign that went to one person, who opened, clicked and left. */
async function withHistory(t: Test) {
  const app = await startApp(t);
  const { mails } = await sendCampaign(t, app);
  const mail = mails[0];
  await app.page('GET', mail?.paths.o ?? '');
  await app.page('GET', mail?.paths.c ?? '');
  await app.page('POST', mail?.paths.u ?? '', { form: { 'List-Unsubscribe': 'One-Click' } });
  flushHits(app);
  await app.background();
  const email = 'anna@example.org';
  const contact = 1;
  return { app, email, contact };
}

const momentsOf = async (app: TestApp, contact_id: number, query = {}) =>
  (await app.one.call('GET', '/contacts/timeline', { query: { contact_id, ...query } })).body.message;

/** The moments as an export has them, of mails that are not kept. */
const withKeptValues = (moments: readonly unknown[]) =>
  moments.map((moment) => ({ ...Object(moment), kept_values: null }));

t.test('the timeline tells what happened with a person, newest first, in pages', async (t) => {
  const { app, contact } = await withHistory(t);
  const { moments, next } = await momentsOf(app, contact);
  t.equal(next, null);
  const kinds = (moments as Moments).map(({ kind }) => kind);
  for (const kind of ['contact_created', 'mail', 'opened', 'clicked', 'unsubscribed']) t.ok(kinds.includes(kind), kind);
  const times = moments.map(({ happened_at }: { happened_at: string }) => happened_at);
  t.strictSame(times, times.toSorted().toReversed());
  const mail = (moments as Moments).find(({ kind }) => kind === 'mail');
  t.equal(mail?.state, 'accepted');
  t.type(mail?.name, 'string');
  t.match((moments as Moments).find(({ kind }) => kind === 'clicked')?.url, /^https?:/);
  const inPages: unknown[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const page: { moments: unknown[]; next: string | null } = await momentsOf(app, contact, {
      limit: 2,
      ...(after && { after }),
    });
    inPages.push(...page.moments);
    after = page.next;
  }
  t.strictSame(inPages, moments);
});

/** Copies the newest mailing with its delivery to the contact and their events, so many times. */
function multiplyHistory({ db }: TestApp, contact: number, times: number): void {
  const columnsOf = (table: string) =>
    (db.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name).filter((name) => name !== 'id');
  const columns = {
    mailings: columnsOf('mailings'),
    deliveries: columnsOf('deliveries'),
    events: columnsOf('events'),
  };
  const copy = (table: keyof typeof columns, id: number, set: Record<string, number>) => {
    const names = columns[table];
    const values = names.map((name) => (name in set ? `@${name}` : `"${name}"`));
    const text = `INSERT INTO ${table} ("${names.join('","')}") SELECT ${values} FROM ${table} WHERE id = @id RETURNING id`;
    return (
      db
        .prepare<[object], number>(text)
        .pluck()
        .get({ ...set, id }) ?? 0
    );
  };
  const find = 'SELECT id, mailing_id FROM deliveries WHERE contact_id = ? ORDER BY id DESC';
  const delivery = db.prepare<[number], { id: number; mailing_id: number }>(find).get(contact);
  if (delivery === undefined) throw new Error('the contact got no mail');
  const events = db.prepare<[number], number>('SELECT id FROM events WHERE delivery_id = ?').pluck().all(delivery.id);
  const multiply = db.transaction(() => {
    for (let at = 1; at <= times; at++) {
      const mailing_id = copy('mailings', delivery.mailing_id, { revision: 1000 + at });
      const delivery_id = copy('deliveries', delivery.id, { mailing_id, updated_at: at });
      for (const event of events) copy('events', event, { mailing_id, delivery_id, happened_at: at });
    }
  });
  multiply();
}

/** How often the event loop turns until `work` is done: so often something else could be done meanwhile. */
async function turnsOf(work: Promise<unknown>): Promise<number> {
  let isOver = false;
  void work.finally(() => {
    isOver = true;
  });
  let turns = 0;
  for (; !isOver; turns++) await setImmediate();
  return turns;
}

t.test('much history of a person is read a few mailings at a time, in the same order page by page', async (t) => {
  const { app, contact } = await withHistory(t);
  const few = await turnsOf(momentsOf(app, contact));
  multiplyHistory(app, contact, 1000);
  const page = momentsOf(app, contact);
  const turns = await turnsOf(page);
  t.ok(turns >= few + 15, `${turns} turns of the event loop, ${few} with little history`);
  t.equal((await page).moments.length, 50);
  const inPages: unknown[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const query = { limit: 200, ...(after && { after }) };
    const part: { moments: unknown[]; next: string | null } = await momentsOf(app, contact, query);
    inPages.push(...part.moments);
    after = part.next;
  }
  const whole = await app.one.call('GET', '/contacts/person/export', { query: { contact_id: contact } });
  t.ok(inPages.length > 1500, String(inPages.length));
  t.strictSame(withKeptValues(inPages), whole.body.message.moments);
});

t.test('an erasure that a kill cut off is finished by the next start', async (t) => {
  const { app, contact, email } = await withHistory(t);
  multiplyHistory(app, contact, 1500);
  const named = 'SELECT count(*) FROM deliveries WHERE contact_id = ?';
  const before = app.db.prepare(named).pluck().get(contact);
  const erasing = app.one.call('POST', '/contacts/person/erase', { form: { contact_id: contact } });
  while (app.db.prepare('SELECT 1 FROM contacts WHERE id = ?').get(contact) !== undefined) await setImmediate();
  const path = join(t.testdir(), 'killed.db');
  writeFileSync(path, app.db.serialize());
  t.equal((await erasing).status, 200);
  t.equal(app.db.prepare(named).pluck().get(contact), 0);

  const { $client: copy } = connect(path);
  t.equal(copy.prepare(named).pluck().get(contact), before, 'the mails still name the contact');
  t.equal(copy.prepare('SELECT count(*) FROM addresses WHERE normalized_email = ?').pluck().get(email), 0);
  t.equal(copy.prepare('SELECT count(*) FROM segment_recipients WHERE email = ?').pluck().get(email), 0);
  await finishErasures(copy);
  emptyLogAfterErasure(copy);
  t.equal(copy.prepare(named).pluck().get(contact), 0);
  t.equal(copy.prepare('SELECT count(*) FROM unfinished_writes').pluck().get(), 0);
  copy.pragma('wal_checkpoint(TRUNCATE)');
  t.notOk(readFileSync(path).includes(email));
  copy.close();
});

t.test('an import that made or changed the contact is in the timeline, with its file', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Customers' } });
  await app.one.call('POST', '/contacts/upload-csv', {
    multipart: [
      ['contact_type_id', '1'],
      ['file', { filename: 'spring.csv', content: 'email\nzoe@example.com\n' }],
    ],
  });
  const { moments } = await momentsOf(app, 1);
  t.match(moments, [
    { kind: 'imported', name: 'spring.csv' },
    { kind: 'contact_created', name: 'Customers' },
  ]);
});

t.test('why somebody got no mail is in their timeline', async (t) => {
  const app = await startApp(t);
  await sendCampaign(t, app);
  const id = app.db.prepare('SELECT id, contact_id FROM deliveries WHERE contact_id = 1').raw().get() as [
    number,
    number,
  ];
  app.db.prepare("UPDATE deliveries SET state = 5, reply = 'unsubscribed from all mail' WHERE id = ?").run(id[0]);
  const { moments } = await momentsOf(app, id[1]);
  t.match(
    (moments as Moments).find(({ kind }) => kind === 'mail'),
    { state: 'suppressed', reason: 'unsubscribed from all mail' },
  );
});

t.test('the export holds the person’s contacts, lists and whole timeline, for their account only', async (t) => {
  const { app, contact, email } = await withHistory(t);
  const { body, headers } = await app.one.call('GET', '/contacts/person/export', { query: { contact_id: contact } });
  t.match(headers['content-disposition'], /attachment/);
  t.equal(body.message.person.email, email);
  t.equal(body.message.person.contacts.length, 1);
  t.equal(body.message.person.unsubscribed.length, 1);
  const { moments } = await momentsOf(app, contact, { limit: 200 });
  t.strictSame(body.message.moments, withKeptValues(moments));
  for (const path of ['/contacts/person', '/contacts/timeline', '/contacts/person/export'])
    t.equal((await app.two.call('GET', path, { query: { contact_id: contact } })).status, 404, path);
  t.equal((await app.two.call('POST', '/contacts/person/erase', { form: { contact_id: contact } })).status, 404);
});

t.test('a person who is erased is nowhere in the database file, while the counts of their mailings stay', async (t) => {
  const { app, contact, email } = await withHistory(t);
  await app.one.call('POST', '/segment/store', {
    form: { segment_name: 'All', contact_type_id: 1, select_field: ['email'], select_operator: ['is not blank'] },
  });
  await storeSegment(app, ['address_line1', 'is', `Care of\n${email}`], { segment_name: 'Guests' });
  const { person } = (await app.one.call('GET', '/contacts/person', { query: { contact_id: contact } })).body.message;
  t.match(person.named_in_segments, [{ segment_name: 'Guests' }]);
  await app.background();
  const mailing = 'SELECT triggered, delivered, unique_opens, unsubscribes FROM mailings ORDER BY id';
  const before = app.db.prepare(mailing).all();
  const holds = (file: string) => readFileSync(file).includes(email);
  app.db.pragma('wal_checkpoint(TRUNCATE)');
  t.ok(holds(app.path), 'the file has the address before');
  const { status, text } = await app.one.call('POST', '/contacts/person/erase', { form: { contact_id: contact } });
  t.equal(status, 200, text);
  await app.background();
  const entry = app.db.prepare("SELECT actor, subject FROM audit_log WHERE action = 'person_erased'").get();
  t.strictSame(entry, { actor: app.one.headers.PublicKey, subject: '' }, 'the log says that, not whom');
  t.notOk(holds(`${app.path}-wal`), 'the background has emptied the write-ahead log');
  t.equal(app.db.prepare('SELECT count(*) FROM unfinished_writes').pluck().get(), 0);
  app.db.pragma('wal_checkpoint(TRUNCATE)');
  t.notOk(holds(app.path));
  t.strictSame(app.db.prepare(mailing).all(), before);
  t.strictSame(app.db.pragma('foreign_key_check'), []);
  t.equal((await app.one.call('GET', '/contacts/details', { query: { contact_id: contact } })).status, 404);
});

t.test(
  'erasing a person removes the stored mails to them, but not those to longer addresses with theirs in it',
  async (t) => {
    const app = await startApp(t);
    const emails = ['anna@example.org', 'joanna@example.org', 'anna@example.org.au'];
    const { mails } = await sendCampaign(t, app, { people: emails.map((email) => ({ email })) });
    t.strictSame(
      mails.map(({ to }) => to),
      emails,
    );
    await app.one.call('POST', '/contacts/person/erase', { form: { contact_id: 1 } });
    t.strictSame(
      (await readOutbox(app)).map(({ to }) => to),
      emails.slice(1),
    );
  },
);

t.test('a person who was erased is refused wherever they are added again, and gets no mail', async (t) => {
  const { app, contact, email } = await withHistory(t);
  await app.one.call('POST', '/contacts/person/erase', { form: { contact_id: contact } });
  await app.one.call('POST', '/contacts/add', { form: { contact_type_id: 1, email: 'bea@example.org', country: 1 } });
  const spelt = email.toUpperCase();
  const added = await app.one.call('POST', '/contacts/add', { form: { contact_type_id: 1, email: spelt, country: 1 } });
  t.match(added.body.errors, { email: [/erased/] });
  const updated = await app.one.call('POST', '/contacts/update', {
    form: { contact_id: 2, contact_type_id: 1, email, country: 1 },
  });
  t.match(updated.body.errors, { email: [/erased/] });
  const imported = await app.one.call('POST', '/contacts/upload-csv', {
    multipart: [
      ['contact_type_id', '1'],
      ['file', { filename: 'again.csv', content: `email\n${spelt}\nother@example.org\n` }],
    ],
  });
  t.equal(imported.status, 200);
  const report = await app.one.call('GET', String(imported.headers.location).replace('/api', ''));
  t.match(report.body.message.import, { created: 1, failed: 1, errors: [{ line: 2, field: 'email', text: /erased/ }] });
  t.equal(app.db.prepare('SELECT count(*) FROM addresses WHERE normalized_email = ?').pluck().get(email), 0);
  // The other account is not concerned.
  await app.two.call('POST', '/contacts-type/add', { form: { name: 'Own' } });
  const own = Number(app.db.prepare('SELECT max(id) FROM contact_types').pluck().get());
  const { status } = await app.two.call('POST', '/contacts/add', { form: { contact_type_id: own, email, country: 1 } });
  t.equal(status, 200);
});
