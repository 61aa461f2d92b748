/** What erasing a person leaves in the file, and what it keeps from coming back. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { deleteContacts, updateContact } from '../../../src/audience/contacts/contacts.ts';
import { importContacts, inEnglish } from '../../../src/audience/import/import.ts';
import { erasePerson, finishErasures } from '../../../src/audience/person/erase.ts';
import { connect } from '../../../src/database/open.ts';
import { purge } from '../../../src/database/purge.ts';
import { recordBounce } from '../../../src/delivery/feedback/bounces/record.ts';
import { isoTimestamp } from '../../../src/time/clock.ts';
import { COMMAND_LINE } from '../../../src/users/audit.ts';
import { startApp } from '../../support/app.ts';
import { withPaths } from '../../support/automations.ts';
import { mustSucceed, sendCampaign } from '../../support/campaign.ts';

t.test('erasing a person removes every address they ever had from the bytes of the file and its log', async (t) => {
  const app = await startApp(t, { WEBHOOK_PRIVATE_ADDRESSES: 'allow' });
  const must = mustSucceed(t, app.one);
  const [first, second, last] = ['canary-one@old.example', 'canary-two@old.example', 'canary-three@new.example'];
  await must('/webhooks/save', { url: 'http://127.0.0.1:1/', events: ['contact.created', 'contact.updated'] });
  await sendCampaign(t, app, { people: [{ email: first }, { email: 'taken@new.example' }] });
  const correct = (email: string, contact_id = 1) =>
    must('/contacts/update', { contact_id, contact_type_id: 1, country: 1, first_name: 'Ann', email });
  await must('/bounces', { address: first, kind: 'bounce', diagnostic: `550 <${first}>: no such user` });
  await must('/global-unsubscribes/save', { email_address: first });
  await must('/transactional/send', { sender_id: 1, email: first, subject: 'Receipt', text: 'Thank you' });
  await correct(second);
  await must('/segment/store', {
    segment_name: 'Named',
    contact_type_id: 1,
    select_field: ['email', 'email', 'email'],
    select_operator: ['is', 'is not', 'is not'],
    value: [second.toUpperCase(), `joe-${first}`, `'${second}'`],
  });
  const file = { filename: 'a.csv', content: `email\nAnn <${first}>\nnobody <other@old.example>\nzoe@old.example\n` };
  await app.one.call('POST', '/contacts/upload-csv', {
    multipart: [
      ['contact_type_id', '1'],
      ['file', file],
    ],
  });
  await app.background();
  await correct(last);
  // Somebody else has the second contact's earlier address now.
  await correct('moved@new.example', 2);
  await must('/contacts/add', { contact_type_id: 1, country: 1, first_name: 'Bo', email: 'taken@new.example' });
  await app.background();
  const personOf = async (contact_id: number) =>
    (await app.one.call('GET', '/contacts/person', { query: { contact_id } })).body.message.person;
  t.match(await personOf(1), {
    email: last,
    earlier_emails: [first, second],
    named_in_segments: [{ segment_id: 1, segment_name: 'Named' }],
  });
  t.strictSame((await personOf(2)).earlier_emails, []);
  const exported = await app.one.call('GET', '/contacts/person/export', { query: { contact_id: 1 } });
  t.strictSame(exported.body.message.person.earlier_emails, [first, second]);

  for (const contact_id of [1, 2]) {
    const { status, text } = await app.one.call('POST', '/contacts/person/erase', { form: { contact_id } });
    t.equal(status, 200, text);
  }
  await app.background();
  app.db.pragma('wal_checkpoint(PASSIVE)');
  const bytes = Buffer.concat([readFileSync(app.path), readFileSync(`${app.path}-wal`)])
    .toString('latin1')
    .toLowerCase();
  for (const email of [second, last, 'moved@new.example']) t.notOk(bytes.includes(email), email);
  t.equal(
    bytes.split(first).length,
    bytes.split(`joe-${first}`).length,
    'only the longer address of the rule is there',
  );
  t.equal((await personOf(4)).email, 'taken@new.example', 'the address of somebody else stays');
  await app.one.call('POST', '/contacts/upload-csv', {
    multipart: [
      ['contact_type_id', '1'],
      ['file', file],
    ],
  });
  for (const id of [1, 2]) {
    const imported = (await app.one.call('GET', '/contacts/imports/details', { query: { id } })).body.message.import;
    t.strictSame(
      imported.errors.map(({ value }: { value: string | null }) => value),
      [null, 'nobody <other@old.example>'],
      'cells of rows that an import refused, before and after',
    );
  }
  const { segment } = (await app.one.call('GET', '/segment/details', { query: { segment_id: 1 } })).body.message;
  t.match(segment.value, [/^erased:/, `joe-${first}`, /^'erased:[\da-f]+'$/]);
  for (const email of [first, second, last]) {
    const again = await app.one.call('POST', '/contacts/add', { form: { contact_type_id: 1, country: 1, email } });
    t.match(again.body.errors, { email: [/erased/] });
  }
});

t.test('the filters and values by which automations wait or begin name an erased address by its code', async (t) => {
  const { app, step, series, call, join } = await withPaths(t);
  await join('gone');
  const filter = 'referrer = gone@example.org';
  await step({ kind: 'wait_until', until: 'event', event: 'cart', event_filter: filter, timeout_hours: 4 });
  const trigger = { trigger: 'field', trigger_field: 'email', trigger_value: 'Gone@example.org' };
  t.equal((await call('/automations/update', trigger)).status, 200);
  t.equal((await app.one.call('POST', '/contacts/person/erase', { form: { contact_id: 1 } })).status, 200);
  const { steps, trigger_value } = await series();
  t.match(
    steps.find(({ kind }: { kind: string }) => kind === 'wait_until').event_filter,
    /^referrer = erased:[\da-f]+$/,
  );
  t.match(trigger_value, /^erased:[\da-f]+$/);
});

t.test('the earlier addresses of an erased person are removed in steps of their own, also after a kill', async (t) => {
  const app = await startApp(t);
  await sendCampaign(t, app, { people: [{ email: 'canary-0@old.example' }] });
  const must = mustSucceed(t, app.one);
  for (let number = 1; number <= 30; number++) {
    const email = `canary-${number}@old.example`;
    await must('/contacts/update', { contact_id: 1, contact_type_id: 1, country: 1, first_name: 'Ann', email });
    await must('/bounces', { address: email, kind: 'bounce', diagnostic: 'gone' });
  }
  const address = Number(app.db.prepare('SELECT address_id FROM contacts WHERE id = 1').pluck().get());
  const named = app.db.prepare("SELECT count(*) FROM addresses WHERE normalized_email LIKE 'canary-%'").pluck();
  const suppressed = app.db.prepare('SELECT count(*) FROM suppressions').pluck();
  t.strictSame([named.get(), suppressed.get()], [31, 30]);
  const db = connect(app.path);
  const erasing = erasePerson(db, app.clock, 1, address, COMMAND_LINE);
  t.strictSame([named.get(), suppressed.get()], [30, 29], 'the one they have now goes with the request');
  db.$client.close();
  await t.rejects(erasing, 'the service is killed');
  await must('/contacts/add', { contact_type_id: 1, country: 1, email: 'canary-7@old.example' });
  await finishErasures(app.db);
  t.strictSame([named.get(), suppressed.get()], [0, 0], 'the others go at the next start');
  const counted = app.db.prepare(
    'SELECT contacts_count, (SELECT count(*) FROM contacts) AS contacts FROM contact_types',
  );
  t.strictSame(counted.get(), { contacts_count: 0, contacts: 0 }, 'and so does who was added with one meanwhile');
});

t.test('who is added anew after a purge is erased under the addresses of before, too', async (t) => {
  const app = await startApp(t);
  const must = mustSucceed(t, app.one);
  const [first, second, last] = ['one@old.example', 'two@old.example', 'three@new.example'];
  await sendCampaign(t, app, { people: [{ email: first }] });
  const correct = (contact_id: number, email: string) =>
    must('/contacts/update', { contact_id, contact_type_id: 1, country: 1, first_name: 'Ann', email });
  await correct(1, second);
  deleteContacts(app.drizzle, [1], isoTimestamp(app.clock.now()));
  t.match(await purge(app.db, () => undefined), { contacts: 1, earlier_addresses: 1 });
  await must('/contacts/add', { contact_type_id: 1, country: 1, first_name: 'Ann', email: second });
  const id = Number(app.db.prepare('SELECT max(id) FROM contacts').pluck().get());
  await correct(id, last);
  const { person } = (await app.one.call('GET', '/contacts/person', { query: { contact_id: id } })).body.message;
  t.strictSame(person.earlier_emails, [first, second]);
  await must('/contacts/person/erase', { contact_id: id });
  const kept = app.db.prepare('SELECT normalized_email FROM addresses').pluck().all();
  for (const email of [first, second, last]) t.notOk(kept.includes(email), email);
  t.equal(app.db.prepare('SELECT count(*) FROM purged_corrections').pluck().get(), 0);
});

t.test('a purge beside an erasure keeps the earlier addresses of others', async (t) => {
  const app = await startApp(t);
  const must = mustSucceed(t, app.one);
  await sendCampaign(t, app, { people: [{ email: 'gone@old.example' }, { email: 'bo@old.example' }] });
  await must('/contacts-type/add', { name: 'Others' });
  const correct = (contact_id: number, email: string, contact_type_id = 1) =>
    must('/contacts/update', { contact_id, contact_type_id, country: 1, first_name: 'A', email });
  await correct(1, 'gone@new.example', 2);
  deleteContacts(app.drizzle, [1], isoTimestamp(app.clock.now()));
  const earlier = app.db.prepare('SELECT rowid, contact_id FROM earlier_addresses');
  const [before] = earlier.all() as { rowid: number }[];
  const erasures: Promise<void>[] = [];
  await purge(app.db, () => {
    // The first rows are removed: from now on others write, too.
    if (erasures.length > 0) return;
    const addressOf = app.db.prepare<[number], number>('SELECT address_id FROM contacts WHERE id = ?').pluck();
    erasures.push(erasePerson(app.drizzle, app.clock, 1, addressOf.get(1) ?? 0, COMMAND_LINE));
    const input = { contact_type_id: 1, email: 'bo@new.example', country: 1 };
    updateContact(app.drizzle, 1, 2, input, isoTimestamp(app.clock.now()));
  });
  await Promise.all(erasures);
  t.strictSame(
    earlier.all(),
    [{ rowid: before?.rowid, contact_id: 2 }],
    'it has the place of the one that was removed',
  );
  await must('/contacts/person/erase', { contact_id: 2 });
  t.strictSame(app.db.prepare("SELECT * FROM addresses WHERE normalized_email LIKE '%.example'").all(), []);
});

t.test('an erased address is refused as the second one of somebody else, however it is entered', async (t) => {
  const app = await startApp(t);
  const must = mustSucceed(t, app.one);
  await must('/contacts-type/add', { name: 'Readers' });
  const erased = ['zoe@b\u00fccher.example', 'Zoe@xn--bcher-kva.example', 'zoe@B\u00dcCHER.example'];
  const ann = { contact_type_id: 1, country: 1, email: 'ann@example.org' };
  await must('/contacts/add', { ...ann, alt_email: 'old@example.org' });
  await must('/contacts/add', { ...ann, email: erased[0] ?? '' });
  await must('/contacts/person/erase', { contact_id: 2 });
  const text = 'The alt email belongs to a person who was erased, and is not accepted again.';
  for (const alt_email of erased) {
    const added = await app.one.call('POST', '/contacts/add', { form: { ...ann, email: 'bo@example.org', alt_email } });
    const changed = await app.one.call('POST', '/contacts/update', { form: { ...ann, contact_id: 1, alt_email } });
    for (const { status, body } of [added, changed])
      t.match({ status, errors: body.errors }, { status: 422, errors: { alt_email: [text] } });
  }
  t.throws(
    () => updateContact(app.drizzle, 1, 1, { ...ann, alt_email: erased[0] ?? '' }, ''),
    /erased/,
    'also when the erasure came after the check',
  );
  const rule = { contact_type_id: 1, segment_name: 'Named', select_field: ['email'], select_operator: ['is not'] };
  for (const value of erased.flatMap((email) => [email, `<${email}>, or others`, `'${email}'`, `=${email}`])) {
    const stored = await app.one.call('POST', '/segment/store', { form: { ...rule, value: [value] } });
    t.match(stored.body.errors, { value: [/erased/] }, `nor is a rule stored about ${value}`);
    const filter = { action: 'delete', everything: 1, search: value, field: 'email', value: [value] };
    const started = await app.one.call('POST', '/contacts/jobs/start', { form: filter });
    t.match(started.body.errors, { search: [/erased/], value: [/erased/] }, 'nor the filter of an action');
  }
  const path = join(t.testdir(), 'people.csv');
  writeFileSync(
    path,
    [
      'email,alt_email',
      ...erased.map((alt, at) => `p${at}@example.org,${alt}`),
      'ann@example.org,new@example.org',
    ].join('\n'),
  );
  const own = connect(app.path);
  t.teardown(() => void own.$client.close());
  const job = { databasePath: app.path, path, accountId: 1, typeId: 1, fileName: 'people.csv' };
  const errors = [2, 3, 4].map((line) => ({ line, field: 'alt_email', text }));
  const report = inEnglish(await importContacts(own, job, app.clock));
  t.match(report, { rows: 4, created: 0, updated: 1, failed: 3, errors });
  // As if the erasure had not come to this record yet.
  app.db.prepare("UPDATE import_changes SET before = json_set(before, '$.alt_email', ?)").run(erased[0]);
  await must('/contacts/imports/undo', { id: report.id });
  await app.background();
  t.strictSame(app.db.prepare('SELECT email, alt_email FROM contacts').all(), [{ email: ann.email, alt_email: null }]);
});

t.test('an import that is under way brings nobody back who is erased meanwhile as a second address', async (t) => {
  const app = await startApp(t);
  const must = mustSucceed(t, app.one);
  await must('/contacts-type/add', { name: 'Customers' });
  await must('/contacts/add', { contact_type_id: 1, country: 1, email: 'zoe@b\u00fccher.example' });
  const [own, other] = [connect(app.path), connect(app.path)];
  t.teardown(() => [own, other].forEach(({ $client }) => void $client.close()));
  const path = join(t.testdir(), 'people.csv');
  const people = Array.from({ length: 3000 }, (_, at) => `person${at}@example.org,Zoe@B\u00dcCHER.example`);
  writeFileSync(path, ['email,alt_email', ...people].join('\n'));
  const job = { databasePath: app.path, path, accountId: 1, typeId: 1, fileName: 'people.csv' };
  const erasures: Promise<void>[] = [];
  const report = inEnglish(
    await importContacts(own, job, app.clock, {
      read: () => undefined,
      wrote: () => {
        if (erasures.length > 0) return;
        erasures.push(
          new Promise((done) => setImmediate(() => done(erasePerson(other, app.clock, 1, 1, COMMAND_LINE)))),
        );
      },
    }),
  );
  await Promise.all(erasures);
  t.ok(report.failed > 0 && report.created > 0, JSON.stringify([report.created, report.failed]));
  t.equal(report.created + report.failed, 3000);
  t.match(report.errors.at(0), { field: 'alt_email', text: /erased/ });
  t.equal(app.db.prepare('SELECT count(*) FROM contacts WHERE alt_email IS NOT NULL').pluck().get(), 0);
});

t.test('what an import writes down of second addresses while they are erased is erased, too', async (t) => {
  const app = await startApp(t);
  const must = mustSucceed(t, app.one);
  await must('/contacts-type/add', { name: 'Customers' });
  const add = (email: string, alt_email = '') =>
    must('/contacts/add', { contact_type_id: 1, country: 1, email, alt_email });
  await add('zoe@example.com');
  await add('ann@example.org', 'zoe@example.com');
  const erasing = erasePerson(app.drizzle, app.clock, 1, 1, COMMAND_LINE);
  const { changes } = app.db
    .prepare(`INSERT INTO import_changes (import_id, address_id, kind, row_id, before)
      SELECT 1, address_id, 'contact', id, json_object('alt_email', alt_email) FROM contacts WHERE alt_email IS NOT NULL`)
    .run();
  app.db.exec(`INSERT INTO contact_imports (id, user_id, contact_type_id, file_name, rows, failed, notes, errors, written_at, created_at)
    VALUES (1, 1, 1, '', 1, 0, '[]', '[]', '', '')`);
  t.equal(changes, 1, 'the erasure has not come to the contact yet');
  await erasing;
  t.strictSame(app.db.prepare('SELECT before FROM import_changes').pluck().all(), ['{"alt_email":null}']);
});

t.test('what comes of an erased person afterwards stores no address, and they get no transactional mail', async (t) => {
  const app = await startApp(t);
  await sendCampaign(t, app);
  const [contact, email] = [1, 'anna@example.org'];
  const id = Number(app.db.prepare('SELECT id FROM deliveries WHERE contact_id = ?').pluck().get(contact));
  await app.one.call('POST', '/contacts/person/erase', { form: { contact_id: contact } });
  const diagnostic = `550 5.1.1 <${email}>: no such user`;
  const ways: [string, Record<string, unknown>][] = [
    ['/bounces', { address: email, kind: 'bounce', diagnostic }],
    ['/global-unsubscribes/save', { email_address: `${email}, other@example.org` }],
    ['/unsubscribes-groups/manually-add', { unsubscribe_groups_id: 1, email_address: email }],
  ];
  for (const [path, form] of ways) {
    const { status, text } = await app.one.call('POST', path, { form });
    t.equal(status, 200, `${path}: ${text}`);
  }
  const now = app.clock.now();
  recordBounce(app.db, { deliveryId: id, kind: 'bounce', suppress: true, diagnostic }, now, now.toISOString());
  t.equal(app.db.prepare('SELECT state FROM deliveries WHERE id = ?').pluck().get(id), 3, 'the bounce is counted');
  const mail = { sender_id: 1, email, subject: 'Receipt', text: 'Thank you' };
  const refused = await app.one.call('POST', '/transactional/send', { json: mail });
  t.equal(refused.status, 422);
  t.match(refused.body.errors, { email: [/erased/] });
  await app.background();
  app.db.pragma('wal_checkpoint(PASSIVE)');
  for (const file of [app.path, `${app.path}-wal`]) t.notOk(readFileSync(file).includes(email), file);
  const count = (table: string) => app.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  t.strictSame([count('suppressions'), count('unsubscribers')], [0, 1], 'only the other address is listed');
});

t.test('an import that is under way does not add whoever is erased meanwhile, and counts them as failed', async (t) => {
  const app = await startApp(t);
  const must = mustSucceed(t, app.one);
  await must('/contacts-type/add', { name: 'Customers' });
  const [first, last] = ['a@example.org', 'z@example.org'];
  for (const email of [first, last]) await must('/contacts/add', { contact_type_id: 1, country: 1, email });
  const [own, other] = [connect(app.path), connect(app.path)];
  t.teardown(() => [own, other].forEach(({ $client }) => void $client.close()));
  const erasures: Promise<void>[] = [];
  const erase = (email: string) => {
    const id = app.db
      .prepare<[string], number>('SELECT id FROM addresses WHERE normalized_email = ?')
      .pluck()
      .get(email);
    if (id !== undefined) erasures.push(erasePerson(other, app.clock, 1, id, COMMAND_LINE));
  };
  // More people than one transaction writes, so that the last is erased between two of them.
  const people = Array.from({ length: 400 }, (_, at) => `person${at}@example.org`);
  const path = join(t.testdir(), 'people.csv');
  writeFileSync(path, ['email', first, ...people, last].join('\n'));
  const job = { databasePath: app.path, path, accountId: 1, typeId: 1, fileName: 'people.csv' };
  const report = inEnglish(
    await importContacts(own, job, app.clock, {
      read: () => erase(first),
      wrote: (written, whole) => void (written < whole && setImmediate(erase, last)),
    }),
  );
  await Promise.all(erasures);
  t.equal(erasures.length, 2);
  const text = 'The email belongs to a person who was erased, and is not accepted again.';
  const errors = [2, 403].map((line) => ({ line, field: 'email', text }));
  t.match(report, { rows: 402, created: 400, updated: 0, failed: 2, errors });
  const { imports } = (await app.one.call('GET', '/contacts/imports')).body.message;
  t.match(imports, [{ rows: 402, created: 400, failed: 2, errors }]);
  const stored = app.db.prepare<[], string>('SELECT normalized_email FROM addresses ORDER BY id').pluck().all();
  t.notOk(stored.includes(first) || stored.includes(last), 'neither address is stored again');
});

t.test(
  'an erased address goes from contacts that have it as their second one, and no undo of an import brings it back',
  async (t) => {
    const app = await startApp(t, { WEBHOOK_PRIVATE_ADDRESSES: 'allow' });
    const must = mustSucceed(t, app.one);
    await must('/webhooks/save', { url: 'http://127.0.0.1:1/', events: ['contact.created', 'contact.updated'] });
    await must('/contacts-type/add', { name: 'Readers' });
    const add = (email: string, alt_email = '') =>
      must('/contacts/add', { contact_type_id: 1, country: 1, first_name: 'A', email, alt_email });
    await add('zoe@b\u00fccher.example');
    await add('typed@example.org', 'Zoe@B\u00dcCHER.example');
    await add('coded@example.org', 'zoe@xn--bcher-kva.example');
    await add('longer@example.org', 'joe-zoe@b\u00fccher.example');
    await add('imported@example.org', 'zoe@b\u00fccher.example');
    await must('/segment/store', {
      ...{ segment_name: 'Named', contact_type_id: 1 },
      ...{ select_field: ['email'], select_operator: ['is'], value: ['Zoe@B\u00dcCHER.example'] },
    });
    const csv = 'email,first_name,alt_email\nimported@example.org,A,new@example.org\n';
    const multipart: [string, string | { filename: string; content: string }][] = [
      ['contact_type_id', '1'],
      ['file', { filename: 'people.csv', content: csv }],
    ];
    t.equal((await app.one.call('POST', '/contacts/upload-csv', { multipart })).status, 200);
    await app.background();
    await app.one.call('POST', '/contacts/person/erase', { form: { contact_id: 1 } });
    const seconds = app.db.prepare('SELECT alt_email FROM contacts ORDER BY id').pluck();
    t.strictSame(seconds.all(), [null, null, 'joe-zoe@b\u00fccher.example', 'new@example.org']);
    t.strictSame(
      app.db.prepare("SELECT before ->> 'alt_email' FROM import_changes WHERE kind = 'contact'").pluck().all(),
      [null],
    );
    await app.background();
    app.db.pragma('wal_checkpoint(PASSIVE)');
    const bytes = Buffer.concat([readFileSync(app.path), readFileSync(`${app.path}-wal`)])
      .toString()
      .toLowerCase();
    t.equal(bytes.split('zoe@').length, bytes.split('joe-zoe@').length, 'only the longer address is there');
  },
);
