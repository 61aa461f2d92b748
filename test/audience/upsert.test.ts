/** Adding contacts or changing those with the same address, one or many in a request. */
import t from 'tap';
import { startApp } from '../support/app.ts';

t.test('each contact is added or changed by its address, and one with an error leaves the others', async (t) => {
  const { one, db } = await startApp(t);
  await one.call('POST', '/contacts-type/add', { form: { name: 'Customers' } });
  await one.call('POST', '/custom-fields/save', { form: { field_name: 'age', field_type: 'number' } });
  const upsert = async (json: Record<string, unknown>) => {
    const { status, body } = await one.call('POST', '/contacts/upsert', { json: { contact_type_id: 1, ...json } });
    return status === 200 ? body.message : { ...body, status };
  };
  t.match(await upsert({ email: 'ann@example.org', first_name: 'Ann', country: 'DE', custom_field: { age: '42' } }), {
    created: 1,
    contacts: [{ email: 'ann@example.org', outcome: 'created', contact_id: 1, errors: [] }],
  });
  const answer = await upsert({
    contacts: [
      { email: ' ANN@example.org ', last_name: 'Lark', custom_field: { age: 43 } },
      { email: 'bob@example.org', country: 'Narnia' },
      { email: 'not an address' },
      { email: 'cy@example.org', first_name: 'C\r\nBcc: x' },
      { email: 'dee@example.org', custom_field: { age: 'old', __proto__: { a: 1 } } },
      'nobody',
      null,
      { email: 'eve@example.org', first_name: 'x'.repeat(256) },
      { email: 'fay@example.org', contact_type_id: 99, user_id: 7, id: 3, deleted_at: 'x' },
      { email: 'fay@example.org', city: 'Bonn' },
    ],
  });
  t.match(answer, { created: 1, updated: 2, failed: 7 });
  t.strictSame(
    answer.contacts.map(({ outcome, errors }: { outcome: string; errors: { field: string }[] }) =>
      [outcome, ...errors.map(({ field }) => field)].join(' '),
    ),
    [
      'updated',
      'failed country',
      'failed email',
      'failed first_name',
      'failed custom_field',
      'failed email',
      'failed email',
      'failed first_name',
      'created',
      'updated',
    ],
  );
  const rows = db.prepare('SELECT email, first_name, last_name, city, custom_values, contact_type_id FROM contacts');
  t.match(rows.all(), [
    { email: 'ANN@example.org', first_name: 'Ann', last_name: 'Lark', custom_values: '{"1":"43"}' },
    { email: 'fay@example.org', city: 'Bonn', contact_type_id: 1 },
  ]);
  t.equal(rows.all().length, 2);
  t.strictSame(
    (await upsert({ contacts: Array.from({ length: 1001 }, () => ({})) })).errors,
    { contacts: ['The contacts may not have more than 1000 items.'] },
    'and nothing about one contact',
  );
  t.match(await upsert({}), { status: 422, errors: { email: ['The email field is required.'] } });
  t.match(await upsert({ contact_type_id: 9, email: 'a@example.org' }), { status: 422 });
});

t.test('a thousand contacts come with one request, and again without a change of their number', async (t) => {
  const { one, two, db } = await startApp(t);
  await one.call('POST', '/contacts-type/add', { form: { name: 'Customers' } });
  const contacts = Array.from({ length: 1000 }, (_, at) => ({ email: `p${at}@example.org`, first_name: `P${at}` }));
  const json = { contact_type_id: 1, contacts };
  t.match((await one.call('POST', '/contacts/upsert', { json })).body.message, { created: 1000, failed: 0 });
  t.match((await one.call('POST', '/contacts/upsert', { json })).body.message, { updated: 1000, created: 0 });
  t.equal(db.prepare('SELECT count(*) FROM contacts').pluck().get(), 1000);
  t.equal((await two.call('POST', '/contacts/upsert', { json })).status, 422, 'the list of another account');
});

t.test('who unsubscribed gets no mail again by it', async (t) => {
  const { one, db } = await startApp(t);
  await one.call('POST', '/contacts-type/add', { form: { name: 'Customers' } });
  await one.call('POST', '/global-unsubscribes/save', { form: { email_address: 'ann@example.org' } });
  await one.call('POST', '/contacts/upsert', { json: { contact_type_id: 1, email: 'ann@example.org' } });
  t.equal(db.prepare('SELECT count(*) FROM unsubscribers').pluck().get(), 1);
});

t.test(
  'a request that names an address twice adds one contact and changes it, and its segments follow the last value',
  async (t) => {
    const { one, db } = await startApp(t);
    await one.call('POST', '/contacts-type/add', { form: { name: 'Customers' } });
    for (const city of ['Bonn', 'Kiel']) {
      const rules = { select_field: ['city'], select_operator: ['is'], value: [city] };
      await one.call('POST', '/segment/store', { json: { segment_name: city, contact_type_id: 1, ...rules } });
    }
    const upsert = async (...contacts: object[]) =>
      (await one.call('POST', '/contacts/upsert', { json: { contact_type_id: 1, contacts } })).body.message;
    const members = db.prepare('SELECT segment_id, contact_id FROM segment_recipients ORDER BY segment_id').raw();
    t.match(await upsert({ email: 'ann@example.org', city: 'Bonn' }, { email: 'Ann@Example.org', first_name: 'Ann' }), {
      created: 1,
      updated: 1,
      contacts: [{ contact_id: 1 }, { contact_id: 1 }],
    });
    t.strictSame(members.all(), [[1, 1]]);
    await upsert({ email: 'ann@example.org', city: 'Kiel' }, { email: 'bob@example.org', city: 'Bonn' });
    t.strictSame(members.all(), [
      [1, 2],
      [2, 1],
    ]);
    const { contact } = (await one.call('GET', '/contacts/details', { query: { contact_id: 1 } })).body.message;
    t.match(contact, { email: 'ann@example.org', first_name: 'Ann', city: 'Kiel' });
  },
);

t.test('fields that are absent keep their value, and empty ones clear it', async (t) => {
  const { one } = await startApp(t);
  await one.call('POST', '/contacts-type/add', { form: { name: 'Customers' } });
  await one.call('POST', '/custom-fields/save', { form: { field_name: 'age', field_type: 'number' } });
  const all = { city: 'Bonn', alt_email: 'ann@example.net', country: 'Germany', custom_field: { age: '4' } };
  const upserted = async (given: object) => {
    const json = { contact_type_id: 1, email: 'ann@example.org', ...given };
    const { contacts } = (await one.call('POST', '/contacts/upsert', { json })).body.message;
    t.strictSame(contacts[0].errors, []);
    return (await one.call('GET', '/contacts/details', { query: { contact_id: 1 } })).body.message.contact;
  };
  const { country } = await upserted(all);
  t.not(country, '');
  const kept = { city: 'Bonn', alt_email: 'ann@example.net', country, custom_field: { age: { field_value: '4' } } };
  t.match(await upserted({}), kept);
  const empty = { city: '', alt_email: '', country: '', custom_field: { age: '' } };
  const cleared = { city: '', alt_email: null, country: '', custom_field: { age: { field_value: null } } };
  t.match(await upserted(empty), cleared);

  await upserted({ city: 'Bonn' });
  const stranger = { ...all, email: 'ANN@example.org', city: 'Kiel', first_name: 'Ann', only_empty: 1 };
  t.match(
    await upserted(stranger),
    { ...kept, email: 'ann@example.org', first_name: 'Ann' },
    'only empty fields change',
  );
  t.match(await upserted({ ...empty, custom_field: { age: '5' }, only_empty: 1 }), kept);
});

t.test('an address that was deleted permanently is not added again, as the first address or the second', async (t) => {
  const { one, db } = await startApp(t);
  await one.call('POST', '/contacts-type/add', { form: { name: 'Customers' } });
  await one.call('POST', '/contacts/upsert', { json: { contact_type_id: 1, email: 'ann@example.org' } });
  t.equal((await one.call('POST', '/contacts/person/erase', { form: { contact_id: 1 } })).status, 200);
  const contacts = [
    { email: 'Ann@example.org' },
    { email: 'bob@example.org', alt_email: 'ann@example.org' },
    { email: 'cy@example.org', alt_email: 'nonsense' },
    { email: 'dee@example.org' },
  ];
  const answer = (await one.call('POST', '/contacts/upsert', { json: { contact_type_id: 1, contacts } })).body.message;
  t.match(answer, { created: 1, failed: 3 });
  t.strictSame(
    answer.contacts.map(({ errors }: { errors: { field: string }[] }) => errors.map(({ field }) => field).join()),
    ['email', 'alt_email', 'alt_email', ''],
  );
  t.equal(db.prepare("SELECT count(*) FROM contacts WHERE email <> '' AND deleted_at IS NULL").pluck().get(), 1);
});
