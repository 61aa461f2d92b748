/** Importing with a mapping: looking at a file, then importing its columns as chosen fields, with progress and the rows that failed. */
import t, { type Test } from 'tap';
import { startApp, type TestApp } from '../support/app.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';
import { until } from '../support/until.ts';

async function withType(t: Test): Promise<TestApp> {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Customers' } });
  await app.one.call('POST', '/custom-fields/save', { form: { field_name: 'shoe_size', field_type: 'number' } });
  return app;
}

const look = (app: TestApp, content: string, filename = 'list.csv') =>
  app.one.call('POST', '/contacts/imports/look', { multipart: [['file', { filename, content }]] });

async function imported(app: TestApp, upload_id: string) {
  const upload = async () =>
    (await app.one.call('GET', '/contacts/imports/progress', { query: { upload_id } })).body.message.upload;
  await until(async () => (await upload()).state !== 'running');
  return upload();
}

const FILE = 'Vorname;Mail;Schuhe;Notiz\nZoë;zoe@example.com;42;x\nIvo;nonsense;43;y\nAda;ada@example.com;big;z\n';

t.test('looking at a file tells its columns with their first rows, and which fields they seem to be', async (t) => {
  const app = await withType(t);
  const { status, body } = await look(app, FILE);
  t.equal(status, 200);
  t.match(body.message.upload, {
    state: 'looked',
    file_name: 'list.csv',
    columns: [
      { name: 'Vorname', field: 'first_name', samples: ['Zoë', 'Ivo', 'Ada'] },
      { name: 'Mail', field: 'email' },
      { name: 'Schuhe', field: null },
      { name: 'Notiz', field: null },
    ],
    import_id: null,
  });
  t.equal(app.db.prepare('SELECT count(*) FROM contacts').pluck().get(), 0);
});

t.test(
  'the usual headings of fields are recognized in English and German, whatever their case, spaces and hyphens',
  async (t) => {
    const app = await withType(t);
    const fieldOf = async (...headings: string[]) => {
      const { body } = await look(app, `${headings.join(',')}\n${headings.map(() => 'x').join(',')}\n`);
      return body.message.upload.columns.map(({ field }: { field: string | null }) => field);
    };
    const named: Record<string, string[]> = {
      email: [
        'E-Mail',
        'E-mail',
        'e mail',
        'EMAIL',
        'mail address',
        'Email address',
        'E-Mail-Adresse',
        'E‑Mail Adresse',
        'Mail',
      ],
      alt_email: ['Alternative E-Mail', 'E-Mail 2', 'alt email'],
      first_name: ['First Name', 'firstname', 'Given-name', 'Vorname'],
      last_name: ['Last Name', 'Surname', 'Family name', 'Nachname', 'Familienname'],
      country: ['Country', 'Land'],
      state: ['State', 'Province', 'Bundesland'],
      city: ['City', 'Town', 'Ort', 'Stadt', 'Wohnort'],
      address_line1: ['Address', 'Street Address', 'Address Line 1', 'Straße', 'Strasse', 'STRASSE', 'Anschrift'],
      address_line2: ['Address 2', 'Adresszusatz'],
      state_province_region: ['Region', 'State / Province / Region'],
      postal_code: ['ZIP', 'Zip-Code', 'Postal Code', 'Postcode', 'PLZ', 'Postleitzahl'],
    };
    for (const [field, headings] of Object.entries(named))
      for (const heading of headings) t.strictSame(await fieldOf(heading), [field], heading);
    t.strictSame(
      await fieldOf('Mail', 'email', 'E-Mail'),
      [null, 'email', null],
      'a field of this very name goes first',
    );
    await app.one.call('POST', '/custom-fields/save', { form: { field_name: 'ort', field_type: 'text' } });
    t.strictSame(await fieldOf('Ort', 'City'), ['ort', 'city'], 'so does a custom field');
  },
);

t.test('columns are imported as the fields of the mapping, and the rows that failed can be downloaded', async (t) => {
  const app = await withType(t);
  const { id } = (await look(app, FILE)).body.message.upload;
  const mapping = ['first_name', 'email', 'shoe_size', ''];
  const start = await app.one.call('POST', '/contacts/imports/start', {
    json: { upload_id: id, contact_type_id: 1, mapping },
  });
  t.equal(start.status, 200, start.text);
  const { state, import_id } = await imported(app, id);
  t.equal(state, 'done');
  t.strictSame(app.db.prepare('SELECT first_name, email, custom_values FROM contacts').raw().all(), [
    ['Zoë', 'zoe@example.com', '{"1":"42"}'],
  ]);
  const details = await app.one.call('GET', '/contacts/imports/details', { query: { id: import_id } });
  t.match(details.body.message.import, { rows: 3, created: 1, failed: 2, notes: [] });
  const errors = await app.one.call('GET', '/contacts/imports/errors', { query: { id: import_id } });
  t.match(errors.headers['content-type'], /text\/csv/);
  t.equal(errors.text.split('\r\n').length, 4);
  t.match(errors.text, /3,email,nonsense,The email must be a valid email address\./);
  const again = await app.one.call('POST', '/contacts/imports/start', {
    json: { upload_id: id, contact_type_id: 1, mapping },
  });
  t.equal(again.status, 409);
  t.equal((await app.two.call('GET', '/contacts/imports/errors', { query: { id: import_id } })).status, 404);
});

t.test('a mapping without an email, with an unknown field or one twice is a field error', async (t) => {
  const app = await withType(t);
  const { id } = (await look(app, FILE)).body.message.upload;
  const errors = async (json: object) =>
    (await app.one.call('POST', '/contacts/imports/start', { json: { upload_id: id, ...json } })).body.errors;
  t.match(await errors({ contact_type_id: 1, mapping: ['first_name', '', '', ''] }), { mapping: [/email/] });
  t.match(await errors({ contact_type_id: 1, mapping: ['email', 'nonsense', '', ''] }), { mapping: [/invalid/] });
  t.match(await errors({ contact_type_id: 1, mapping: ['email', 'email', '', ''] }), { mapping: [/invalid/] });
  t.match(await errors({ contact_type_id: 9, mapping: ['email'] }), { contact_type_id: [/invalid/] });
  t.match(await errors({}), { contact_type_id: [/required/], mapping: [/required/] });
});

t.test('a file that is empty, no CSV or another account’s is refused', async (t) => {
  const app = await withType(t);
  t.match((await look(app, '')).body.errors, { file: ['The file is empty.'] });
  t.match((await look(app, 'email\n', 'list.xlsx')).body.errors, { file: [/type: csv/] });
  t.match((await app.one.call('POST', '/contacts/imports/look', { multipart: [] })).body.errors, {
    file: [/required/],
  });
  const { id } = (await look(app, FILE)).body.message.upload;
  t.equal((await app.two.call('GET', '/contacts/imports/progress', { query: { upload_id: id } })).status, 404);
  t.equal((await app.one.call('GET', '/contacts/imports/progress', { query: { upload_id: 'x' } })).status, 404);
});

t.test('a file without a valid row imports nothing and says why', async (t) => {
  const app = await withType(t);
  const { id } = (await look(app, 'email\nnonsense\n')).body.message.upload;
  await app.one.call('POST', '/contacts/imports/start', {
    json: { upload_id: id, contact_type_id: 1, mapping: ['email'] },
  });
  const errors = [{ line: 2, field: 'email', text: 'The email must be a valid email address.', value: 'nonsense' }];
  const { state, import_id, failed, ...upload } = await imported(app, id);
  t.strictSame([state, import_id, failed, upload.errors], ['failed', null, 1, errors]);
  const download = async (query: object) => app.one.call('GET', '/contacts/imports/errors', { query: { ...query } });
  t.match((await download({ upload_id: id })).text, /2,email,nonsense,The email must be a valid email address\./);
  t.equal((await download({ upload_id: 'x' })).status, 404);
  const other = await app.two.call('GET', '/contacts/imports/errors', { query: { upload_id: id } });
  t.equal(other.status, 404);
});

t.test('where more rows failed than are kept, the file and the page say how many of how many', async (t) => {
  const app = await withType(t);
  const rows = Array.from({ length: 1200 }, () => 'nonsense');
  const { id } = (await look(app, `email\nzoe@example.com\n${rows.join('\n')}\n`)).body.message.upload;
  await app.one.call('POST', '/contacts/imports/start', {
    json: { upload_id: id, contact_type_id: 1, mapping: ['email'] },
  });
  const { import_id } = await imported(app, id);
  const errors = await app.one.call('GET', '/contacts/imports/errors', { query: { id: import_id } });
  const lines = errors.text.trim().split('\r\n');
  t.equal(lines.length, 1 + 1000 + 1);
  t.equal(lines.at(-1), ',,,These are the first 1000 of 1200 rows that failed. The others are not stored.');
  const cookie = cookieOf(app, addPerson(app));
  for (const page of [id, import_id]) {
    const { text } = await app.page('GET', `/contacts/import/${page}`, { headers: { ...FROM_PAGE, cookie } });
    t.match(text, 'Shown here: the first 100 of 1,200.');
    t.match(text, 'The file to download has the first 1,000 of 1,200.');
    t.match(
      text,
      /<th scope="row">3<\/th><td data-label="Column">E-mail<\/td><td data-label="Value"><bdi>nonsense<\/bdi>/,
      'on the page of the upload and on that of the import, which stays',
    );
  }
});
