/** How many contacts met the trigger of an automation in the last 30 days: by each kind of trigger, each contact once, and bounded. */
import t, { type Test } from 'tap';
import { DAY, withPaths } from '../support/automations.ts';
import { addForm, askedMails, type ReadyForm, subscribe } from '../support/forms.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';

async function withTrigger(t: Test, trigger: Record<string, unknown> = {}) {
  const world = await withPaths(t);
  const { app, get, call, utr, post } = world;
  const set = async (form: Record<string, unknown>) => {
    const { status, text } = await call('/automations/update', form);
    if (status !== 200) throw new Error(text);
  };
  if (trigger.trigger_field === 'renewal')
    await post('/custom-fields/save', { field_name: 'renewal', field_type: 'datetime-local' });
  await set(trigger);
  const counted = async () => (await get('/automations/trigger', { utr })).body.message.trigger;
  const report = async (name: string, email: string, more: Record<string, unknown> = {}) => {
    const { status, text } = await app.one.call('POST', '/events', {
      json: { name, email: `${email}@example.org`, ...more },
    });
    if (status !== 200) throw new Error(text);
  };
  /** Lets days pass without a step for each hour. */
  const later = (days: number) => app.clock.advance(days * DAY);
  return { ...world, set, counted, report, later };
}

t.test('of a list those count who were added to it or moved to it, and are in it', async (t) => {
  const { app, post, join, counted, later, get, utr } = await withTrigger(t);
  await post('/contacts-type/add', { name: 'Others' });
  const other = (name: string) =>
    post('/contacts/add', { contact_type_id: 2, email: `${name}@example.org`, first_name: name, country: 1 });
  await join('old');
  await other('moved');
  later(31);
  t.match(await counted(), { days: 30, contacts: 0, is_complete: 1 });
  await join('ann');
  await join('gone');
  await other('elsewhere');
  await post('/contacts/update', { contact_id: 2, contact_type_id: 1, email: 'moved@example.org', country: 1 });
  await app.one.call('DELETE', '/contacts/delete', { query: { contact_id: 4 } });
  t.equal((await counted()).contacts, 2);
  t.equal((await app.two.call('GET', '/automations/trigger', { query: { utr } })).status, 404);
  t.equal((await get('/automations/trigger', { utr: 'nonsense' })).status, 404);
});

t.test('of a segment those count who joined it, also again after they were removed by hand', async (t) => {
  const { app, join, counted, set, later } = await withTrigger(t, { automation_for: 'segments_1' });
  for (const name of ['ann', 'bob']) await join(name);
  t.equal((await counted()).contacts, 1);
  await set({ automation_for: 'contacts_1' });
  t.equal((await counted()).contacts, 2);
  await set({ automation_for: 'segments_1' });
  await app.background();
  later(40);
  const again = { segment_id: 1, first_name: 'ann', last_name: 'a', email: 'ann@example.org' };
  const add = () => app.one.call('POST', '/segment/email/store', { form: again });
  const added = await add();
  t.equal(added.status, 200, added.text);
  t.equal((await counted()).contacts, 0, 'who is added a second time has not joined');
  t.equal((await app.one.call('DELETE', '/segment/email/delete', { query: { segment_recipient_id: 1 } })).status, 200);
  t.equal((await counted()).contacts, 0);
  await add();
  t.equal((await counted()).contacts, 1);
});

t.test('by an event those of the target count who had it lately and pass its filter, each once', async (t) => {
  const { app, join, counted, report, later, set, post } = await withTrigger(t, {
    ...{ trigger_kind: 'event', trigger_event: 'purchase', trigger_filter: 'value >= 10' },
  });
  t.equal((await counted()).contacts, 0, 'an event that never happened');
  await post('/contacts-type/add', { name: 'Others' });
  for (const name of ['ann', 'bob', 'cleo', 'old']) await join(name);
  await post('/contacts/add', { contact_type_id: 2, email: 'other@example.org', first_name: 'o', country: 1 });
  await report('purchase', 'old', { value: 50 });
  later(31);
  await report('purchase', 'ann', { value: 50 });
  await report('purchase', 'ann', { value: 60 });
  await report('purchase', 'bob', { value: 5 });
  await report('cart', 'cleo', { value: 50 });
  await report('purchase', 'other', { value: 50 });
  t.match(await counted(), { contacts: 1, is_complete: 1 });
  await set({ trigger_filter: '' });
  t.match(await counted(), { contacts: 2, is_complete: 1 });
  const at = app.clock.now().getTime();
  const busy = (account: number, name: string, address: number) =>
    app.db
      .prepare(
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
        INSERT INTO contact_events (user_id, address_id, name_id, happened_at)
        SELECT @account, @address, (SELECT id FROM event_words WHERE user_id = @account AND word = @name), @at FROM n`,
      )
      .run({ account, name, address, at });
  app.db.exec("INSERT INTO event_words (user_id, word) VALUES (2, 'purchase')");
  busy(2, 'purchase', 1);
  busy(1, 'cart', 1);
  t.match(await counted(), { contacts: 2, is_complete: 1 }, 'other events and those of another account cost nothing');
  busy(1, 'purchase', 1);
  t.match(await counted(), { is_complete: 0 }, 'no more than 50 000 rows are looked at');
});

t.test('by a date those count for whom it came, before, on or after the day', async (t) => {
  const { app, counted, set, later, utr } = await withTrigger(t, {
    ...{ trigger_kind: 'date', trigger_field: 'renewal', trigger_days: 7, trigger_before: 1, trigger_hour: 9 },
  });
  // It is 2026-01-15 09:00, and 30 days later when they are counted.
  const contacts = ['2026-01-29', '2026-02-21', '2026-02-22', '2026-01-19', ''].map((renewal, at) => ({
    email: `c${at}@example.org`,
    custom_field: { renewal },
  }));
  await app.one.call('POST', '/contacts/upsert', { json: { contact_type_id: 1, contacts } });
  t.match(await counted(), { is_complete: 0 }, 'while the dates are collected');
  await app.background();
  t.match(await counted(), { contacts: 0, coming: 2, is_complete: 1 }, 'they were added after the hours of the past');
  const cookie = cookieOf(app, addPerson(app, 'viewer', { accountId: 1 }));
  const { text } = await app.page('GET', `/automations/${utr}`, { headers: { ...FROM_PAGE, cookie } });
  t.match(
    text,
    '0 contacts would have triggered this automation in the last 30 days. 2 contacts would trigger this automation in the next 30 days.',
  );
  later(30);
  t.match(await counted(), { contacts: 2, coming: 1, is_complete: 1 });
  const added = { email: 'late@example.org', custom_field: { renewal: '2026-01-29' } };
  await app.one.call('POST', '/contacts/upsert', { json: { contact_type_id: 1, contacts: [added] } });
  t.match(await counted(), { contacts: 2 }, 'a contact who was added after the hour does not count');
  await set({ trigger_yearly: 1, trigger_days: 0 });
  t.equal((await counted()).contacts, 2, 'also a day of every year');
  const dates = app.db.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 30999)
    INSERT INTO contact_dates (contact_id, field_id, day, date) SELECT i + @first, 1, @day, '2026-' || @day FROM n`,
  );
  dates.run({ first: 0, day: '02-01' });
  dates.run({ first: 50_000, day: '03-01' });
  t.match(
    await counted(),
    { is_complete: 0 },
    'no more than 50 000 dates of past and coming days together are looked at',
  );
});

t.test('by a form those count who confirmed it, whatever the name of it was', async (t) => {
  const { app, counted, set, later } = await withTrigger(t);
  const [form, other] = [await addForm(t, app), await addForm(t, app)];
  await set({ trigger_kind: 'form', trigger_form_id: form.id });
  const confirm = async (which: ReadyForm, name: string) => {
    const asked = await subscribe(app, which, `${name}@example.org`);
    t.equal(asked.status, 303, asked.text);
    await app.background();
    const [mail] = (await askedMails(app)).filter(({ to }) => to.startsWith(name));
    t.match((await app.page('POST', mail?.path ?? '')).text, 'You are subscribed', name);
  };
  await confirm(form, 'ann');
  await confirm(other, 'bob');
  t.equal((await counted()).contacts, 1, 'two forms have the same name');
  await app.one.call('POST', '/forms/update', { form: { id: form.id, name: 'Header' } });
  t.equal((await counted()).contacts, 1);
  later(31);
  t.equal((await counted()).contacts, 0);
});

t.test('of changes of fields nobody knows, and by hand there is nothing to count', async (t) => {
  const { app, counted, set, utr } = await withTrigger(t, { trigger_kind: 'field', trigger_field: 'city' });
  t.match(await counted(), { contacts: null });
  const cookie = cookieOf(app, addPerson(app, 'viewer', { accountId: 1 }));
  const text = async (path: string) => (await app.page('GET', path, { headers: { ...FROM_PAGE, cookie } })).text;
  t.match(await text(`/automations/${utr}`), 'Past changes of fields are not stored');
  await set({ trigger_kind: 'hand' });
  t.match(await counted(), { contacts: null });
  t.notMatch(await text(`/automations/${utr}`), 'in the last 30 days');
  await set({ trigger_kind: 'join' });
  t.match(await text(`/automations/${utr}`), '0 contacts would have triggered this automation in the last 30 days');
});
