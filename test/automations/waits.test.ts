/** Steps at which contacts wait for an event, a date of their own, an hour of their day or a weekday. */
import t from 'tap';
import { endWaits, type WaitingContact, type WaitStep } from '../../src/automations/waits.ts';
import { WAKE } from '../../src/delivery/queue/enrolment-state.ts';
import { startApp } from '../support/app.ts';
import { DAY, HOUR, withPaths } from '../support/automations.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';

/** The paths of automations, with functions that report an event and tell when a contact got which mail. */
async function withWaits(t: Parameters<typeof withPaths>[0]) {
  const world = await withPaths(t);
  const { app, utr } = world;
  const report = async (name: string, event: object = {}) => {
    app.clock.advance(1000);
    const json = { email: `${name}@example.org`, name: 'purchase', ...event };
    const { status, text } = await app.one.call('POST', '/events', { json });
    if (status !== 200) throw new Error(text);
  };
  /** A wait before the mail “two”, with a mail on each path. */
  const wait = async (form: Record<string, unknown>) => {
    const step = await world.step({ kind: 'wait_until', before: await world.utrOf('two'), ...form });
    await world.mail('came', { parent: step, branch: 'yes' });
    await world.mail('late', { parent: step, branch: 'no' });
    return step;
  };
  const log = async (email: string): Promise<string[]> =>
    (await world.get('/automations/log', { utr, email })).body.message.log.map(
      ({ code, kind }: { code: string; kind: string | null }) => `${kind} ${code}`,
    );
  return { ...world, report, wait, log };
}

t.test('an event wakes those who wait for it at once, and the others take the other path in time', async (t) => {
  const { app, wait, report, of, live, join, pass, log, mail, utrOf } = await withWaits(t);
  await wait({ until: 'event', event: 'purchase', event_filter: 'value >= 10', timeout_hours: 24 });
  await mail('before', { before: await utrOf('one') });
  await live();
  for (const name of ['ann', 'bo', 'cy']) await join(name);
  await report('ann', { value: 50 });
  await pass(2 * HOUR);
  for (const name of ['ann', 'bo', 'cy']) t.strictSame(of(name), ['before', 'one'], `${name} waits`);
  await report('bo', { value: 10 });
  await report('cy', { value: 9 });
  await report('cy', { value: 90, at: new Date(app.clock.now().getTime() - 3 * HOUR).toISOString() });
  await app.background();
  t.strictSame(of('bo'), ['before', 'one', 'came'], 'without another wait');
  t.strictSame(of('cy'), ['before', 'one'], 'neither another event nor one from before the wait');
  await pass(21 * HOUR);
  t.strictSame(of('ann'), ['before', 'one']);
  await pass(2 * HOUR);
  t.strictSame(of('ann'), ['before', 'one', 'late']);
  t.strictSame(of('cy'), ['before', 'one', 'late']);
  await report('ann', { value: 50 });
  await pass(4 * DAY);
  t.strictSame(of('ann'), ['before', 'one', 'late', 'two', 'three'], 'too late is too late');
  t.strictSame(of('bo'), ['before', 'one', 'came', 'two', 'three']);
  t.ok((await log('bo@example.org')).includes('wait_until yes'));
  t.ok((await log('cy@example.org')).includes('wait_until no'));
});

t.test('an event is not lost while the automation is paused, before the wait is seen, or by a kill', async (t) => {
  const { app, utr, get, wait, report, of, live, join, pass } = await withWaits(t);
  await wait({ until: 'event', event: 'purchase', timeout_hours: 48, waiting_type: 'hours', waiting_period: 2 });
  await live();
  await join('ann');
  await join('bo');
  await pass(HOUR);
  await report('bo');
  await app.background();
  await get('/automations/pause', { utr });
  app.clock.advance(2 * HOUR);
  await report('ann');
  app.restartBackground();
  await app.background();
  t.strictSame(of('ann'), ['one']);
  await live();
  await app.background();
  t.strictSame(of('ann'), ['one', 'came']);
  t.strictSame(of('bo'), ['one'], 'what happened during the wait before the step does not count');
  await pass(3 * DAY);
  t.strictSame(of('bo'), ['one', 'late']);
});

t.test('an event that comes after the time ran out is too late, also while the automation is paused', async (t) => {
  const { app, utr, get, wait, report, of, live, join, pass } = await withWaits(t);
  await wait({ until: 'event', event: 'purchase', timeout_hours: 4 });
  await live();
  for (const name of ['ann', 'bo', 'cy']) await join(name);
  await pass(HOUR);
  await get('/automations/pause', { utr });
  app.clock.advance(4 * HOUR - 1000);
  await report('ann');
  await report('bo');
  await report('cy', { at: new Date(app.clock.now().getTime() - HOUR).toISOString() });
  await live();
  await app.background();
  t.strictSame(of('ann'), ['one', 'came'], 'at the last moment');
  t.strictSame(of('bo'), ['one', 'late'], 'a second later');
  t.strictSame(of('cy'), ['one', 'came'], 'reported later, but happened in time');
});

t.test('after another event is awaited, only what happens from then on counts, also while paused', async (t) => {
  const { app, utr, get, wait, report, of, live, join, pass } = await withWaits(t);
  const step = await wait({ until: 'event', event: 'purchase', event_filter: 'value >= 10', timeout_hours: 48 });
  const change = async (form: Record<string, unknown>) => {
    app.clock.advance(1000);
    const { status, text } = await app.one.call('POST', '/automations/step/update', { form: { utr: step, ...form } });
    t.equal(status, 200, text);
  };
  await live();
  for (const name of ['ann', 'bo', 'cy', 'di']) await join(name);
  await pass(HOUR);
  await get('/automations/pause', { utr });
  await report('ann', { value: 10 });
  await app.background();
  await report('bo', { value: 10 });
  await change({ event_filter: 'value >= 90' });
  await report('cy', { value: 10 });
  await report('di', { value: 90 });
  await report('bo', { value: 90, at: new Date(app.clock.now().getTime() - 60_000).toISOString() });
  await app.background();
  await change({ timeout_hours: 24 });
  await live();
  await app.background();
  t.strictSame(of('di'), ['one', 'came'], 'what came before a change of the time alone counts');
  for (const name of ['ann', 'bo', 'cy']) t.strictSame(of(name), ['one'], `${name} waits`);
  await get('/automations/pause', { utr });
  await report('ann', { value: 90 });
  await change({ event: 'visit', event_filter: '' });
  await live();
  await report('bo', { name: 'visit' });
  await app.background();
  t.strictSame(of('ann'), ['one']);
  t.strictSame(of('bo'), ['one', 'came']);
});

t.test('who waits keeps waiting when other steps are moved, and what came is not forgotten', async (t) => {
  const { app, wait, report, of, live, join, pass, mail, utrOf, step, utr, get } = await withWaits(t);
  await wait({ until: 'event', event: 'purchase', timeout_hours: 24 });
  await live();
  await join('ann');
  await join('bo');
  await pass(HOUR);
  await get('/automations/pause', { utr });
  await report('ann');
  await app.background();
  await mail('more', { before: await utrOf('came') });
  await step({ kind: 'exit', before: await utrOf('three') });
  await live();
  await pass(HOUR);
  t.strictSame(of('ann'), ['one', 'more', 'came']);
  t.strictSame(of('bo'), ['one']);
  await pass(DAY);
  t.strictSame(of('bo'), ['one', 'late']);
});

t.test('a date of the contact comes in their time zone, follows its changes, and times out without one', async (t) => {
  const { app, wait, of, live, pass, post } = await withWaits(t);
  await post('/custom-fields/save', { field_name: 'renewal', field_type: 'datetime-local' });
  await post('/custom-fields/save', { field_name: 'time_zone', field_type: 'text' });
  await wait({ until: 'date', field: 'renewal', hour: 9, timeout_hours: 72 });
  await live();
  const today = app.clock.now().getTime();
  const day = (after: number) => new Date(today + after * DAY).toISOString().slice(0, 10);
  const contact = (id: number, name: string, renewal: string, zone = 'UTC') => ({
    contact_id: id,
    contact_type_id: 1,
    email: `${name}@example.org`,
    country: 1,
    'custom_field[renewal]': renewal,
    'custom_field[time_zone]': zone,
  });
  const add = (id: number, name: string, renewal: string, zone?: string) =>
    post('/contacts/add', contact(id, name, renewal, zone));
  await add(1, 'past', day(-1));
  await add(2, 'none', '');
  await add(3, 'far', day(30));
  await add(4, 'tokyo', day(1), 'Asia/Tokyo');
  await add(5, 'moved', day(30));
  await add(6, 'put-off', day(1));
  await pass(HOUR);
  t.strictSame(of('past'), ['one', 'came']);
  app.clock.advance(1000);
  await post('/contacts/update', contact(5, 'moved', `${day(0)}T00:00`));
  await post('/contacts/update', contact(6, 'put-off', day(2)));
  await app.background();
  t.strictSame(of('moved'), ['one', 'came'], 'a changed date wakes who waits for it');
  for (let hour = 0; of('tokyo').length < 2 && hour < 48; hour++) await pass(HOUR);
  const came = app.db.prepare("SELECT max(taken_at) FROM steps WHERE outcome = 'yes'").pluck().get();
  t.equal(new Date(Math.floor(Number(came) / HOUR) * HOUR).toISOString(), `${day(1)}T00:00:00.000Z`, 'nine in Tokyo');
  t.strictSame(of('put-off'), ['one']);
  await pass(4 * DAY);
  t.strictSame(of('put-off').slice(0, 2), ['one', 'came']);
  t.strictSame(of('none').slice(0, 2), ['one', 'late']);
  t.strictSame(of('far').slice(0, 2), ['one', 'late']);
});

t.test('a time zone that changes during a wait counts at once, of a contact and of all', async (t) => {
  const { app, step, of, live, pass, post, utrOf } = await withWaits(t);
  for (const name of ['place', 'time_zone'])
    await post('/custom-fields/save', { field_name: name, field_type: 'text' });
  await step({ kind: 'wait_until', until: 'hour', hour: 20, before: await utrOf('one') });
  await live();
  const names = ['moved', 'named', 'none'];
  const put = (name: string, custom_field: Record<string, string> = {}) => {
    const json = { contact_type_id: 1, contacts: [{ email: `${name}@example.org`, custom_field }] };
    return app.one.call('POST', '/contacts/upsert', { json });
  };
  for (const name of names) await put(name, { place: name === 'named' ? 'Asia/Dhaka' : '' });
  /** Who has gone on by now. */
  const gone = () => names.filter((name) => of(name).length > 0);
  await pass(HOUR);
  t.strictSame([app.clock.now().toISOString().slice(11, 16), ...gone()], ['10:00']);
  await put('moved', { time_zone: 'Asia/Tokyo' });
  const woken = app.db.prepare('SELECT count(*) FROM membership_changes').pluck();
  t.equal(woken.get(), 1);
  await pass(HOUR);
  t.strictSame(gone(), ['moved'], 'at eleven it is twenty in Tokyo');
  await put('moved', { time_zone: 'Asia/Seoul' });
  t.equal(woken.get(), 0, 'nothing is recorded of who waits for no time');
  t.equal((await app.one.call('DELETE', '/custom-fields/delete', { query: { id: 2 } })).status, 200);
  await post('/custom-fields/update', { id: 1, field_name: 'time_zone' });
  await pass(3 * HOUR);
  t.strictSame(gone(), ['moved', 'named'], 'at fourteen it is twenty in Dhaka');
  app.restartBackground(undefined, { TIME_ZONE: 'Africa/Cairo' });
  await pass(4 * HOUR);
  t.strictSame(gone(), names, 'at eighteen it is twenty in Cairo');
});

t.test(
  'an hour, a weekday and a day of every year begin by the clock of the contact, also where the clock changes',
  async (t) => {
    const { db } = await startApp(t);
    const step: WaitStep = {
      ...{
        id: 1,
        user_id: 1,
        waiting_type: 'instantly',
        waiting_period: 1,
        until: 'hour',
        event_since: null,
        field_id: null,
      },
      ...{ weekday: null, hour: null, timeout_hours: null },
    };
    /** When a contact goes on who comes to the step at this time; “now” if at once. */
    const next = (
      now: string,
      given: Partial<WaitStep>,
      { zone = 'Europe/Berlin', date = null as string | null } = {},
    ) => {
      const at = Date.parse(now);
      db.exec('DELETE FROM enrolments');
      db.prepare(
        "INSERT INTO enrolments (id, automation_id, address_id, state, entered_at, waiting_since, due_at) VALUES (1, 1, 1, 'active', 0, 0, 0)",
      ).run();
      const contact: WaitingContact = {
        ...{ id: 1, address_id: 1, contact_id: 1, waiting_since: at, arrived_step: null, arrived_at: null, date },
        ...{ country_id: null, state: null, time_zone: zone },
      };
      const [taken] = endWaits(db, { ...step, ...given }, [contact], { now: at, zone: 'UTC' });
      if (taken !== undefined) return taken.outcome === 'yes' ? 'now' : 'too late';
      return new Date(Number(db.prepare('SELECT due_at FROM enrolments').pluck().get())).toISOString();
    };
    db.pragma('foreign_keys = OFF');
    const nine = { until: 'hour', hour: 9 } as const;
    t.equal(next('2026-03-02T07:59:59Z', nine), '2026-03-02T08:00:00.000Z');
    t.equal(next('2026-03-02T08:00:00Z', nine), 'now');
    t.equal(next('2026-03-02T08:59:59Z', nine), 'now');
    t.equal(next('2026-03-02T09:00:00Z', nine), '2026-03-03T08:00:00.000Z');
    t.equal(next('2026-03-28T09:00:00Z', nine), '2026-03-29T07:00:00.000Z', 'summer time has begun');
    const two = { until: 'hour', hour: 2 } as const;
    t.equal(next('2026-03-28T20:00:00Z', two), '2026-03-29T01:00:00.000Z', 'the hour is skipped');
    t.equal(next('2026-03-29T01:00:00Z', two), 'now');
    const monday = { until: 'weekday', weekday: 1, hour: 6 } as const;
    t.equal(next('2026-03-01T22:59:00Z', monday), '2026-03-02T05:00:00.000Z');
    t.equal(next('2026-03-02T04:59:00Z', monday), '2026-03-02T05:00:00.000Z');
    t.equal(next('2026-03-02T05:00:00Z', monday), 'now');
    t.equal(next('2026-03-02T22:59:00Z', monday), 'now');
    t.equal(next('2026-03-02T23:00:00Z', monday), '2026-03-09T05:00:00.000Z');
    const birthday = { until: 'date', hour: 8, timeout_hours: 87_600 } as const;
    t.equal(next('2026-03-02T12:00:00Z', birthday, { date: '03-02' }), 'now');
    t.equal(next('2026-03-02T06:00:00Z', birthday, { date: '03-02' }), '2026-03-02T07:00:00.000Z');
    t.equal(next('2026-03-03T12:00:00Z', birthday, { date: '03-02' }), '2027-03-02T07:00:00.000Z');
    t.equal(next('2026-12-31T23:30:00Z', birthday, { date: '02-29' }), '2027-02-28T07:00:00.000Z');
    t.equal(next('2027-03-01T12:00:00Z', birthday, { date: '02-29' }), '2028-02-29T07:00:00.000Z');
    const day = { until: 'date', hour: null, timeout_hours: 48 } as const;
    t.equal(next('2026-03-02T12:00:00Z', day, { date: '2026-03-03T10:30' }), '2026-03-03T09:30:00.000Z');
    t.equal(next('2026-03-02T12:00:00Z', day, { date: '2026-03-03T10:30:20' }), '2026-03-03T09:30:20.000Z');
    t.equal(next('2026-03-02T12:00:00Z', day, { date: '2026-03-03', zone: 'nowhere' }), '2026-03-03T00:00:00.000Z');
    t.equal(next('2026-03-02T12:00:00Z', day, { date: '9999-12-31' }), '2026-03-04T12:00:00.000Z', 'the longest wait');
    t.equal(next('2026-03-02T12:00:00Z', day, { date: '0001-01-01' }), 'now');
  },
);

t.test('only a wait for an event or date has paths, and a wait without what it needs is refused', async (t) => {
  const { app, utr, call, step, post } = await withWaits(t);
  await post('/custom-fields/save', { field_name: 'points', field_type: 'number' });
  const wait = { kind: 'wait_until', waiting_type: 'instantly', waiting_period: 1 };
  for (const [field, wrong] of [
    ['until', {}],
    ['until', { until: 'never' }],
    ['event', { until: 'event', timeout_hours: 1 }],
    ['event', { until: 'event', event: 'a=b', timeout_hours: 1 }],
    ['event_filter', { until: 'event', event: 'a', event_filter: 'value > many', timeout_hours: 1 }],
    ['timeout_hours', { until: 'event', event: 'a' }],
    ['timeout_hours', { until: 'event', event: 'a', timeout_hours: 87_601 }],
    ['field', { until: 'date', timeout_hours: 1 }],
    ['field', { until: 'date', field: 'points', timeout_hours: 1 }],
    ['field', { until: 'date', field: 'first_name', timeout_hours: 1 }],
    ['hour', { until: 'hour' }],
    ['hour', { until: 'hour', hour: 24 }],
    ['weekday', { until: 'weekday', hour: 1 }],
    ['weekday', { until: 'weekday', weekday: 8 }],
  ] as const) {
    const { status, body } = await call('/automations/step/add', { ...wait, ...wrong });
    t.equal(status, 422, JSON.stringify(wrong));
    t.strictSame(Object.keys(body.errors), [field]);
  }
  const midnight = await step({ ...wait, until: 'hour', hour: 0 });
  t.equal((await call('/automations/step/add', { ...wait, kind: 'exit', parent: midnight, branch: 'no' })).status, 422);
  t.equal((await app.two.call('POST', '/automations/step/remove', { form: { utr: midnight } })).status, 404);
  const { steps } = (await app.one.call('GET', '/automations/series', { query: { utr } })).body.message.series;
  t.match(steps.at(-1), { kind: 'wait_until', until: 'hour', hour: 0, event: null, timeout_hours: null });
});

t.test('an event finds who waits for it by indexes, and costs nothing where nobody waits', async (t) => {
  const { app, wait, report, join, live, pass } = await withWaits(t);
  await live();
  await join('ann');
  await pass(HOUR);
  await report('ann');
  t.equal(app.db.prepare('SELECT count(*) FROM membership_changes').pluck().get(), 0);
  await wait({ until: 'event', event: 'purchase', timeout_hours: 1 });
  await report('nobody', { email: undefined, contact_id: 1, name: 'login' });
  t.equal(app.db.prepare('SELECT count(*) FROM membership_changes').pluck().get(), 0);
  const plan = app.db.prepare(`EXPLAIN QUERY PLAN ${WAKE}`).all({
    ...{ at: 0, change: 'arrived', step_id: 1, automation_id: 1, address_id: 1, contact_id: null },
  });
  const lines = plan.map((row) => String(Object(row).detail));
  t.match(lines[0], /SEARCH e USING INDEX enrolments_(active|person)/);
  t.notOk(
    lines.some((line) => line.startsWith('SCAN')),
    lines.join('\n'),
  );
});

t.test('a wait is added and shown on the pages, in both languages', async (t) => {
  const { app, utr, post, utrOf } = await withWaits(t);
  await post('/custom-fields/save', { field_name: 'renewal', field_type: 'datetime-local' });
  const owner = addPerson(app, 'owner', { accountId: 1, name: 'owner' });
  const headers = (language: string) => ({ ...FROM_PAGE, cookie: cookieOf(app, owner), 'accept-language': language });
  const page = async (path: string, language = 'en') =>
    (await app.page('GET', path, { headers: headers(language) })).text.replaceAll(/[\u2066-\u2069]/g, '');
  const before = await utrOf('two');
  /** The form as a browser sends it: with the fields that are not shown, too. */
  const fields = { event: '', event_filter: '', field: '', weekday: '1', hour: '9', timeout_hours: '72' };
  const send = async (form: Record<string, string>) =>
    (
      await app.fastify.inject({
        method: 'POST',
        url: `/automations/${utr}/steps/new`,
        headers: { ...headers('en'), 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams({
          ...{ kind: 'wait_until', waiting_type: 'instantly', waiting_period: '1', before, parent: '', branch: '' },
          ...fields,
          ...form,
        }).toString(),
      })
    ).statusCode;
  t.match(await page(`/automations/${utr}/steps/new?kind=wait_until`), 'renewal');
  t.equal(await send({ until: 'event' }), 422);
  for (const { english, german, ...form } of [
    {
      until: 'event',
      event: 'purchase',
      english: 'Wait for the event “purchase”, 72 hours at most',
      german: 'Auf das Ereignis „purchase“ warten, höchstens 72 Stunden',
    },
    {
      until: 'event',
      event: 'purchase',
      event_filter: 'value > 5',
      english: 'Wait for the event “purchase” with value > 5, 72 hours at most',
      german: 'Auf das Ereignis „purchase“ mit value > 5 warten',
    },
    {
      until: 'date',
      field: 'renewal',
      english: 'Wait until the date in “Renewal”, 9:00, 72 hours at most',
      german: 'Bis zum Datum in „Renewal“ warten, 9:00 Uhr, höchstens 72 Stunden',
    },
    {
      until: 'hour',
      english: 'Wait until 9:00 in the contact’s time zone',
      german: 'Bis 9:00 Uhr in der Zeitzone des Kontakts warten',
    },
    {
      until: 'weekday',
      english: 'Wait until Monday, 9:00 in the contact’s time zone',
      german: 'Bis Montag, 9:00 Uhr in der Zeitzone des Kontakts warten',
    },
  ]) {
    t.equal(await send(form), 303, form.until);
    t.match(await page(`/automations/${utr}/edit`), english);
    t.match(await page(`/automations/${utr}/edit`, 'de'), german);
  }
  t.match(await page(`/automations/${utr}/edit`), 'Timed out');
});
