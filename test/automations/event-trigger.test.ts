/** Automations that an event starts: who enters, once, and what starts nothing. */
import t from 'tap';
import { DAY, HOUR, mailsOf, withWelcomeSeries } from '../support/automations.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';

async function withTrigger(t: Parameters<typeof withWelcomeSeries>[0], trigger_filter = '') {
  const world = await withWelcomeSeries(t);
  const { app, utr } = world;
  const set = (form: Record<string, unknown>) =>
    app.one.call('POST', '/automations/update', { form: { utr, ...form } });
  const report = async (name: string, event: object = {}) => {
    const json = { email: `${name}@example.org`, name: 'purchase', ...event };
    const { status, body, text } = await app.one.call('POST', '/events', { json });
    if (status !== 200) throw new Error(text);
    return body.message;
  };
  const got = () => mailsOf(app).map(({ to, subject }) => `${to.split('@')[0]} ${subject}`);
  if ((await set({ trigger_event: 'purchase', trigger_filter })).status !== 200) throw new Error('no trigger');
  return { ...world, set, report, got };
}

t.test(
  'contacts of the target enter by the event and no longer by joining, once ever, and get every mail',
  async (t) => {
    const { app, join, live, pass, report, got } = await withTrigger(t);
    await join('early');
    await live();
    await join('ann');
    await app.background();
    t.strictSame(got(), [], 'joining starts nothing');
    await report('ann');
    await report('ann');
    await report('early');
    await app.background();
    t.strictSame(got().sort(), ['ann one', 'early one']);
    await pass(4 * DAY);
    t.strictSame(got().length, 6);
    await report('ann');
    await pass(4 * DAY);
    t.strictSame(got().length, 6, 'not again');
  },
);

t.test(
  'an event with another name, outside the target, that fails the filter, an old one or one before it is live starts nothing',
  async (t) => {
    const { app, join, live, report, got, post } = await withTrigger(t, 'category = shoes');
    for (const name of ['ann', 'bo', 'cy', 'di', 'ed']) await join(name);
    await post('/contacts-type/add', { name: 'Others' });
    await post('/contacts/add', { contact_type_id: 2, email: 'other@example.org', first_name: 'O', country: 1 });
    const shoes = { properties: { category: 'Shoes' } };
    await report('ann', shoes);
    await live();
    await report('bo', { ...shoes, name: 'login' });
    await report('cy', { properties: { category: 'hats' } });
    const before = new Date(app.clock.now().getTime() - DAY - HOUR).toISOString();
    await report('di', { ...shoes, at: before });
    t.equal((await report('other', shoes)).recorded, 1);
    await report('ed', shoes);
    await app.background();
    t.strictSame(got(), ['ed one']);
  },
);

t.test(
  'a repeated event starts nothing, and one that adds its contact to the target starts the automation',
  async (t) => {
    const { app, live, report, got } = await withTrigger(t);
    await live();
    t.match(await report('new', { key: 'k', contact_type_id: 1 }), { recorded: 1, created: 1 });
    t.match(await report('new', { key: 'k', contact_type_id: 1 }), { recorded: 0, repeated: 1 });
    t.equal(app.db.prepare('SELECT count(*) FROM membership_changes').pluck().get(), 1);
    await app.background();
    t.strictSame(got(), ['new one']);
  },
);

t.test('the members of a segment enter by the event', async (t) => {
  const { app, join, live, report, got, set, post } = await withTrigger(t);
  await join('ann');
  await join('bo');
  await post('/segment/store', {
    segment_name: 'A',
    contact_type_id: 1,
    select_field: ['first_name'],
    select_operator: ['is'],
    value: ['ann'],
  });
  t.equal((await set({ automation_for: 'segments_1' })).status, 200);
  await live();
  await report('ann');
  await report('bo');
  await app.background();
  t.strictSame(got(), ['ann one']);
});

t.test('killed at any step after the event is recorded, the contact enters once and gets each mail once', async (t) => {
  for (const steps of [0, 1, 2, 3]) {
    const { app, join, live, pass, report, got } = await withTrigger(t);
    await join('ann');
    await live();
    await app.background();
    await report('ann');
    for (let step = 0; step < steps; step++) await app.step();
    app.restartBackground();
    await pass(4 * DAY);
    // What was handed over and not recorded leaves again under the same Message-ID.
    t.strictSame([...new Set(got())], ['ann one', 'ann two', 'ann three'], `killed after ${steps} steps`);
    const counted = 'SELECT (SELECT count(*) FROM enrolments) AS entered, (SELECT count(*) FROM steps) AS steps';
    t.match(app.db.prepare(counted).get(), { entered: 1, steps: 3 });
  }
});

t.test(
  'a malformed trigger is refused, another account changes none, and the contract’s records do not show it',
  async (t) => {
    const { app, set, get, utr } = await withTrigger(t, 'value > 100');
    for (const wrong of [
      { trigger_event: 'a@b.example' },
      { trigger_event: 'x'.repeat(65) },
      { trigger_filter: 'category' },
      { trigger_filter: 'size > large' },
      { trigger_filter: '= 1' },
    ])
      t.equal((await set(wrong)).status, 422, JSON.stringify(wrong));
    const form = { utr, trigger_event: 'theirs' };
    t.equal((await app.two.call('POST', '/automations/update', { form })).status, 404);
    t.match((await get('/automations/series', { utr })).body.message.series, {
      trigger_event: 'purchase',
      trigger_filter: 'value > 100',
    });
    for (const path of ['/automations/details', '/automations/list', '/automations/schedule'])
      t.notMatch((await get(path, { utr })).text, /trigger_/, path);
    const copy = (await get('/automations/duplicate', { utr })).body.message.utr;
    t.match((await get('/automations/series', { utr: copy })).body.message.series, { trigger_event: 'purchase' });
  },
);

t.test(
  'the trigger is edited and said on the pages, in both languages, and a forecast says what is awaited',
  async (t) => {
    const { app, utr, join, live, report, get } = await withTrigger(t);
    await join('ann');
    await report('ann', { name: 'sign-up' });
    const owner = addPerson(app, 'owner', { accountId: 1, name: 'owner' });
    const headers = (language: string) => ({ ...FROM_PAGE, cookie: cookieOf(app, owner), 'accept-language': language });
    const page = async (path: string, language: string) =>
      (await app.page('GET', path, { headers: headers(language) })).text;
    const form = await page(`/automations/${utr}/edit`, 'en');
    t.match(form, /value="purchase"[^>]*name="trigger_event"/);
    t.match(form, '<option value="sign-up"');
    const [, unchanged_since = ''] = /name="unchanged_since" value="([^"]+)"/.exec(form) ?? [];
    const saved = await app.fastify.inject({
      method: 'POST',
      url: `/automations/${utr}/edit`,
      headers: { ...headers('en'), 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({
        automation_name: 'Shop',
        automation_for: 'contacts_1',
        unsubscribe_group_id: '1',
        trigger_event: 'sign-up',
        trigger_filter: 'plan = pro',
        unchanged_since,
      }).toString(),
    });
    t.equal(saved.statusCode, 303, saved.payload.slice(0, 200));
    const plain = (html: string) => html.replaceAll(/[\u2066-\u2069]/g, '');
    t.match(
      plain(await page(`/automations/${utr}`, 'en')),
      'The event “sign-up” with plan = pro happens for a contact in the list “Readers”.',
    );
    t.match(
      plain(await page(`/automations/${utr}`, 'de')),
      'Das Ereignis „sign-up“ mit plan = pro tritt bei einem Kontakt in der Liste „Readers“ ein.',
    );
    await live();
    const { preview } = (await get('/automations/preview', { utr })).body.message;
    t.ok(preview.mails.length > 0);
    for (const { due_at } of preview.mails) t.type(due_at, 'string', 'who enters now gets every mail');
    const { body } = await get('/automations/preview', { utr, email: 'ann@example.org' });
    t.match(JSON.stringify(body), /awaits_event/);
  },
);

t.test('an account has at most 100 live automations, and one event starts at most 20 of them', async (t) => {
  const { app, utr, set, get } = await withTrigger(t);
  for (let copies = 0; copies < 100; copies++) await get('/automations/duplicate', { utr });
  const setLive = async () => (await get('/automations/set-live', { utr })).body;
  app.db.exec('UPDATE automations SET status = 1 WHERE id BETWEEN 2 AND 21');
  const ofEvent = 'One event may not start more than 20 live automations: pause one of them first';
  t.match(await setLive(), { status: 'failed', errors: ofEvent });
  await set({ trigger_event: 'sign-up' });
  t.match(await setLive(), { status: 'success' });
  t.match(await set({ trigger_event: 'purchase' }), { status: 409, body: { errors: ofEvent } });
  t.equal((await set({ trigger_event: 'log-in' })).status, 200);
  await get('/automations/pause', { utr });
  app.db.exec('UPDATE automations SET status = 1 WHERE id > 1');
  const ofAll = 'An account may not have more than 100 live automations: pause one of them first';
  t.match(await setLive(), { status: 'failed', errors: ofAll });
  app.db.exec('UPDATE automations SET status = 0 WHERE id = 2');
  t.match(await setLive(), { status: 'success' });
});
