/** Moving here from other services: what the dry run says is what happens, and nobody who had left is mailed, whatever happens later. */
import t from 'tap';
import { VENDOR_NAMES, type VendorName } from '../../../src/audience/migrate/vendors/index.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { mustSucceed, readOutbox } from '../../support/campaign.ts';
import { csv, EXPORTS, LEAVING, type MadeExport, STAYING } from '../../support/exports.ts';
import { SHOP_SENDER } from '../../support/sender.ts';
import { until } from '../../support/until.ts';

/** Uploads an export, or a plain CSV file, and gives the upload. */
async function look(app: TestApp, file: MadeExport, source?: VendorName) {
  const multipart: [string, string | MadeExport][] = [
    ['file', file],
    ...(source ? [['source', source] as [string, string]] : []),
  ];
  const { status, text, body } = await app.one.call('POST', '/contacts/imports/look', { multipart });
  if (status !== 200) throw new Error(text);
  return body.message.upload;
}

/** Previews or imports an upload with its own columns, and gives it when that has ended. */
async function ask(
  app: TestApp,
  what: 'preview' | 'start',
  { id: upload_id, columns }: { id: string; columns: { field: string }[] },
) {
  const mapping = columns.map(({ field }) => field);
  const plan = { upload_id, contact_type_id: 1, mapping, empty_cells: 'keep' };
  const { status, text } = await app.one.call('POST', `/contacts/imports/${what}`, { json: plan });
  if (status !== 200) throw new Error(text);
  const progress = async () =>
    (await app.one.call('GET', '/contacts/imports/progress', { query: { upload_id } })).body.message.upload;
  await until(async () => !['running', 'previewing'].includes((await progress()).state));
  return progress();
}

async function previewOf(app: TestApp, upload: { id: string; columns: { field: string }[] }) {
  await ask(app, 'preview', upload);
  return (await app.one.call('GET', '/contacts/imports/previewed', { query: { upload_id: upload.id } })).body.message
    .preview;
}

/** Sends to everybody and gives who got the mail. */
async function sendToAll(app: TestApp): Promise<string[]> {
  const before = (await readOutbox(app)).length;
  await app.one.call('POST', '/single/send/create', {
    form: {
      template_id: 1,
      template_html: '<p>News</p>',
      sender_id: 1,
      unsubscribe_group_id: 1,
      single_send_name: 'News',
      subject: 'News',
      preheader: 'News',
      recipient_id: ['contacts_1'],
      schedule_type: 0,
    },
  });
  app.clock.advance(11_000);
  await app.background();
  return (await readOutbox(app)).slice(before).map(({ to }) => to);
}

const count = (app: TestApp, table: string) => Number(app.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
/** What a migration makes, without the times at which it did. */
const made = (app: TestApp) =>
  [
    'SELECT email, first_name, last_name, custom_values FROM contacts ORDER BY id',
    'SELECT field_name, field_type FROM custom_fields ORDER BY id',
    'SELECT segment_name, segment_emails_count FROM segments ORDER BY id',
    'SELECT unsubscribe_groups_id, address_id FROM unsubscribers ORDER BY id',
    'SELECT address_id, kind FROM suppressions ORDER BY id',
    'SELECT group_name FROM unsubscribe_groups ORDER BY id',
    'SELECT template_name, html_code FROM own_templates ORDER BY id',
  ].map((query) => app.db.prepare(query).all());

for (const vendor of VENDOR_NAMES)
  t.test(`${vendor}: the dry run is what happens, twice is once, and nobody who had left is ever mailed`, async (t) => {
    const app = await startApp(t);
    const must = mustSucceed(t, app.one);
    await must('/unsubscribes-groups/save', { group_name: 'News', description: 'News', is_display: 1 });
    await must('/contacts-type/add', { name: 'Readers' });
    await must('/sender/save', SHOP_SENDER);
    // Some who left there are contacts here already, in another case.
    for (const email of LEAVING.slice(0, 20))
      await must('/contacts/add', { contact_type_id: 1, first_name: 'A', country: 1, email: email.toUpperCase() });
    const file = EXPORTS[vendor]();
    const upload = await look(app, file, vendor);
    const before = made(app);
    const preview = await previewOf(app, upload);
    t.strictSame(made(app), before, 'a dry run changes nothing');

    t.equal((await ask(app, 'start', upload)).state, 'done');
    await app.background();
    const report = (await app.one.call('GET', '/contacts/imports')).body.message.imports.at(-1);
    t.strictSame([preview.rows, preview.failed], [report.rows, report.failed]);
    t.strictSame(
      [preview.counts.new, preview.counts.changed + preview.counts.unchanged],
      [report.created, report.updated],
    );
    t.equal(count(app, 'contacts'), 20 + preview.counts.new);
    const added = (kinds: string[]) =>
      preview.leaving
        .filter(({ kind }: { kind: string }) => kinds.includes(kind))
        .reduce((sum: number, one: { added: number }) => sum + one.added, 0);
    t.equal(count(app, 'unsubscribers'), added(['all', 'group']));
    t.equal(count(app, 'suppressions'), added(['bounce', 'complaint']));
    t.equal(count(app, 'custom_fields'), upload.migration.new_fields.length);
    t.equal(count(app, 'segments'), upload.migration.lists.length);
    t.equal(count(app, 'own_templates'), upload.migration.templates.length);

    t.strictSame((await sendToAll(app)).sort(), [...STAYING].sort());
    const after = made(app);
    app.clock.advance(1000);
    await ask(app, 'start', await look(app, file, vendor));
    await app.background();
    t.strictSame(made(app), after, 'once more changes nothing');
    const everybody = csv(
      ['email'],
      [...LEAVING, ...STAYING].map((email) => [email.toUpperCase()]),
    );
    await ask(app, 'start', await look(app, { filename: 'all.csv', content: Buffer.from(everybody) }));
    t.strictSame(
      (await sendToAll(app)).map((to) => to.toLowerCase()).sort(),
      [...STAYING].sort(),
      'also after a later import',
    );
  });

t.test('an import is whole although the account may not have a segment for each list', async (t) => {
  const app = await startApp(t);
  for (const name of ['Readers', 'Others']) await app.one.call('POST', '/contacts-type/add', { form: { name } });
  const add = app.db.prepare(
    "INSERT INTO segments (user_id, contact_type_id, segment_name, select_field, select_operator, value, rules, created_at, updated_at) VALUES (1, 2, 'S', '[]', '[]', '[]', '[]', '', '')",
  );
  for (let count = 0; count < 999; count++) add.run();
  await ask(app, 'start', await look(app, EXPORTS.mailchimp(), 'mailchimp'));
  await app.background();
  const [one] = (await app.one.call('GET', '/contacts/imports')).body.message.imports;
  t.match(one, { state: 'done' });
  t.match(one.notes.at(-1), /its limit of segments or rules: 1\. These lists are in a field/);
  t.strictSame(app.db.prepare('SELECT segment_name FROM segments WHERE contact_type_id = 1').pluck().all(), ['VIP']);
});

t.test('fields get the type that all values have, lists become segments, and what is left out is named', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const mailchimp = await look(app, EXPORTS.mailchimp(), 'mailchimp');
  t.strictSame(mailchimp.migration, {
    source: 'Mailchimp',
    new_fields: [
      { field_name: 'shoe_size', field_type: 'number' },
      { field_name: 'optin_time', field_type: 'datetime-local' },
      { field_name: 'mailchimp_tags', field_type: 'text' },
    ],
    lists: ['VIP', 'Graz, Austria'],
    templates: ['Spring news'],
    left_out_columns: ['member_rating', 'leid', 'unsub_reason'],
    left_out_files: ['reports/opens.csv'],
  });
  await ask(app, 'start', mailchimp);
  await app.background();
  const [html] = app.db.prepare<[], string>('SELECT html_code FROM own_templates').pluck().all();
  t.match(html, 'Hello ((first_name)), <a href="((unsubscribe_preferences))">');
  t.equal(app.db.prepare("SELECT segment_emails_count FROM segments WHERE segment_name = 'VIP'").pluck().get(), 151);
  const listmonk = await look(app, EXPORTS.listmonk(), 'listmonk');
  t.strictSame(listmonk.migration.new_fields, [
    { field_name: 'since', field_type: 'datetime-local' },
    { field_name: 'tags', field_type: 'text' },
    { field_name: 'listmonk_lists', field_type: 'text' },
  ]);
  await ask(app, 'start', listmonk);
  const [zoe] = app.db
    .prepare<[], { first_name: string; last_name: string; city: string; custom_values: string }>(
      "SELECT first_name, last_name, city, custom_values FROM contacts WHERE email = 'stay0@example.org'",
    )
    .all();
  t.match(zoe, { first_name: 'Zoë', last_name: 'von Müller', city: 'Graz' });
  t.match(Object.values(JSON.parse(zoe?.custom_values ?? '')), [
    '42',
    '2024-03-14T09:12:31',
    '[VIP] [Graz, Austria]',
    '2024-03-14T09:12:31',
    '["a","b"]',
    '[List 1] [List 2]',
  ]);
  t.equal(
    app.db
      .prepare(
        "SELECT count(*) FROM unsubscribers u JOIN unsubscribe_groups g ON g.id = u.unsubscribe_groups_id WHERE g.group_name = 'List 2'",
      )
      .pluck()
      .get(),
    STAYING.length / 2,
    'who left one list is unsubscribed from the group of its name',
  );
});

t.test('birthdays, zones, addresses and telephone numbers keep what they mean', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const take = async (source: VendorName, header: string[], ...rows: string[][]) => {
    const upload = await look(app, { filename: 'contacts.csv', content: Buffer.from(csv(header, rows)) }, source);
    await ask(app, 'start', upload);
    return { ...upload.migration, notes: upload.notes };
  };
  const mailchimp = await take(
    'mailchimp',
    ['Email Address', 'Birthday', 'Size', 'TIMEZONE', 'GMTOFF', 'Country'],
    ['ann@example.org', '12/24', '12/24', 'America/New_York', '-5', 'Austria'],
    ['bob@example.org', '02/29', '24/12', 'Nowhere', '', 'Narnia'],
    ['cy@example.org', '', '', '', '', ''],
  );
  t.strictSame(mailchimp.new_fields, [
    { field_name: 'birthday', field_type: 'yearly-date' },
    { field_name: 'size', field_type: 'text' },
    { field_name: 'time_zone', field_type: 'text' },
  ]);
  t.strictSame(mailchimp.left_out_columns, ['gmtoff']);
  t.strictSame(mailchimp.notes.slice(1), [
    'Values of time_zone that do not fit the field and are skipped: 1 (Nowhere)',
    'Values of country that do not fit the field and are skipped: 1 (Narnia)',
  ]);
  const sendgrid = await take(
    'sendgrid',
    ['EMAIL', 'CONTACT_ID', 'ADDRESS_LINE_1', 'ADDRESS_LINE_2', 'PHONE_NUMBER'],
    ['dan@example.org', '1', '1 Harbour St', 'Door 2', '4366412345'],
  );
  t.strictSame(sendgrid.new_fields, [{ field_name: 'phone_number', field_type: 'text' }]);
  await take(
    'brevo',
    ['EMAIL', 'FNAME', 'SMS', 'ORDERS', 'SINCE'],
    ['eve@example.org', 'Eve', '4366454321', '7', '2024-03-14'],
  );
  t.equal(app.db.prepare("SELECT first_name FROM contacts WHERE email = 'eve@example.org'").pluck().get(), 'Eve');
  const fields = 'SELECT field_name, field_type FROM custom_fields ORDER BY id LIMIT -1 OFFSET 4';
  t.strictSame(app.db.prepare(fields).raw().all(), [
    ['orders', 'number'],
    ['since', 'datetime-local'],
  ]);
  const contacts = app.db
    .prepare('SELECT email, address_line1, address_line2, custom_values FROM contacts ORDER BY id')
    .raw()
    .all() as [string, string | null, string | null, string | null][];
  t.strictSame(
    contacts.map(([email, one, two, own]) => [email, one ?? '', two ?? '', ...Object.values(JSON.parse(own ?? '{}'))]),
    [
      ['ann@example.org', '', '', '12-24', '12/24', 'America/New_York'],
      ['bob@example.org', '', '', '02-29', '24/12'],
      ['cy@example.org', '', ''],
      ['dan@example.org', '1 Harbour St', 'Door 2', '4366412345'],
      ['eve@example.org', '', '', '4366454321', '7', '2024-03-14'],
    ],
  );
});

t.test('an undo of a migration takes its contacts and marks back; who bounced stays suppressed', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const { import_id } = await ask(app, 'start', await look(app, EXPORTS.keila(), 'keila'));
  app.clock.advance(1000);
  await app.one.call('POST', '/contacts/imports/undo', { form: { id: import_id } });
  await app.background();
  t.equal(count(app, 'contacts'), 0);
  t.equal(count(app, 'unsubscribers'), 0);
  t.equal(count(app, 'suppressions'), LEAVING.length / 2);
});

t.test('an export that is started twice at once is imported once', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const { id: upload_id, columns } = await look(app, EXPORTS.mailchimp(), 'mailchimp');
  const plan = { upload_id, contact_type_id: 1, mapping: columns.map(({ field }: { field: string }) => field) };
  const answers = await Promise.all([1, 2].map(() => app.one.call('POST', '/contacts/imports/start', { json: plan })));
  t.strictSame(answers.map(({ status }) => status).sort(), [200, 409]);
  t.equal(count(app, 'own_templates'), 1);
});

t.test('a file that names nobody who left says so, and one of suppressions alone is taken', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const contacts = {
    filename: 'contacts.csv',
    content: Buffer.from(csv(['EMAIL', 'FIRST_NAME'], [['a@example.org', 'A']])),
  };
  t.match((await look(app, contacts, 'sendgrid')).notes, [/^This file has nobody who unsubscribed or bounced/]);
  const bounces = {
    filename: 'bounces.csv',
    content: Buffer.from(csv(['status', 'reason', 'email', 'created'], [['5.1.1', 'no', 'A@example.org', '1']])),
  };
  const upload = await look(app, bounces, 'sendgrid');
  t.match(await previewOf(app, upload), { is_possible: 1, leaving: [{ kind: 'bounce', people: 1, added: 1 }] });
  t.equal((await ask(app, 'start', upload)).state, 'done');
  t.equal(count(app, 'suppressions'), 1);
});

t.test('who left a group at SendGrid leaves that group, and all mail only where no group is named', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const rows = [
    ['a@example.org', 'News'],
    ['b@example.org', 'News'],
    ['c@example.org', ''],
  ];
  const upload = await look(
    app,
    { filename: 'left.csv', content: Buffer.from(csv(['email', 'group_name'], rows)) },
    'sendgrid',
  );
  const { leaving } = await previewOf(app, upload);
  const people = leaving.map(({ kind, people }: { kind: string; people: number }) => `${kind} ${people}`);
  t.strictSame(people.sort(), ['all 1', 'group 2']);
});
