/** What holds for the fields, ids and lists of every endpoint. */
import t from 'tap';
import { startApp } from '../support/app.ts';

t.test('all faulty fields are named at once, references included', async (t) => {
  const app = await startApp(t);
  const { status, body } = await app.one.call('POST', '/contacts/add', {
    form: { contact_type_id: 77, email: 'no', country: 'x1' },
  });
  t.equal(status, 422);
  t.strictSame(body.errors, {
    email: ['The email must be a valid email address.'],
    country: ['The country must be an integer.'],
    contact_type_id: ['The selected contact type id is invalid.'],
  });
});

t.test(
  'an address that is taken is named together with the other faulty fields, and Location with whose it is',
  async (t) => {
    const { one } = await startApp(t);
    await one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
    for (const email of ['ann@example.org', 'bob@example.org']) {
      await one.call('POST', '/contacts/add', { form: { contact_type_id: 1, email, country: 1 } });
    }
    const form = { contact_id: 1, contact_type_id: 1, email: 'BOB@example.org', country: 9999 };
    const { status, body } = await one.call('POST', '/contacts/update', { form });
    t.equal(status, 422);
    t.strictSame(body.errors, {
      country: ['The selected country is invalid.'],
      email: ['The email has already been taken.'],
    });
    const add = (email: string) => one.call('POST', '/contacts/add', { form: { ...form, email, country: 1 } });
    const again = await add('ANN@example.org');
    t.strictSame(again.body, { status: 'failed', errors: { email: ['The email has already been taken.'] } });
    t.equal(again.headers.location, '/api/contacts/details?contact_id=1', 'the header names the contact that has it');
    t.equal((await add('')).headers.location, undefined);
    const own = await one.call('POST', '/contacts/update', { form: { ...form, email: 'Ann@example.org', country: 1 } });
    t.equal(own.status, 200);
  },
);

t.test('a contact has every custom field, however many there are', async (t) => {
  const { one, db } = await startApp(t);
  await one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const define = (first: number, last: number) =>
    db.exec(`WITH RECURSIVE n(i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM n WHERE i < ${last})
      INSERT INTO custom_fields (user_id, field_name, field_type, created_at, updated_at)
      SELECT user_id, 'shoe_size_' || i, 'text', created_at, updated_at FROM n, contact_types`);
  const read = async () => {
    const list = await one.call('GET', '/contacts/list');
    const { body } = await one.call('GET', '/contacts/details', { query: { contact_id: 1 } });
    const { custom_field } = body.message.contact;
    t.strictSame(list.body.message.contacts[0].custom_field, custom_field);
    return custom_field;
  };
  await one.call('POST', '/contacts/add', { form: { contact_type_id: 1, email: 'ann@example.org', country: 1 } });
  t.equal(await read(), null);
  define(1, 2);
  await one.call('POST', '/contacts/update', {
    form: {
      contact_id: 1,
      contact_type_id: 1,
      email: 'ann@example.org',
      country: 1,
      'custom_field[shoe_size_2]': '39',
    },
  });
  const expected = {
    shoe_size_1: { field_name: 'Shoe Size 1', field_value: null },
    shoe_size_2: { field_name: 'Shoe Size 2', field_value: '39' },
  };
  t.strictSame(await read(), expected);
  define(3, 1200);
  const all = await read();
  t.strictSame(
    Object.keys(all),
    Array.from({ length: 1200 }, (_, at) => `shoe_size_${at + 1}`),
  );
  t.match(all, expected);
});

t.test('what only the server sets cannot be set from outside', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', {
    json: { name: 'Mine', user_id: 99, id: 500, contacts_count: 7, deleted_at: 'x' },
  });
  const { body } = await app.one.call('GET', '/contacts-type');
  t.match(body.message.contactTypes[0], { id: 1, contacts_count: 0, deleted_at: null });
  t.not(body.message.contactTypes[0].user_id, 99);
});

t.test('a POST reads nothing else from its query, and a DELETE nothing from its body', async (t) => {
  const { one, two, db } = await startApp(t);
  const about = { group_name: 'News', description: 'Weekly', is_display: 1 };
  const named = { id: '9223372036854775807', deleted_at: 'x', unsubscribe_clients_count: 9 };
  t.equal((await one.call('POST', '/unsubscribes-groups/save', { query: named, form: about })).status, 200);
  t.equal(
    (await two.call('POST', '/unsubscribes-groups/save', { form: about })).status,
    200,
    'ids are left for others',
  );
  t.strictSame(db.prepare('SELECT id, deleted_at, unsubscribe_clients_count AS left FROM unsubscribe_groups').all(), [
    { id: 1, deleted_at: null, left: 0 },
    { id: 2, deleted_at: null, left: 0 },
  ]);
  const form = { email_address: 'ann@example.org,bob@example.org' };
  await one.call('POST', '/global-unsubscribes/save', { form });
  for (const query of ['strIds=1', 'strIds=1&strIds=2'])
    t.match(await one.call('POST', `/global-unsubscribes/bulk-delete?${query}`), { status: 404 }, query);
  const bounce = { address: 'ann@example.org', kind: 'bounce' };
  t.equal((await one.call('POST', '/bounces?diagnostic=a&diagnostic=b', { form: bounce })).status, 200);
  t.equal((await one.call('DELETE', '/global-unsubscribes/delete?id=1', { json: { id: 2 } })).status, 200);
  t.strictSame(db.prepare('SELECT id FROM unsubscribers').pluck().all(), [2], 'the query says which');
});

t.test('id=1&id=2 finds nothing, nor does anything but plain digits', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  for (const id of [
    '1&contact_type_id=1',
    '12abc',
    '1e0',
    '%201',
    '1%20',
    '0x1',
    '+1',
    '9007199254740993',
    '-1',
    '1.0',
    '',
  ]) {
    const { status, body } = await app.one.call('GET', `/contacts-type/view?contact_type_id=${id}`);
    t.equal(status, 404, id);
    t.equal(body.errors, 'Record Not Found');
  }
  t.equal(
    (await app.one.call('POST', '/contacts-type/update', { form: { id: ' 1', name: 'Other' } })).status,
    404,
    'in a body too',
  );
});

t.test('an address with a UTF-8 local part is refused wherever one is put in', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const bad = 'jürgen@example.org';
  for (const [path, field] of [
    ['/contacts/add', 'email'],
    ['/contacts/add', 'alt_email'],
    ['/sender/save', 'from_email'],
    ['/sender/save', 'reply_to_email'],
    ['/global-unsubscribes/save', 'email_address'],
    ['/bounces', 'address'],
  ] as const) {
    const { status, body } = await app.one.call('POST', path, { form: { [field]: bad } });
    t.equal(status, 422, path);
    t.match(body.errors[field]?.[0], /must be a valid email address/, `${path} ${field}`);
  }
  const rows = [`email\n${bad}\nann@example.org\n`];
  await app.one.call('POST', '/contacts/upload-csv', {
    multipart: [
      ['contact_type_id', '1'],
      ['file', { filename: 'a.csv', content: rows.join('') }],
    ],
  });
  t.strictSame(app.db.prepare('SELECT normalized_email FROM addresses').pluck().all(), ['ann@example.org']);
});

t.test('control characters and line breaks stay out of header-bound fields', async (t) => {
  const app = await startApp(t);
  for (const bad of ['a\r\nBcc: x', 'a\nb', 'a\u0000b', 'a\u2028b', 'a\u2029b', 'a\u0085b']) {
    const { status, body } = await app.one.call('POST', '/contacts-type/add', { json: { name: `x${bad}x` } });
    t.equal(status, 422, encodeURI(bad));
    t.strictSame(body.errors, { name: ['The name may not contain line breaks or control characters.'] });
  }
});

t.test('HEAD acts on nothing', async (t) => {
  const app = await startApp(t);
  const { status } = await app.one.call('HEAD', '/automations/set-live');
  t.equal(status, 404);
});

t.test('lists page by limit and after_id, and stream whole without', async (t) => {
  const app = await startApp(t);
  const addresses = Array.from({ length: 2345 }, (_, at) => `r${at}@x.co`);
  await app.one.call('POST', '/global-unsubscribes/save', { form: { email_address: addresses.join(',') } });
  const all = await app.one.call('GET', '/global-unsubscribes');
  const ids: number[] = all.body.message.unSubscribers.map((entry: { id: number }) => entry.id);
  t.equal(ids.length, 2345);
  t.strictSame(
    ids,
    [...ids].sort((a, b) => a - b),
  );
  const page = await app.one.call('GET', '/global-unsubscribes', { query: { limit: 1500, after_id: ids[99] } });
  t.strictSame(
    page.body.message.unSubscribers.map((entry: { id: number }) => entry.id),
    ids.slice(100, 1600),
  );
  const wrong = await app.one.call('GET', '/global-unsubscribes', { query: { limit: 0 } });
  t.equal(wrong.status, 422);
});
