/** Importing people in the dashboard: the columns, what will happen, the import itself, and taking it back. */
import { once } from 'node:events';
import { readdirSync, rmdirSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import t from 'tap';
import { makeUploadFolder } from '../../src/audience/import/uploads.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { HOSTILE } from '../support/dashboard/filled-account.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';
import { until } from '../support/until.ts';
import { serve } from '../support/walked-pages.ts';

t.test('whoever has no contact type yet makes one with the first import', async (t) => {
  const app = await startApp(t);
  const cookie = cookieOf(app, addPerson(app));
  const post = (path: string, payload: string, type: string) =>
    app.fastify.inject({ method: 'POST', url: path, headers: { ...FROM_PAGE, cookie, 'content-type': type }, payload });
  const file = [
    '--x',
    'Content-Disposition: form-data; name="file"; filename="readers.csv"',
    'Content-Type: text/csv',
    '',
    'email,first_name,country\nzoe@example.org,Zoë,Germany\n',
    '--x--',
    '',
  ].join('\r\n');
  const { headers } = await post('/contacts/import', file, 'multipart/form-data; boundary=x');
  const path = String(headers.location);
  const { payload } = await app.fastify.inject({ url: path, headers: { cookie } });
  t.match(payload, /<input[^>]*value="readers"/, 'the name of the file is proposed');
  const short = await post('/contacts/import', file.replace('readers.csv', 'r.csv'), 'multipart/form-data; boundary=x');
  const proposal = await app.fastify.inject({ url: String(short.headers.location), headers: { cookie } });
  t.match(proposal.payload, /<input[^>]*value="r\.csv"/, 'a type may not be called r');
  const mapping = 'column0=email&column1=first_name&column2=country';
  const form = 'application/x-www-form-urlencoded';
  t.match((await post(path, `name=&${mapping}`, form)).payload, /id="name-problem">This is required\./);
  const types = async () => (await app.one.call('GET', '/contacts-type')).body.message.contactTypes;
  t.match((await post(path, `name=Readers&${mapping.replace('email', '')}`, form)).payload, 'One column must be');
  t.strictSame(await types(), [], 'no type is made for columns that are refused');
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Customers' } });
  const both = await post(path, `contact_type_id=1&name=Readers&${mapping}`, form);
  t.equal(both.statusCode, 422, 'a name for a new type beside one that exists');
  t.match(both.payload, 'id="name-problem"');
  const { statusCode } = await post(path, `contact_type_id=new&name=Readers&${mapping}`, form);
  t.equal(statusCode, 303);
  await reached(app, path, 'looked');
  t.match((await app.page('GET', path, { headers: { cookie } })).text, 'A new list: <bdi>Readers</bdi>');
  const again = (await app.page('GET', `${path}?columns=1`, { headers: { cookie } })).text;
  t.match(again, /<option[^>]*value="new"[^>]*selected/, 'the columns keep the choice of a new list');
  t.match(again, /<input[^>]*value="Readers"/);
  t.match(await types(), [{ name: 'Customers' }], 'a preview makes no list');
  t.equal((await post(`${path}/start`, 'start_automations=1', form)).statusCode, 303);
  await reached(app, path, 'done');
  t.match(await types(), [
    { name: 'Customers', contacts_count: 0 },
    { name: 'Readers', contacts_count: 1 },
  ]);
});

t.test(
  'a column of an import becomes a new field where one is asked for, and the preview names those that are not imported',
  async (t) => {
    const app = await startApp(t);
    const cookie = cookieOf(app, addPerson(app));
    await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
    const headers = { ...FROM_PAGE, cookie };
    const file = { filename: 'readers.csv', content: 'email,Straße (privat),e mail\nzoe@example.org,Lindenstr. 4,x\n' };
    const looked = await app.page('POST', '/contacts/import', { headers, multipart: [['file', file]] });
    const path = String(looked.headers.location);
    t.match((await app.page('GET', path, { headers })).text, 'New field: strasse_privat');
    const send = (columns: Record<string, string>) =>
      app.page('POST', path, { headers, form: { contact_type_id: '1', column0: 'email', ...columns } });
    const fields = async () =>
      (await app.one.call('GET', '/custom-fields')).body.message.customFields.map(
        (one: { field_name: string }) => one.field_name,
      );
    await app.one.call('POST', '/custom-fields/save', { form: { field_name: 'e_mail', field_type: 'text' } });
    const refused = await send({ column2: 'new:text' });
    t.equal(refused.status, 422, 'a field that there is already is not made again');
    t.match(refused.text, 'has already been taken');
    t.equal((await send({ column1: 'new:text' })).status, 303);
    await reached(app, path, 'looked');
    const preview = (await app.page('GET', path, { headers })).text;
    t.match(preview, 'Columns not imported: <bdi>e mail</bdi>');
    t.match(preview, 'New fields: <bdi>Strasse privat (Text)</bdi>');
    t.match(
      (await app.page('GET', `${path}?columns=1`, { headers })).text,
      /<option value="new:text" selected[^>]*>New field: strasse_privat/,
    );
    t.strictSame(await fields(), ['e_mail'], 'a preview makes no field');
    t.equal((await app.page('POST', `${path}/start`, { headers })).status, 303);
    await reached(app, path, 'done');
    t.strictSame(await fields(), ['e_mail', 'strasse_privat']);
    t.match((await app.page('GET', '/contacts/1', { headers })).text, 'Lindenstr. 4');
  },
);

/** Waits until the upload of this page is in a state. */
async function reached(app: TestApp, path: string, state: string): Promise<void> {
  const upload_id = path.split('/').at(-1) ?? '';
  for (;;) {
    const { message } = (await app.one.call('GET', '/contacts/imports/progress', { query: { upload_id } })).body;
    if (message.upload.state === state) return;
    await setTimeout(20);
  }
}

t.test(
  'the page before an import says what it will do, also with other options, and its button does just that',
  async (t) => {
    const app = await startApp(t);
    const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)) };
    const { call } = app.one;
    await call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
    await call('POST', '/unsubscribes-groups/save', {
      form: { group_name: 'News', description: 'News', is_display: 1 },
    });
    const person = { contact_type_id: 1, first_name: 'Zoe', last_name: 'M', country: 1, city: 'Graz' };
    await call('POST', '/contacts/add', { form: { ...person, email: 'zoe@example.org' } });
    await call('POST', '/global-unsubscribes/save', { form: { email_address: 'zoe@example.org' } });
    const hostile = `"${HOSTILE.replaceAll('"', '""')}"`;
    const content = `email,first_name,city\nzoe@example.org,${hostile},\nnone,X,\nada@example.org,Ada,Wien\n`;
    const file = { filename: 'readers.csv', content };
    const looked = await app.page('POST', '/contacts/import', { headers, multipart: [['file', file]] });
    const path = String(looked.headers.location);
    const columns = { column0: 'email', column1: 'first_name', column2: 'city' };
    t.equal((await app.page('POST', path, { headers, form: { contact_type_id: '1', ...columns } })).status, 303);
    await reached(app, path, 'looked');
    const shown = (await app.page('GET', path, { headers })).text;
    for (const part of [
      'Import: add 1, change 1',
      'Still unsubscribed or suppressed',
      'ada@example.org',
      'The e-mail address is not valid.',
    ])
      t.match(shown, part);
    const failed = /<bdi>none<\/bdi><\/td><td[^>]*>The e-mail address is not valid\./;
    t.match(shown, failed, 'a failed row has its value and the reason');
    t.notMatch(shown, HOSTILE);
    t.notMatch(shown, 'Columns not imported');
    t.notMatch(shown, 'City: <bdi>Graz', 'an empty cell removes nothing by itself');
    await app.page('POST', `${path}/preview`, { headers, form: { empty_cells: 'clear' } });
    await reached(app, path, 'looked');
    const cleared = (await app.page('GET', path, { headers })).text;
    t.match(cleared, 'City: <bdi>Graz</bdi> → <bdi>empty</bdi>');
    t.match(cleared, 'Import: add 1, change 1, remove 1 value');
    const options = { existing: 'keep', empty_cells: 'keep', to_segment_id: '', unsubscribe: '1' };
    t.equal((await app.page('POST', `${path}/preview`, { headers, form: options })).status, 303);
    await reached(app, path, 'looked');
    const { text } = await app.page('GET', path, { headers });
    t.match(text, 'Import: add 1, mark 2 as unsubscribed');
    t.match((await app.page('GET', `${path}?columns=1`, { headers })).text, 'name="column2"');
    const viewer = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app, 'viewer')) };
    t.equal((await app.page('POST', `${path}/start`, { headers: viewer, form: options })).status, 403);
    t.equal((await app.page('POST', `${path}/start`, { headers, form: options })).status, 303);
    await reached(app, path, 'done');
    t.match((await app.page('GET', path, { headers })).text, 'You can undo the import until');
    t.strictSame(app.db.prepare('SELECT first_name, city FROM contacts ORDER BY id').raw().all(), [
      ['Zoe', 'Graz'],
      ['Ada', 'Wien'],
    ]);
    t.strictSame(
      app.db
        .prepare('SELECT email_address FROM unsubscribers WHERE unsubscribe_groups_id = 1 ORDER BY 1')
        .pluck()
        .all(),
      ['ada@example.org', 'zoe@example.org'],
    );
    t.equal((await app.page('POST', '/contacts/import/1/undo', { headers })).status, 303);
    const undone = await app.page('GET', path, { headers });
    t.match(undone, { status: 303, headers: { location: '/contacts/import/1' } }, 'it no longer says that all is done');
  },
);

t.test('a new field of an import is proposed with the type of its values', async (t) => {
  const app = await startApp(t);
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)) };
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const rows = [
    'zoe@example.org,7,2026-01-31,08010,',
    'ada@example.org,-12.5,,1010,',
    'ivo@example.org,,2026-02-01T10:00,1,',
  ];
  const content = ['email,points,joined,postal,empty', ...rows].join('\n');
  const file = { filename: 'readers.csv', content };
  const looked = await app.page('POST', '/contacts/import', { headers, multipart: [['file', file]] });
  const path = String(looked.headers.location);
  const { text } = await app.page('GET', path, { headers });
  const proposed = (name: string) => new RegExp(`>New field: ${name} \\((\\w+)`).exec(text)?.[1];
  t.strictSame(['points', 'joined', 'postal', 'empty'].map(proposed), ['Number', 'Date', 'Text', 'Text']);
  const form = { column0: 'email', column1: 'new:number', column2: 'new:datetime-local', column3: 'new:text' };
  t.equal((await app.page('POST', path, { headers, form: { contact_type_id: '1', ...form } })).status, 303);
  await reached(app, path, 'looked');
  t.equal((await app.page('POST', `${path}/start`, { headers })).status, 303);
  await reached(app, path, 'done');
  const { customFields } = (await app.one.call('GET', '/custom-fields')).body.message;
  t.strictSame(
    customFields.map((one: { field_name: string; field_type: string }) => [one.field_name, one.field_type]),
    [
      ['points', 'number'],
      ['joined', 'datetime-local'],
      ['postal', 'text'],
    ],
  );
});

t.test('an import reads days and numbers as spreadsheets write them, and says what else to write', async (t) => {
  const app = await startApp(t);
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)) };
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const upload = async (rows: readonly string[], form: Record<string, string>) => {
    const content = ['email;born;bought;spent;name_day', ...rows].join('\r\n');
    const file = { filename: 'kunden.csv', content };
    const path = String(
      (await app.page('POST', '/contacts/import', { headers, multipart: [['file', file]] })).headers.location,
    );
    const columns = await app.page('GET', path, { headers });
    await app.page('POST', path, { headers, form: { contact_type_id: '1', column0: 'email', ...form } });
    await reached(app, path, 'looked');
    return { path, columns: columns.text, preview: (await app.page('GET', path, { headers })).text };
  };
  const created = {
    column1: 'new:datetime-local',
    column2: 'new:datetime-local',
    column3: 'new:number',
    column4: 'new:yearly-date',
  };
  const { path, columns, preview } = await upload(
    [
      'ada@example.org;31.12.1990;2026-02-01 9:30;1.234,56;24.12.',
      'ivo@example.org;1. 2.1985;2026/2/1;99,9;1.2.1985',
      'zoe@example.org;;1.2.2026 10:00:30;-1,234.50;12-24',
      'kai@example.org;;;1.234.567;',
    ],
    created,
  );
  const proposed = (name: string) => new RegExp(`>New field: ${name} \\((\\w+)`).exec(columns)?.[1];
  t.strictSame(['born', 'bought', 'spent'].map(proposed), ['Date', 'Date', 'Number']);
  t.notMatch(preview, 'Failed rows</caption>');
  await app.page('POST', `${path}/start`, { headers });
  await reached(app, path, 'done');
  const values = app.db.prepare<[], string>('SELECT custom_values FROM contacts ORDER BY email').pluck().all();
  t.strictSame(
    values.map((one) => Object.values(JSON.parse(one))),
    [
      ['1990-12-31', '2026-02-01T09:30', '1234.56', '12-24'],
      ['1985-02-01', '2026-02-01', '99.9', '02-01'],
      ['1234567'],
      ['2026-02-01T10:00:30', '-1234.50', '12-24'],
    ],
  );
  const known = { column1: 'born', column2: 'bought', column3: 'spent', column4: 'name_day' };
  const wrong = await upload(['ada@example.org;03/04/1990;30.2.2026;1,234;24'], known);
  for (const reason of [
    'The born must be a date, such as 1990-12-31 or 31.12.1990.',
    'The bought must be a date, such as 1990-12-31 or 31.12.1990.',
    'The spent must be a number, such as 1234.56.',
    'The name day must be a day, such as 12-24 or 24.12.',
  ])
    t.match(wrong.preview, reason);
});

t.test('a day above 12 shows the order of all dates with slashes in its column', async (t) => {
  const app = await startApp(t);
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)) };
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const rows = [
    'ada@example.org,1/2/1990,1/2/1991 9:30,1/2/2001',
    'ivo@example.org,12/31/1990,31/12/1991,3/4/2001',
    'kai@example.org,31/12/1990,,',
  ];
  const content = ['email,us,uk,either', ...rows].join('\n');
  const file = { filename: 'readers.csv', content };
  const looked = await app.page('POST', '/contacts/import', { headers, multipart: [['file', file]] });
  const path = String(looked.headers.location);
  const types = { column1: 'new:datetime-local', column2: 'new:datetime-local', column3: 'new:text' };
  await app.page('POST', path, { headers, form: { contact_type_id: '1', column0: 'email', ...types } });
  await reached(app, path, 'looked');
  const { text } = await app.page('GET', path, { headers });
  t.match(text, '<bdi>31/12/1990</bdi>', 'a row in the other order fails, with its cell');
  await app.page('POST', `${path}/start`, { headers });
  await reached(app, path, 'done');
  const values = app.db.prepare<[], string>('SELECT custom_values FROM contacts ORDER BY email').pluck().all();
  t.strictSame(
    values.map((one) => Object.values(JSON.parse(one))),
    [
      ['1990-01-02', '1991-02-01T09:30', '1/2/2001'],
      ['1990-12-31', '1991-12-31', '3/4/2001'],
    ],
  );
});

t.test('an import questions misspelt domains, and corrects those that are ticked and no others', async (t) => {
  const app = await startApp(t);
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)) };
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const addresses = [
    'Zoe@gmial.com',
    'ada@gmial.com',
    'ivo@hotmail.con',
    'mia@gmail.com',
    'leo@mail.com',
    'eva@yahoo.es',
  ];
  const file = { filename: 'readers.csv', content: ['email', ...addresses].join('\n') };
  const looked = await app.page('POST', '/contacts/import', { headers, multipart: [['file', file]] });
  const path = String(looked.headers.location);
  await app.page('POST', path, { headers, form: { contact_type_id: '1', column0: 'email' } });
  await reached(app, path, 'looked');
  const questioned = async () => {
    const { text } = await app.page('GET', path, { headers });
    const found = text.matchAll(
      /checkbox" name="correct_domains" value="([^"]*)"( checked)?[^>]*>.*?<span>(.*?)<\/span>.*?>(\d) rows?</gs,
    );
    return {
      text,
      domains: [...found].map(([, domain, ticked, label, rows]) => [domain, ticked !== undefined, label, rows]),
    };
  };
  const first = await questioned();
  t.match(first.text, '3 addresses with a domain that looks misspelt');
  t.strictSame(first.domains, [
    ['gmial.com', false, 'gmial.com → gmail.com', '2'],
    ['hotmail.con', false, 'hotmail.con → hotmail.com', '1'],
  ]);
  await app.page('POST', `${path}/preview`, { headers, form: { correct_domains: 'gmial.com' } });
  await reached(app, path, 'looked');
  const second = await questioned();
  t.strictSame(
    second.domains.map(([domain, ticked]) => [domain, ticked]),
    [
      ['gmial.com', true],
      ['hotmail.con', false],
    ],
  );
  t.match(second.text, 'Zoe@gmail.com');
  await app.page('POST', `${path}/start`, { headers, form: { correct_domains: 'gmial.com' } });
  await reached(app, path, 'done');
  t.strictSame(app.db.prepare('SELECT email FROM contacts ORDER BY email').pluck().all(), [
    'Zoe@gmail.com',
    'ada@gmail.com',
    'eva@yahoo.es',
    'ivo@hotmail.con',
    'leo@mail.com',
    'mia@gmail.com',
  ]);
});

t.test('faults of a file are in the language of the user, with what to do', async (t) => {
  const app = await startApp(t);
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)), 'accept-language': 'de' };
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const upload = (content: string) =>
    app.page('POST', '/contacts/import', { headers, multipart: [['file', { filename: 'readers.csv', content }]] });
  t.match((await upload('em\0ail\nzoe@example.org\n')).text, 'Speichern Sie sie in Ihrem Tabellenprogramm als');
  const path = String((await upload('email\nzoe@example.org\n"ada"@example.org\n')).headers.location);
  await app.page('POST', path, { headers, form: { contact_type_id: '1', column0: 'email' } });
  await reached(app, path, 'looked');
  t.match((await app.page('GET', path, { headers })).text, 'Auf ein schließendes Anführungszeichen folgt noch Text.');
});

t.test('the page before an import has the first 20 rows with every column, old values beside new ones', async (t) => {
  const app = await startApp(t);
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)) };
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  await app.one.call('POST', '/custom-fields/save', { form: { field_name: 'shoe_size', field_type: 'number' } });
  const zoe = {
    contact_type_id: 1,
    email: 'zoe@example.org',
    first_name: 'Zoe',
    last_name: 'M',
    city: 'Graz',
    country: 1,
  };
  await app.one.call('POST', '/contacts/add', { form: zoe });
  const others = Array.from({ length: 30 }, (_, at) => `row${at}@example.org,Linz,Row ${at},`);
  const content = ['email,city,first_name,shoe_size', 'zoe@example.org,,Zoë,38', ...others].join('\n');
  const file = { filename: 'readers.csv', content };
  const looked = await app.page('POST', '/contacts/import', { headers, multipart: [['file', file]] });
  const path = String(looked.headers.location);
  const mapping = { column0: 'email', column1: 'city', column2: 'first_name', column3: 'shoe_size' };
  await app.page('POST', path, { headers, form: { contact_type_id: '1', ...mapping } });
  await reached(app, path, 'looked');
  const rows = async () => {
    const { text } = await app.page('GET', path, { headers });
    const table = /<caption[^>]*>The first 20 rows.*?<\/table>/s.exec(text)?.[0] ?? '';
    return [...table.matchAll(/<tr.*?<\/tr>/gs)].map(([row]) =>
      [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) =>
        cell.replaceAll(/<\/?(?:bdi|span)>/g, ''),
      ),
    );
  };
  const shown = await rows();
  t.equal(shown.length, 21);
  t.strictSame(shown.slice(0, 3), [
    ['Contact', 'Result', 'City', 'First name', 'Shoe size'],
    ['zoe@example.org', 'Changed', 'Graz', '<del>Zoe</del> <ins>Zoë</ins>', '38'],
    ['row0@example.org', 'New', 'Linz', 'Row 0', ''],
  ]);
  await app.page('POST', `${path}/preview`, { headers, form: { empty_cells: 'clear' } });
  await reached(app, path, 'looked');
  t.equal((await rows())[1]?.[2], '<del>Graz</del> <ins>empty</ins>');
  await app.page('POST', `${path}/preview`, { headers, form: { existing: 'keep' } });
  await reached(app, path, 'looked');
  t.strictSame((await rows())[1], ['zoe@example.org', 'Skipped', 'Graz', 'Zoe', '']);
});

t.test('an import is undone on its page, which says whom that is about and who stays', async (t) => {
  const app = await startApp(t);
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)) };
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const upload = async (content: string) =>
    app.one.call('POST', '/contacts/upload-csv', {
      multipart: [
        ['contact_type_id', '1'],
        ['file', { filename: 'readers.csv', content }],
      ],
    });
  await upload('email,city\nada@example.org,Graz\n');
  app.clock.advance(1000);
  await upload('email,city\nada@example.org,Wien\nzoe@example.org,Linz\nivo@example.org,Linz\n');
  app.clock.advance(1000);
  await app.one.call('DELETE', '/contacts/delete', { query: { contact_id: 3 } });
  t.match(
    (await app.page('GET', '/contacts/recent', { headers })).text,
    '<a href="/contacts/import/2">readers.csv</a>',
  );
  const before = await app.page('GET', '/contacts/import/2', { headers });
  t.match(before.text, 'New contacts that are removed: 2.');
  t.match(before.text, 'Updated contacts that get their earlier values back: 1.');
  const path = '/contacts/import/2/undo';
  const viewer = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app, 'viewer')) };
  t.equal((await app.page('POST', path, { headers: viewer })).status, 403);
  t.equal((await app.page('POST', path, { headers })).status, 303);
  await app.background();
  const { text } = await app.page('GET', '/contacts/import/2', { headers });
  t.match(text, 'Undone.');
  t.match(text, 'Deleted since the import');
  t.notMatch(text, 'Undo import');
  t.match((await app.page('GET', '/contacts/recent', { headers })).text, /<td[^>]*>Undone\.<\/td>/);
  t.equal(app.db.prepare("SELECT city FROM contacts WHERE email = 'ada@example.org'").pluck().get(), 'Graz');
  t.equal((await app.page('POST', path, { headers })).status, 409, 'only once');
  t.equal((await app.page('GET', '/contacts/import/99', { headers })).status, 404);
});

t.test(
  'a person has their pages beside more uploads than they may have pages at once, and after those broke off',
  async (t) => {
    const log = new PassThrough();
    const { app, origin } = await serve(t, log);
    const { host, port, hostname } = new URL(origin);
    const cookie = cookieOf(app, addPerson(app));
    const head = {
      Host: host,
      Origin: origin,
      Cookie: cookie,
      'Content-Type': 'multipart/form-data; boundary=x',
      'Content-Length': 100_000,
    };
    const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
    const own = await makeUploadFolder(app.path);
    const uploads = () =>
      readdirSync(tmpdir()).filter((name) => name !== basename(own) && name.startsWith(basename(own).slice(0, -6)));
    t.teardown(() => rmdirSync(own));
    const sockets = Array.from({ length: 20 }, () => {
      const socket = connect(Number(port), hostname);
      socket.write(
        `POST /contacts/import HTTP/1.1\r\n${lines.join('')}\r\n--x\r\nContent-Disposition: form-data; name="file"`,
      );
      return socket;
    });
    await until(() => uploads().length === sockets.length);
    const page = async () => (await app.page('GET', '/campaigns', { headers: { ...FROM_PAGE, cookie } })).status;
    const open = () => Promise.race([page(), setTimeout(60_000, 'never answered', { ref: false })]);
    t.equal(await open(), 200);
    await Promise.all(sockets.map((socket) => once(socket.destroy(), 'close')));
    t.equal(await open(), 200);
    await until(() => uploads().length === 0);
    t.notMatch(String(log.read()), '"level":50', 'which is no error of the service');
  },
);
