/** The export: every contact of a type as CSV that a spreadsheet may open and the upload takes back. */
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import type { ImportJob } from '../../src/audience/import/import-job.ts';
import { type Caller, startApp } from '../support/app.ts';
import { scriptArguments } from '../support/run-script.ts';

const typeOf = async (caller: Caller, name: string): Promise<number> => {
  const { headers } = await caller.call('POST', '/contacts-type/add', { form: { name } });
  return Number(String(headers.location).split('=')[1]);
};

const upload = (caller: Caller, type: number, content: string) =>
  caller.call('POST', '/contacts/upload-csv', {
    multipart: [
      ['contact_type_id', String(type)],
      ['file', { filename: 'contacts.csv', content }],
    ],
  });

const exported = (caller: Caller, type: number, headers = {}) =>
  caller.call('GET', '/contacts/export', { query: { contact_type_id: type }, headers });

/** What an export must keep of a contact. */
async function contactsOf(t: Test, caller: Caller, type: number): Promise<unknown[]> {
  const { status, body } = await caller.call('GET', '/contacts/list', { query: { contact_type_id: type } });
  t.equal(status, 200);
  return body.message.contacts
    .map(({ id, contact_type_id, contact_type, created_at, updated_at, ...kept }: Record<string, unknown>) => kept)
    .sort((a: { email: string }, b: { email: string }) => (a.email < b.email ? -1 : 1));
}

t.test('it is a CSV attachment with the reserved and the custom fields, an empty type gives the header', async (t) => {
  const { one } = await startApp(t);
  const type = await typeOf(one, 'Readers');
  await one.call('POST', '/custom-fields/save', { form: { field_name: 'Shoe_size', field_type: 'number' } });
  const { status, headers, text } = await exported(one, type);
  t.equal(status, 200);
  t.match(headers['content-type'], 'text/csv');
  t.match(headers['content-disposition'], 'attachment; filename="contacts.csv"');
  t.equal(text.split('\r\n').length, 2);
  t.match(text, /^"first_name",.*"postal_code","language","Shoe_size"\r\n$/);
});

t.test("another account's type is not found", async (t) => {
  const { one, two } = await startApp(t);
  const type = await typeOf(one, 'Readers');
  t.equal((await exported(two, type)).status, 404);
  t.equal((await one.call('GET', '/contacts/export')).status, 404);
});

t.test('cells that a spreadsheet would run are neutralised', async (t) => {
  const { one } = await startApp(t);
  const type = await typeOf(one, 'Readers');
  await upload(one, type, 'email,first_name,city\n+1@example.com,=1+2,@home\n');
  t.match((await exported(one, type)).text, /\r\n'=1\+2,,'\+1@example\.com,,,,'@home,/);
});

t.test('whatever contacts hold, the export imported into another type gives the same contacts', async (t) => {
  const { one } = await startApp(t);
  for (const name of ['Note', 'other']) {
    await one.call('POST', '/custom-fields/save', { form: { field_name: name, field_type: 'text' } });
  }
  const line = fc.string({ unit: fc.constantFrom(...'=\'"@-+,; \u00e9\u20ac\u{1f600}abc1') });
  const free = fc.string({ unit: fc.constantFrom(...'=\'"@\t\r\n,; \u00e9x') });
  const contact = fc.record({
    first_name: line,
    last_name: line,
    city: line,
    postal_code: line,
    alt_email: fc.constantFrom('', '+b@example.com'),
    country: fc.integer({ min: 1, max: 240 }),
    'custom_field[Note]': free,
    'custom_field[other]': free,
  });
  let round = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(contact, { minLength: 1, maxLength: 8 }), async (contacts) => {
      const from = await typeOf(one, `From ${++round}`);
      const to = await typeOf(one, `To ${round}`);
      for (const [at, form] of contacts.entries()) {
        const email = `${'=+-'.charAt(at % 3)}Person${at}@example.com`;
        const { status, text } = await one.call('POST', '/contacts/add', {
          form: { ...form, contact_type_id: from, email },
        });
        t.equal(status, 200, text);
      }
      t.equal((await upload(one, to, (await exported(one, from)).text)).status, 200);
      t.strictSame(await contactsOf(t, one, to), await contactsOf(t, one, from));
    }),
    { numRuns: 15 },
  );
});

t.test('more custom fields than SQLite has columns for are exported all the same', async (t) => {
  const app = await startApp(t);
  const type = await typeOf(app.one, 'Readers');
  app.db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2100)
    INSERT INTO custom_fields (user_id, field_name, field_type, created_at, updated_at) SELECT 1, 'field' || i, 'text', '', '' FROM n`);
  const { status, text } = await exported(app.one, type);
  t.equal(status, 200);
  t.match(text, /,"field2100"\r\n/);
});

t.test('every country comes back as itself', async (t) => {
  const { one, db } = await startApp(t);
  const from = await typeOf(one, 'From');
  const to = await typeOf(one, 'To');
  const ids = db.prepare<[], number>('SELECT id FROM countries').pluck().all();
  await upload(one, from, `email,country\n${ids.map((id) => `c${id}@example.com,${id}`).join('\n')}\n`);
  await upload(one, to, (await exported(one, from)).text);
  t.strictSame(await contactsOf(t, one, to), await contactsOf(t, one, from));
  t.equal((await contactsOf(t, one, to)).length, ids.length);
});

t.test('an upload keeps a value where the cell is empty, and removes it where `empty_cells` says so', async (t) => {
  const { one, db } = await startApp(t);
  const type = await typeOf(one, 'Readers');
  const send = (content: string, empty_cells?: string) =>
    one.call('POST', '/contacts/upload-csv', {
      multipart: [
        ['contact_type_id', String(type)],
        ...(empty_cells === undefined ? [] : [['empty_cells', empty_cells] as [string, string]]),
        ['file', { filename: 'contacts.csv', content }],
      ],
    });
  const city = () => db.prepare('SELECT city FROM contacts').pluck().get();
  await send('email,city\nann@example.org,Graz\n');
  await send('email,city\nann@example.org,\n');
  t.equal(city(), 'Graz');
  t.match((await send('email,city\nann@example.org,\n', 'maybe')).body.errors, { empty_cells: Array });
  await send('email,city\nann@example.org,\n', 'clear');
  t.equal(city(), '');
});

t.test('many pages are streamed whole, compressed where the client asks', async (t) => {
  const { one, fastify } = await startApp(t);
  const type = await typeOf(one, 'Readers');
  const emails = Array.from({ length: 1501 }, (_, at) => `person${at}@example.com`);
  await upload(one, type, `email\n${emails.join('\n')}\n`);
  const plain = await exported(one, type);
  t.equal(plain.text.split('\r\n').length, 1503);
  const packed = await fastify.inject({
    url: `/api/contacts/export?contact_type_id=${type}`,
    headers: { ...one.headers, 'accept-encoding': 'gzip' },
  });
  t.equal(packed.headers['content-encoding'], 'gzip');
  t.equal(gunzipSync(packed.rawPayload).toString(), plain.text);
});

t.test('an import killed half-way leaves whole rows, and can be run again', async (t) => {
  const { one, db, path } = await startApp(t);
  const type = await typeOf(one, 'Readers');
  const people = 20_000;
  const content = `email,first_name\n${Array.from({ length: people }, (_, at) => `r${at}@example.org,Ann`).join('\n')}\n`;
  const file = join(t.testdir({ 'contacts.csv': content }), 'contacts.csv');
  t.equal(
    importAndDie({ databasePath: path, accountId: 1, typeId: type, path: file, fileName: 'contacts.csv' }),
    'SIGKILL',
  );
  const count = () => db.prepare("SELECT count(*) FROM contacts WHERE first_name = 'Ann'").pluck().get();
  const kept = () => db.prepare('SELECT contacts_count FROM contact_types WHERE id = ?').pluck().get(type);
  const before = Number(count());
  t.ok(before > 0 && before < people, `killed after ${before}`);
  t.equal(kept(), before, 'the count is that of the rows');
  t.equal((await upload(one, type, content)).status, 200);
  t.equal(count(), people);
  t.equal(kept(), people);
  const [killed, report] = (await one.call('GET', '/contacts/imports')).body.message.imports;
  t.match(killed, { rows: people, created: before, updated: 0, state: 'writing', is_undoable: 1 });
  t.match(report, { rows: people, created: people - before, updated: before, failed: 0, state: 'done' });
});

/** Imports in a process that kills itself once contacts are there; gives the signal it died of. */
function importAndDie(job: ImportJob): string | null {
  const src = resolve(import.meta.dirname, '../../src');
  const script = `
    import { importContacts } from '${src}/audience/import/import.ts';
    import { connect } from '${src}/database/open.ts';
    const job = ${JSON.stringify(job)};
    const watch = connect(job.databasePath).$client.prepare('SELECT EXISTS (SELECT 1 FROM contacts)').pluck();
    setInterval(() => watch.get() && process.kill(process.pid, 'SIGKILL'), 1);
    await importContacts(connect(job.databasePath), job);`;
  const child = spawnSync(process.execPath, scriptArguments(script), { encoding: 'utf8' });
  if (child.signal === null) throw new Error(`it lived: ${child.stderr}`);
  return child.signal;
}

t.test('values of time_zone that are no time zone are kept, counted and named', async (t) => {
  const { one } = await startApp(t);
  const type = await typeOf(one, 'Readers');
  await one.call('POST', '/custom-fields/save', { form: { field_name: 'time_zone', field_type: 'text' } });
  const zones = ['Europe/Vienna', 'EST5', '', 'CET or so', 'EST5', 'me@example.org', '-05:00'];
  const rows = zones.map((zone, at) => `a${at}@example.org,A,${zone}`);
  t.equal((await upload(one, type, ['email,first_name,time_zone', ...rows].join('\n'))).status, 200);
  const { body } = await one.call('GET', '/contacts/imports/details', { query: { id: 1 } });
  t.match(body.message.import, { created: 7, failed: 0 });
  t.strictSame(body.message.import.notes, [
    'Values of time_zone that are not an IANA time zone such as Europe/Berlin: 5 (EST5, CET or so, …). For these contacts, campaigns in each contact’s own time zone use country and state.',
  ]);
});

t.test(
  'an address cell of several lines becomes one line and is noted; a name with a line break fails its row',
  async (t) => {
    const { one } = await startApp(t);
    const type = await typeOf(one, 'Readers');
    const csv = [
      'email,first_name,address_line1,city',
      'anna@example.org,Anna,"1 Harbour St \r\n  Flat 2\n\nTop floor",Lark',
      'bert@example.org,Bert,2 Harbour St,"Lark\n"',
      '"carl@example.org","Ca\nrl",3 Harbour St,Lark',
    ].join('\r\n');
    t.equal((await upload(one, type, csv)).status, 200);
    const { body } = await one.call('GET', '/contacts/imports/details', { query: { id: 1 } });
    t.match(body.message.import, {
      created: 2,
      failed: 1,
      notes: ['Address cells of several lines, joined into one: 1'],
      errors: [{ field: 'first_name' }],
    });
    const contacts = (await contactsOf(t, one, type)) as Record<string, unknown>[];
    t.strictSame(
      contacts.map(({ address_line1, city }) => [address_line1, city]),
      [
        ['1 Harbour St Flat 2 Top floor', 'Lark'],
        ['2 Harbour St', 'Lark'],
      ],
    );
  },
);
