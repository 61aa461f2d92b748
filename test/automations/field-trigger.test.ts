/** Automations that start when a field of a contact changes, when a form is confirmed, or only by hand. */
import t from 'tap';
import { mailsOf, withWelcomeSeries } from '../support/automations.ts';
import { addForm, askedMails, subscribe } from '../support/forms.ts';

async function withTrigger(t: Parameters<typeof withWelcomeSeries>[0], trigger: Record<string, unknown>) {
  const world = await withWelcomeSeries(t);
  const { app, post, utr } = world;
  await post('/custom-fields/save', { field_name: 'plan', field_type: 'text' });
  const set = (form: Record<string, unknown>) =>
    app.one.call('POST', '/automations/update', { form: { utr, ...form } });
  const answer = await set(trigger);
  if (answer.status !== 200) throw new Error(answer.text);
  const put = async (name: string, values: object, list = 1) => {
    const json = { contact_type_id: list, contacts: [{ email: `${name}@example.org`, ...values }] };
    const { text } = await app.one.call('POST', '/contacts/upsert', { json });
    t.match(text, '"failed":0');
  };
  const plan = (name: string, plan: string) => put(name, { custom_field: { plan } });
  const got = async () => {
    await app.background();
    return mailsOf(app).map(({ to }) => to.split('@')[0]);
  };
  return { ...world, set, put, plan, got };
}

const PRO = { trigger_kind: 'field', trigger_field: 'plan', trigger_value: 'pro' };

t.test('a change to the value starts it however it is made, once; other changes do not', async (t) => {
  const { app, live, plan, put, got, post } = await withTrigger(t, PRO);
  await plan('before', 'pro');
  for (const name of ['upsert', 'hand', 'import', 'same', 'other']) await plan(name, 'free');
  await live();
  t.strictSame(await got(), [], 'values from before start nothing');
  await plan('upsert', 'Pro');
  await plan('before', 'pro');
  await put('before', { first_name: 'B' });
  await plan('other', 'team');
  await plan('new', 'pro');
  const hand = app.db.prepare("SELECT id FROM contacts WHERE email = 'hand@example.org'").pluck().get();
  await post('/contacts/update', {
    contact_id: hand,
    contact_type_id: 1,
    email: 'hand@example.org',
    first_name: 'H',
    country: 1,
    'custom_field[plan]': 'pro',
  });
  const content = 'email,plan\nimport@example.org,pro\nsame@example.org,free\n';
  const multipart: [string, string | { filename: string; content: string }][] = [
    ['contact_type_id', '1'],
    ['file', { filename: 'a.csv', content }],
  ];
  t.equal((await app.one.call('POST', '/contacts/upload-csv', { multipart })).status, 200);
  t.strictSame((await got()).sort(), ['hand', 'import', 'new', 'upsert']);
  await plan('upsert', 'free');
  await plan('upsert', 'pro');
  t.equal((await got()).length, 4, 'not again');
});

t.test('an empty value means any new one, standard fields count, and only contacts of the target enter', async (t) => {
  const { live, put, got, post } = await withTrigger(t, { trigger_kind: 'field', trigger_field: 'city' });
  await post('/contacts-type/add', { name: 'Others' });
  for (const name of ['ann', 'bob']) await put(name, { city: 'Graz' });
  await live();
  await put('ann', { city: 'Wien' });
  await put('bob', { city: '' });
  await put('bob', { first_name: 'Bob' });
  await put('else', { city: 'Wien' }, 2);
  t.strictSame(await got(), ['ann']);
});

t.test('a contact that the change brings into the target segment enters, and one it takes out does not', async (t) => {
  const { live, plan, got, post, set } = await withTrigger(t, PRO);
  const segment = (select_operator: string) =>
    post('/segment/store', {
      segment_name: select_operator,
      contact_type_id: 1,
      select_field: ['plan'],
      select_operator: [select_operator],
      value: ['pro'],
    });
  await segment('is');
  await segment('is not');
  await plan('ann', 'free');
  await set({ automation_for: 'segments_2' });
  await live();
  await plan('ann', 'pro');
  t.strictSame(await got(), []);
  await plan('ann', 'free');
  await set({ automation_for: 'segments_1' });
  await plan('ann', 'pro');
  t.strictSame(await got(), ['ann']);
});

t.test('an import that starts no automations starts none by a field, nor does its undo', async (t) => {
  const { app, live, plan, got } = await withTrigger(t, PRO);
  await plan('ann', 'pro');
  await live();
  const upload = async (more: object, content: string) => {
    const multipart: [string, { filename: string; content: string }][] = [['file', { filename: 'a.csv', content }]];
    const { body } = await app.one.call('POST', '/contacts/imports/look', { multipart });
    const { id: upload_id, columns } = body.message.upload;
    const mapping = columns.map(({ field }: { field: string }) => field);
    const json = { upload_id, contact_type_id: 1, mapping, ...more };
    return app.one.call('POST', '/contacts/imports/start', { json });
  };
  const first = await upload({ start_automations: 0 }, 'email,plan\nbob@example.org,pro\n');
  t.equal(first.status, 200, first.text);
  t.strictSame(await got(), []);
  const second = await upload({}, 'email,plan\nann@example.org,free\n');
  t.equal(second.status, 200, second.text);
  app.clock.advance(1000);
  const id = app.db.prepare('SELECT max(id) FROM contact_imports').pluck().get();
  t.equal((await app.one.call('POST', '/contacts/imports/undo', { form: { id } })).status, 200);
  t.strictSame(await got(), []);
  t.match(app.db.prepare("SELECT custom_values FROM contacts WHERE email = 'ann@example.org'").pluck().get(), /pro/);
});

t.test('a confirmed form lets new contacts and those of before enter; another form does not', async (t) => {
  const { app, set, live, put, got } = await withTrigger(t, {});
  const forms = [await addForm(t, app), await addForm(t, app)];
  const answer = await set({ trigger_kind: 'form', trigger_form_id: forms[0]?.id });
  t.equal(answer.status, 200, answer.text);
  await put('before', {});
  await live();
  await app.background();
  app.db.exec('DELETE FROM outbox');
  for (const [form, name] of [
    [forms[0], 'before'],
    [forms[0], 'new'],
    [forms[1], 'other'],
  ] as const) {
    if (form === undefined) throw new Error('no form');
    await subscribe(app, form, `${name}@example.org`);
  }
  const asked = await askedMails(app);
  t.equal(asked.length, 3);
  app.db.exec('DELETE FROM outbox');
  for (const { path } of asked) await app.page('POST', path);
  t.strictSame((await got()).sort(), ['before', 'new']);
});

t.test('contacts enter over the API, each with what became of it, and none twice', async (t) => {
  const { app, utr, live, put, got, post } = await withTrigger(t, { trigger_kind: 'hand' });
  await post('/contacts-type/add', { name: 'Others' });
  for (const name of ['ann', 'bob', 'left']) await put(name, {});
  await put('else', {}, 2);
  app.db.exec(`INSERT INTO unsubscribers (user_id, address_id, email_address, created_at, updated_at)
    SELECT 1, id, normalized_email, '', '' FROM addresses WHERE normalized_email = 'left@example.org'`);
  const enter = (contacts: string[], caller = app.one) =>
    caller.call('POST', '/automations/enter', { json: { utr, contacts } });
  const draft = await enter(['1']);
  t.match([draft.status, draft.text], [409, /not live/]);
  await live();
  await put('late', {});
  t.strictSame(await got(), [], 'joining starts nothing');
  const answer = await enter(['ann@example.org', '1', '2', 'else@example.org', 'nobody@example.org', '99', 'x', '3']);
  t.equal(answer.status, 200, answer.text);
  t.equal(answer.body.message.entered, 2);
  const outcomes = (body: { message: { contacts: { outcome: string }[] } }) =>
    body.message.contacts.map((one) => one.outcome);
  t.strictSame(outcomes(answer.body), [
    'entered',
    'active',
    'entered',
    'outside_target',
    'unknown',
    'unknown',
    'unknown',
    'no_mail',
  ]);
  t.match(answer.text, /unsubscribed/);
  t.strictSame(outcomes((await enter(['1'])).body), ['active'], 'before it is applied too');
  t.strictSame((await got()).sort(), ['ann', 'bob']);
  app.db.exec("UPDATE enrolments SET state = 'left' WHERE contact_id = 1");
  t.strictSame(outcomes((await enter(['1', '2'])).body), ['was_in', 'active']);
  const theirs = await enter(['1'], app.two);
  t.equal(theirs.status, 404);
  t.equal((await enter([])).status, 422);
  t.equal((await enter(Array.from({ length: 1001 }, (_, at) => String(at)))).status, 422);
});
