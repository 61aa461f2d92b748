/** Exports of people who mean harm: archives that unpack to too much, paths that lead elsewhere, columns without end. */
import { readdirSync } from 'node:fs';
import t from 'tap';
import { ColumnCollector } from '../../../src/audience/migrate/fields.ts';
import type { VendorName } from '../../../src/audience/migrate/vendors/index.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { csv, EXPORTS, zip } from '../../support/exports.ts';
import { ownTemporaryFolder } from '../../support/temporary-folder.ts';

const look = (app: TestApp, source: string, filename: string, content: Buffer | string) =>
  app.one.call('POST', '/contacts/imports/look', {
    multipart: [
      ['source', source],
      ['file', { filename, content: Buffer.from(content) }],
    ],
  });

t.test('what is no export is refused in words, and leaves no file', async (t) => {
  const app = await startApp(t);
  const folder = ownTemporaryFolder(t);
  const row = csv(['Email Address'], [['a@example.org']]);
  const large = { content: Buffer.from(row), statedSize: 600_000_000 };
  const lying = { content: Buffer.alloc(1_000_000, 'a'), statedSize: 1000 };
  const cases: [VendorName, string, Buffer | string, RegExp][] = [
    ['mailchimp', 'a.zip', zip({ 'subscribed_a.csv': large }), /unpacks to more/],
    ['mailchimp', 'a.zip', zip({ 'subscribed_a.csv': lying }), /damaged/],
    ['mailchimp', 'a.zip', zip({ '../../subscribed_a.csv': row }), /damaged/],
    ['mailchimp', 'a.zip', zip({ '/tmp/subscribed_a.csv': row }), /damaged/],
    ['mailchimp', 'a.zip', EXPORTS.mailchimp().content.subarray(0, 2000), /damaged/],
    [
      'mailchimp',
      'a.zip',
      zip(Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`${at}.csv`, '']))),
      /more than 10000 files/,
    ],
    ['listmonk', 'a.json', '{"data":', /not JSON/],
    ['keila', 'a.exe', 'email\n', /zip, csv, json/],
    ['keila', 'a.csv', '', /empty/],
  ];
  for (const [source, name, content, text] of cases) {
    const answer = await look(app, source, name, content);
    t.equal(answer.status, 422, String(text));
    t.match(JSON.stringify(answer.body.errors), text);
  }
  t.equal((await look(app, 'elsewhere', 'a.csv', 'email\n')).status, 422);
  t.strictSame(readdirSync(folder), []);
});

t.test('of the columns of an export the first 200 are read, the next 200 are named as left out', async (t) => {
  const columns = new ColumnCollector(true);
  columns.add(new Map(Array.from({ length: 1000 }, (_, at) => [`column ${at}`, 'x'])));
  t.strictSame(
    columns.columns([]).map(({ column }) => column),
    Array.from({ length: 200 }, (_, at) => `column ${at}`),
  );
  t.strictSame(
    [...columns.ignored],
    Array.from({ length: 200 }, (_, at) => `column ${200 + at}`),
  );
});

t.test('attributes that are no JSON object are skipped', async (t) => {
  const app = await startApp(t);
  const rows = ['', 'none', '"text"', 'null', '7', '{"plan":"pro"}'].map((attributes, at) => [
    `${at}@example.org`,
    attributes,
    'enabled',
  ]);
  const { status, body } = await look(app, 'listmonk', 'a.csv', csv(['email', 'attributes', 'status'], rows));
  t.equal(status, 200);
  const { migration } = body.message.upload;
  t.strictSame(migration.new_fields, [{ field_name: 'plan', field_type: 'text' }]);
});

t.test('an attribute does not replace a value or an attribute of the same name in other letters', async (t) => {
  const app = await startApp(t);
  const attributes = '{"First_Name":"Other","Plan":"pro","plan":"free"}';
  const rows = [['ann@example.org', 'Ann Lee', attributes, 'enabled']];
  const { body } = await look(app, 'listmonk', 'a.csv', csv(['email', 'name', 'attributes', 'status'], rows));
  t.match(body.message.upload.columns, [
    { field: 'email' },
    { field: 'first_name', samples: ['Ann'] },
    { field: 'last_name', samples: ['Lee'] },
    { field: 'plan', samples: ['pro'] },
  ]);
});

t.test('keys of JSON that are strange, many or deep become fields or are named as left out', async (t) => {
  const app = await startApp(t);
  let deep: unknown = 'x';
  for (let level = 0; level < 2000; level++) deep = [deep];
  const nested = `${'{"data":'.repeat(100_000)}[]${'}'.repeat(100_000)}`;
  const attribs = {
    ...Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`key${at}`, at])),
    constructor: 'a',
    first_name: 'Other',
    'full name': 'b',
    '': 'c',
    deep,
    long: 'x'.repeat(100_000),
  };
  const record = `{"email":"a@example.org","name":"A\\u0000B C","status":"enabled","attribs":${JSON.stringify(attribs).replace('"key0":', '"__proto__":{"polluted":1},"key0":')},"lists":[{"name":"[x]\\n","subscription_status":"confirmed"}]}`;
  t.equal((await look(app, 'listmonk', 'nested.json', nested)).status, 200, 'nobody is in it');
  const { status, body } = await look(app, 'listmonk', 'a.json', `{"data":{"results":[${record}]}}`);
  t.equal(status, 200);
  const { new_fields, left_out_columns, lists } = body.message.upload.migration;
  t.ok(new_fields.length <= 200);
  t.ok(left_out_columns.length > 0);
  t.strictSame(lists, ['x']);
  t.equal(({} as Record<string, unknown>).polluted, undefined);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const upload_id = body.message.upload.id;
  const mapping = body.message.upload.columns.map(({ field }: { field: string }) => field);
  const plan = { upload_id, contact_type_id: 1, mapping };
  t.equal((await app.one.call('POST', '/contacts/imports/preview', { json: plan })).status, 200);
  const stranger = await app.two.call('POST', '/contacts/imports/start', { json: plan });
  t.equal(stranger.status, 422, 'nobody else has its fields');
});
