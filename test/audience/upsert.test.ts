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
  t.match(await upsert({ contacts: Array.from({ length: 1001 }, () => ({})) }), {
    status: 422,
    errors: { contacts: [] },
  });
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
