/** Contacts who enter an automation again, and the log of what happened to them. */
import t from 'tap';
import { DAY, HOUR, mailsInBrief, mailsOf, withWelcomeSeries } from '../support/automations.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';

async function withReEntry(t: Parameters<typeof withWelcomeSeries>[0], form: Record<string, unknown>, settings = {}) {
  const world = await withWelcomeSeries(t, { settings });
  const { app, utr, get } = world;
  const set = (given: Record<string, unknown>) =>
    app.one.call('POST', '/automations/update', { form: { utr, ...given } });
  const changed = await set(form);
  if (changed.status !== 200) throw new Error(changed.text);
  const report = async (name: string, key?: string) => {
    const json = { email: `${name}@example.org`, name: 'purchase', ...(key !== undefined && { key }) };
    const { status, text } = await app.one.call('POST', '/events', { json });
    if (status !== 200) throw new Error(text);
    await app.background();
  };
  const got = () => mailsOf(app).map(({ to, subject }) => `${to.split('@')[0]} ${subject}`);
  const log = async (query: Record<string, unknown> = {}) =>
    (await get('/automations/log', { utr, ...query })).body.message;
  const runs = () => app.db.prepare('SELECT run, state FROM enrolments ORDER BY address_id, run').raw().all();
  return { ...world, set, report, got, log, runs };
}

const SERIES = ['ann one', 'ann two', 'ann three'];

t.test('after the days of re-entry a contact enters again and gets every mail again, and not before', async (t) => {
  const { join, live, pass, report, got, runs } = await withReEntry(t, {
    trigger_event: 'purchase',
    re_entry: 'days',
    re_entry_days: 10,
  });
  await join('ann');
  await live();
  await report('ann');
  await report('ann');
  await pass(9 * DAY);
  t.strictSame(got(), SERIES);
  await report('ann');
  t.strictSame(runs(), [[1, 'finished']], 'nine days later it is too early');
  await pass(DAY);
  await report('ann');
  t.strictSame(runs(), [
    [1, 'finished'],
    [2, 'active'],
  ]);
  await pass(4 * DAY);
  t.strictSame(got(), [...SERIES, ...SERIES]);
});

t.test(
  'by key, each new key of an event lets a contact enter who is not in it, and a known or no key does not',
  async (t) => {
    const { join, live, pass, report, got, runs } = await withReEntry(t, {
      trigger_event: 'purchase',
      re_entry: 'key',
    });
    await join('ann');
    await live();
    await report('ann', 'order 1');
    await report('ann', 'order 2');
    await pass(4 * DAY);
    t.strictSame(got(), SERIES, 'the second order came while the contact was in it');
    await report('ann', 'order 1');
    await report('ann', 'order 2');
    await report('ann');
    t.equal(runs().length, 1);
    await report('ann', 'order 3');
    await pass(4 * DAY);
    t.strictSame(got(), [...SERIES, ...SERIES]);
  },
);

t.test('an event by which a contact may not enter again yet records no entry', async (t) => {
  for (const re_entry of ['days', 'key']) {
    const form = { trigger_event: 'purchase', re_entry, re_entry_days: 10 };
    const { app, join, live, pass, report } = await withReEntry(t, form);
    await join('ann');
    await live();
    await report('ann', 'order 1');
    await pass(4 * DAY);
    const json = { email: 'ann@example.org', name: 'purchase' };
    t.equal((await app.one.call('POST', '/events', { json })).status, 200);
    t.equal(app.db.prepare('SELECT count(*) FROM membership_changes').pluck().get(), 0, re_entry);
  }
});

t.test('a key whose event was removed with time lets nobody enter again', async (t) => {
  const { app, join, live, pass, report, runs } = await withReEntry(t, { trigger_event: 'purchase', re_entry: 'key' });
  await join('ann');
  await live();
  await report('ann', 'order 1');
  await pass(4 * DAY);
  app.db.exec('DELETE FROM contact_events');
  await report('ann', 'order 1');
  t.strictSame(runs(), [[1, 'finished']]);
});

t.test('who leaves a list and joins it again enters again, and is in it once at a time', async (t) => {
  const { app, join, live, pass, got, runs, post } = await withReEntry(t, { re_entry: 'days', re_entry_days: 1 });
  await live();
  await join('ann');
  await pass(4 * DAY);
  t.strictSame(got(), SERIES);
  await post('/contacts/bulk-delete', { strIds: [1] });
  await join('ann');
  await app.background();
  t.strictSame(runs(), [
    [1, 'finished'],
    [2, 'active'],
  ]);
  await post('/contacts/bulk-delete', { strIds: [2] });
  await join('ann');
  await app.background();
  t.equal(runs().length, 2);
  await pass(4 * DAY);
  t.strictSame(got(), [...SERIES, ...SERIES]);
});

t.test('killed at any step, each run gets each mail once', async (t) => {
  for (const steps of [0, 1, 2, 3]) {
    const { app, join, live, pass, report, got, runs } = await withReEntry(t, {
      trigger_event: 'purchase',
      re_entry: 'key',
    });
    await join('ann');
    await live();
    await report('ann', 'first');
    await pass(4 * DAY);
    const json = { email: 'ann@example.org', name: 'purchase', key: 'second' };
    await app.one.call('POST', '/events', { json });
    for (let step = 0; step < steps; step++) await app.step();
    app.restartBackground();
    await pass(4 * DAY);
    t.equal(runs().length, 2, `killed after ${steps} steps`);
    t.strictSame([...new Set(got())], SERIES);
    t.equal(app.db.prepare('SELECT count(*) FROM steps').pluck().get(), 6);
    t.equal(app.db.prepare("SELECT count(*) FROM enrolment_log WHERE code = 'mail'").pluck().get(), 6);
  }
});

t.test('two runs whose contact gets the address of another contact become one where both are active', async (t) => {
  const { app, join, live, pass, report, post, runs } = await withReEntry(t, {
    trigger_event: 'purchase',
    re_entry: 'days',
    re_entry_days: 10,
  });
  await post('/contacts-type/add', { name: 'Others' });
  await join('ann');
  await join('bea');
  await live();
  await report('ann');
  await pass(11 * DAY);
  await report('ann');
  await report('bea');
  await post('/contacts/update', { contact_id: 2, contact_type_id: 2, email: 'ann@example.org', country: 1 });
  await pass(4 * DAY);
  const active = app.db.prepare("SELECT count(*) FROM enrolments WHERE state = 'active'").pluck().get();
  t.equal(active, 0);
  const ann = mailsInBrief(app).filter((mail) => mail.includes('ann'));
  t.equal(ann.length, 6, 'the mails of two runs and no third');
  t.equal(runs().length, 3);
});

t.test('the log has a line for each entry, step and end, of one contact or all, a page at a time', async (t) => {
  const { app, join, live, pass, log, post } = await withReEntry(t, { re_entry: 'never' });
  await live();
  await join('ann');
  await join('bea');
  await app.background();
  await post('/unsubscribes-groups/manually-add', { unsubscribe_groups_id: 1, email_address: 'bea@example.org' });
  await pass(4 * DAY);
  const ann = (await log({ email: 'Ann@example.org' })).log;
  t.match(
    ann.map(({ code, subject, run }: Record<string, unknown>) => [code, subject, run]),
    [
      ['finished', null, 1],
      ['mail', 'three', 1],
      ['mail', 'two', 1],
      ['mail', 'one', 1],
      ['entered', null, 1],
    ],
  );
  const times = ann.map(({ happened_at }: { happened_at: string }) => Date.parse(happened_at));
  t.strictSame(
    times,
    times.toSorted((a: number, b: number) => b - a),
  );
  t.match((await log({ email: 'bea@example.org' })).log[0], {
    code: 'left',
    reason_code: 'unsubscribed_group',
  });
  const pages = [];
  for (let before: number | null = null; ; ) {
    const page: { log: { id: number }[]; next_before_id: number | null } = await log({
      limit: 3,
      ...(before !== null && { before_id: before }),
    });
    pages.push(...page.log.map(({ id }) => id));
    before = page.next_before_id;
    if (before === null) break;
  }
  t.equal(pages.length, 8);
  t.equal(new Set(pages).size, 8);
  t.strictSame(
    pages,
    pages.toSorted((a, b) => b - a),
  );
});

t.test(
  'the log of another account is not shown, and old lines and those of an erased contact are removed',
  async (t) => {
    const { app, utr, join, live, pass, log, post } = await withReEntry(
      t,
      { re_entry: 'never' },
      { EVENTS_DAYS: '30' },
    );
    t.equal((await app.two.call('GET', '/automations/log', { query: { utr } })).status, 404);
    await live();
    await join('ann');
    await pass(4 * DAY);
    await join('bea');
    await app.background();
    t.equal((await log()).log.length, 7);
    await post('/contacts/person/erase', { contact_id: 2 });
    t.equal((await log()).log.length, 5);
    await pass(2 * HOUR);
    // In parts, so that the clock does not seem wrong.
    for (let part = 0; part < 7; part++) {
      app.clock.advance(6 * DAY);
      await app.background();
    }
    t.equal((await log()).log.length, 0);
  },
);

t.test(
  're-entry is edited on the page, wrong values are refused, and the log is read there in both languages',
  async (t) => {
    const { app, utr, set, join, live, get } = await withReEntry(t, {
      trigger_event: 'purchase',
      re_entry: 'key',
    });
    t.equal((await set({ re_entry: 'often' })).status, 422);
    t.equal((await set({ re_entry: 'days' })).status, 422, 'how many days is missing');
    for (const re_entry_days of [0, 3651, 'x']) t.equal((await set({ re_entry: 'days', re_entry_days })).status, 422);
    const owner = addPerson(app, 'owner', { accountId: 1, name: 'owner' });
    const headers = (language: string) => ({ ...FROM_PAGE, cookie: cookieOf(app, owner), 'accept-language': language });
    const page = async (path: string, language = 'en') =>
      (await app.page('GET', path, { headers: headers(language) })).text;
    const form = await page(`/automations/${utr}/edit`);
    t.match(form, /<option value="key" selected/);
    const [, unchanged_since = ''] = /name="unchanged_since" value="([^"]+)"/.exec(form) ?? [];
    const saved = await app.fastify.inject({
      method: 'POST',
      url: `/automations/${utr}/edit`,
      headers: { ...headers('en'), 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({
        automation_name: 'Welcome',
        automation_for: 'contacts_1',
        unsubscribe_group_id: '1',
        re_entry: 'days',
        re_entry_days: '30',
        unchanged_since,
      }).toString(),
    });
    t.equal(saved.statusCode, 303, saved.payload.slice(0, 200));
    t.match((await get('/automations/series', { utr })).body.message.series, { re_entry: 'days', re_entry_days: 30 });
    await live();
    await join('ann');
    await app.background();
    t.match(await page(`/automations/${utr}`), `/automations/${utr}/log`);
    t.match(await page(`/automations/${utr}/log`), 'E-mail: one');
    t.match(await page(`/automations/${utr}/log?email=ann%40example.org`, 'de'), 'Aufgenommen');
    t.match(await page(`/automations/${utr}/log?email=nobody%40example.org`), 'Nothing has happened yet.');
    t.match(await page('/contacts/1'), 'Entered automation');
  },
);

t.test('by key is refused for a trigger that has no keys, and a row that has it from before keeps it', async (t) => {
  const { app, set, utr, get } = await withReEntry(t, { trigger_event: 'purchase', re_entry: 'key' });
  const stored = async () => {
    const { series } = (await get('/automations/series', { utr })).body.message;
    return [series.trigger_kind, series.re_entry];
  };
  const refused = await set({ trigger_kind: 'join', re_entry: 'key' });
  t.match([refused.status, Object.keys(refused.body.errors)], [422, ['re_entry']]);
  t.equal((await set({ trigger_kind: 'join' })).status, 200);
  t.strictSame(await stored(), ['join', 'never']);
  t.match((await set({ re_entry: 'key' })).status, 422);
  app.db.prepare("UPDATE automations SET re_entry = 'key'").run();
  t.equal((await set({ automation_name: 'Hello', trigger_kind: 'join', re_entry: 'key' })).status, 200);
  t.strictSame(await stored(), ['join', 'key']);
});
