/** Automations that start on a date of a contact: when, for whom, every year, and not twice. */
import t from 'tap';
import { DateEntries } from '../../src/automations/date-entries.ts';
import { readConfig } from '../../src/config.ts';
import { DAY, HOUR, mailsInBrief, withWelcomeSeries } from '../support/automations.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';

/** A live series of one list that starts by the given trigger; the clock begins at 2026-01-15 09:00 UTC. */
async function withDates(
  t: Parameters<typeof withWelcomeSeries>[0],
  { type = 'yearly-date', trigger = {} }: { type?: string; trigger?: Record<string, unknown> } = {},
) {
  const world = await withWelcomeSeries(t);
  const { app, post, utr } = world;
  await post('/custom-fields/save', { field_name: 'birthday', field_type: type });
  await post('/custom-fields/save', { field_name: 'time_zone', field_type: 'text' });
  const set = (form: Record<string, unknown>) =>
    app.one.call('POST', '/automations/update', { form: { utr, ...form } });
  const kind = { trigger_kind: 'date', trigger_field: 'birthday', trigger_hour: 9 };
  const answer = await set({ ...kind, ...trigger });
  if (answer.status !== 200) throw new Error(answer.text);
  const add = (name: string, birthday: string, time_zone = '') =>
    app.one.call('POST', '/contacts/upsert', {
      json: {
        contact_type_id: 1,
        contacts: [{ email: `${name}@example.org`, custom_field: { birthday, time_zone } }],
      },
    });
  const firsts = () => mailsInBrief(app).filter((mail) => mail.endsWith(' one'));
  return { ...world, set, add, firsts };
}

t.test(
  'contacts enter at the hour in their own zone, those from before it was live included, and only once',
  async (t) => {
    const { add, live, pass, firsts, app } = await withDates(t);
    await add('utc', '01-16');
    await add('berlin', '01-16', 'Europe/Berlin');
    await add('kiritimati', '01-16', 'Pacific/Kiritimati');
    await add('samoa', '01-16', 'Pacific/Pago_Pago');
    await add('other', '01-17');
    await add('none', '');
    await live();
    await add('late', '01-16', 'Asia/Kolkata');
    await pass(36 * HOUR);
    t.strictSame(firsts(), [
      '01-15T19:00 kiritimati one',
      '01-16T04:00 late one',
      '01-16T08:00 berlin one',
      '01-16T09:00 utc one',
      '01-16T20:00 samoa one',
    ]);
    const keys = app.db.prepare('SELECT DISTINCT event_key FROM enrolments').pluck().all();
    t.strictSame(keys, ['2026-01-16']);
  },
);

t.test('days before and after the date count over the end of a month and a year', async (t) => {
  for (const [trigger, day] of [
    [{ trigger_days: 14, trigger_before: 1 }, '2026-01-30'],
    [{ trigger_days: 30 }, '2025-12-17'],
  ] as const) {
    const { add, live, pass, firsts } = await withDates(t, { type: 'datetime-local', trigger });
    await add('due', `${day}T18:30`);
    await add('lastyear', `2024${day.slice(4)}`);
    await live();
    await pass(2 * DAY);
    t.strictSame(firsts(), ['01-16T09:00 due one'], day);
  }
});

t.test(
  'every year each contact enters again, a date in a later year not before it, and 29 February on the 28th',
  async (t) => {
    const { add, live, pass, app, get, utr } = await withDates(t, {
      type: 'datetime-local',
      trigger: { trigger_yearly: 1, re_entry: 'never' },
    });
    t.equal((await get('/automations/series', { utr })).body.message.series.re_entry, 'key', 'every year enters again');
    await add('ann', '1990-01-17');
    await add('leap', '2000-02-29');
    await add('later', '2027-01-17');
    await live();
    await pass(3 * DAY);
    t.equal(app.db.prepare('SELECT count(*) FROM enrolments').pluck().get(), 1);
    const entered = () =>
      app.db
        .prepare(
          'SELECT n.event_key, a.normalized_email FROM enrolments n JOIN addresses a ON a.id = n.address_id ORDER BY n.id',
        )
        .raw()
        .all();
    const until = async (moment: string) => {
      for (const end = Date.parse(moment); app.clock.now().getTime() < end; ) {
        app.clock.advance(Math.min(DAY, end - app.clock.now().getTime()));
        await app.background();
      }
    };
    await until('2026-02-28T10:00:00Z');
    t.strictSame(entered().slice(1), [['2026-02-28', 'leap@example.org']]);
    await until('2027-01-17T10:00:00Z');
    t.strictSame(entered().slice(2).sort(), [
      ['2027-01-17', 'ann@example.org'],
      ['2027-01-17', 'later@example.org'],
    ]);
  },
);

t.test('a look that a kill repeats lets nobody enter twice, and hours more than a day ago start nothing', async (t) => {
  const { add, live, pass, app } = await withDates(t);
  await add('ann', '01-16');
  await add('bob', '01-17');
  await live();
  await pass(25 * HOUR);
  const entered = () => app.db.prepare('SELECT count(*) FROM enrolments').pluck().get();
  t.equal(entered(), 1);
  app.db.prepare('UPDATE automations SET dates_checked_to = dates_checked_to - ?').run(4 * HOUR);
  app.restartBackground();
  await app.background();
  t.equal(entered(), 1);
  app.clock.advance(2 * DAY);
  await app.background();
  t.equal(entered(), 1, 'bob’s hour was 49 hours ago');
});

t.test(
  'whoever is not in the target, changed the date or was deleted does not enter; a pause misses its days',
  async (t) => {
    const { add, live, pass, app, get, utr, post } = await withDates(t);
    await add('moved', '01-16');
    await add('gone', '01-16');
    await add('stays', '01-16');
    await add('paused', '01-17');
    await post('/contacts-type/add', { name: 'Others' });
    const json = { contact_type_id: 2, contacts: [{ email: 'else@example.org', custom_field: { birthday: '01-16' } }] };
    await app.one.call('POST', '/contacts/upsert', { json });
    await live();
    await app.background();
    await add('moved', '06-16');
    await app.one.call('DELETE', '/contacts/delete', { query: { contact_id: 2 } });
    await pass(24 * HOUR);
    const entered = () => app.db.prepare('SELECT contact_id FROM enrolments').pluck().all();
    t.strictSame(entered(), [3]);
    t.strictSame(app.db.prepare('SELECT contact_id FROM contact_dates ORDER BY 1').pluck().all(), [1, 3, 4, 5]);
    await get('/automations/pause', { utr });
    await pass(25 * HOUR);
    await live();
    await pass(HOUR);
    t.strictSame(entered(), [3]);
  },
);

t.test('a deleted field starts nothing and keeps the automation from going live', async (t) => {
  const { add, live, pass, app, get, utr } = await withDates(t);
  await add('ann', '01-16');
  await live();
  await app.one.call('DELETE', '/custom-fields/delete', { query: { id: 1 } });
  await pass(25 * HOUR);
  t.equal(app.db.prepare('SELECT count(*) FROM enrolments').pluck().get(), 0);
  await get('/automations/pause', { utr });
  const refused = await get('/automations/set-live', { utr });
  t.match([refused.status, refused.text], [409, /field or form of the trigger was deleted/]);
});

t.test('a trigger that lacks a part, or names what the account does not have, is refused', async (t) => {
  const { set, app, post } = await withDates(t);
  await post('/custom-fields/save', { field_name: 'points', field_type: 'number' });
  for (const [wrong, name] of [
    [{ trigger_field: 'points' }, 'trigger_field'],
    [{ trigger_field: 'first_name' }, 'trigger_field'],
    [{ trigger_field: 'nothing' }, 'trigger_field'],
    [{ trigger_kind: 'date', trigger_field: '' }, 'trigger_field'],
    [{ trigger_days: 366 }, 'trigger_days'],
    [{ trigger_hour: 24 }, 'trigger_hour'],
    [{ trigger_kind: 'event' }, 'trigger_event'],
    [{ trigger_kind: 'form' }, 'trigger_form_id'],
    [{ trigger_kind: 'form', trigger_form_id: 7 }, 'trigger_form_id'],
    [{ trigger_kind: 'moon' }, 'trigger_kind'],
  ] as const) {
    const answer = await set(wrong);
    t.match([answer.status, Object.keys(answer.body.errors)], [422, [name]], JSON.stringify(wrong));
  }
  const mine = await app.one.call('GET', '/automations/list');
  t.notMatch(mine.text, /trigger_/);
});

t.test('the trigger is edited on its page and said in a sentence in both languages', async (t) => {
  const { app, utr } = await withDates(t, { type: 'datetime-local' });
  const owner = addPerson(app, 'owner', { accountId: 1, name: 'owner' });
  const headers = (language: string) => ({ ...FROM_PAGE, cookie: cookieOf(app, owner), 'accept-language': language });
  const page = async (path: string, language: string) =>
    (await app.page('GET', path, { headers: headers(language) })).text.replaceAll(/[\u2066-\u2069]/g, '');
  const [, unchanged_since = ''] =
    /name="unchanged_since" value="([^"]+)"/.exec(await page(`/automations/${utr}/edit`, 'en')) ?? [];
  const payload = {
    automation_name: 'Renewals',
    automation_for: 'contacts_1',
    unsubscribe_group_id: '1',
    trigger_kind: 'date',
    trigger_event: '',
    trigger_filter: '',
    trigger_field: 'birthday',
    trigger_value: '',
    trigger_days: '14',
    trigger_before: '1',
    trigger_hour: '7',
    re_entry: 'key',
    unchanged_since,
  };
  const saved = await app.fastify.inject({
    method: 'POST',
    url: `/automations/${utr}/edit`,
    headers: { ...headers('en'), 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(payload).toString(),
  });
  t.equal(saved.statusCode, 303, /class="problem"[^<]*</.exec(saved.payload)?.[0] ?? '');
  t.match(
    await page(`/automations/${utr}`, 'en'),
    '14 days before the date in the field “Birthday” of a contact in the list “Readers”, at 7:00 in the contact’s time zone.',
  );
  t.match(
    await page(`/automations/${utr}`, 'de'),
    '14 Tage vor dem Datum im Feld „Birthday“ eines Kontakts in der Liste „Readers“, um 7:00 Uhr in der Zeitzone des Kontakts.',
  );
});

t.test('who gets a time zone in which the hour of today has passed enters late, and once', async (t) => {
  const { app, add, live, pass, firsts } = await withDates(t);
  const date = '01-16';
  await add('before', date, 'Europe/Berlin');
  await add('late', date, 'America/New_York');
  await add('same', date, 'America/New_York');
  await add('back', date, 'Asia/Tokyo');
  await live();
  // It is 10:00 UTC on the 16th.
  await pass(25 * HOUR);
  t.strictSame(firsts(), ['01-16T00:00 back one', '01-16T08:00 before one']);
  await add('late', date, 'Europe/Paris');
  await add('same', date, 'America/Toronto');
  await add('back', date, 'America/New_York');
  await app.background();
  t.strictSame(firsts().slice(2), ['01-16T10:00 late one']);
  t.equal(app.db.prepare('SELECT count(*) FROM rezoned_contacts').pluck().get(), 0);
  await pass(14 * HOUR);
  t.strictSame(firsts().slice(3), ['01-16T14:00 same one']);
  t.equal((await app.one.call('DELETE', '/custom-fields/delete', { query: { id: 2 } })).status, 200);
  await pass(2 * DAY);
  t.equal(firsts().length, 4, 'those whose field of time zones was deleted do not enter again');
});

t.test('who is given a date after its hour does not enter, also if the time zone is set with it', async (t) => {
  const { app, add, live, pass, firsts } = await withDates(t);
  await add('late', '', 'America/New_York');
  await add('kept', '01-16', 'America/New_York');
  await live();
  // It is 10:00 UTC on the 16th.
  await pass(25 * HOUR);
  await add('late', '01-16', 'Europe/Paris');
  await add('kept', '01-16', 'Europe/Paris');
  await app.background();
  await pass(DAY);
  t.strictSame(firsts(), ['01-16T10:00 kept one']);
});

t.test(
  'a date that is set together with a time zone lets nobody enter late because of another date that is kept',
  async (t) => {
    const { app, live, pass, get, post, set, utr } = await withDates(t);
    await post('/custom-fields/save', { field_name: 'renewal', field_type: 'yearly-date' });
    const renewals = (await get('/automations/duplicate', { utr })).body.message.utr;
    t.equal((await set({ utr: renewals, trigger_field: 'renewal' })).status, 200);
    const save = (custom_field: Record<string, string>) =>
      app.one.call('POST', '/contacts/upsert', {
        json: { contact_type_id: 1, contacts: [{ email: 'ann@example.org', custom_field }] },
      });
    await save({ birthday: '01-16', time_zone: 'America/New_York' });
    await live();
    t.equal((await get('/automations/set-live', { utr: renewals })).status, 200);
    // It is 10:00 UTC on the 16th.
    await pass(25 * HOUR);
    await save({ birthday: '01-16', renewal: '01-16', time_zone: 'Europe/Paris' });
    await app.background();
    await pass(DAY);
    t.strictSame(app.db.prepare('SELECT automation_id FROM enrolments').pluck().all(), [1]);
  },
);

t.test('where another time zone counts for contacts without one, the hour of today is looked at again', async (t) => {
  const { app, add, live, pass, firsts } = await withDates(t);
  await add('ann', '01-16');
  await live();
  await add('missed', '01-15');
  await pass(22 * HOUR);
  t.strictSame(firsts(), []);
  app.restartBackground(undefined, { TIME_ZONE: 'Asia/Tokyo' });
  await app.background();
  t.strictSame(firsts(), ['01-16T07:00 ann one'], 'not by an hour from before it was live');
  app.restartBackground(undefined, { TIME_ZONE: 'UTC' });
  await pass(3 * HOUR);
  t.equal(firsts().length, 1);
});

t.test('who was added after the hour does not enter when the hour is looked at again', async (t) => {
  const { app, add, live, pass, firsts, post } = await withDates(t);
  await post('/custom-fields/save', { field_name: 'town', field_type: 'text' });
  const date = '01-16';
  await add('there', date, 'America/New_York');
  await live();
  // It is 15:00 UTC on the 16th.
  await pass(30 * HOUR);
  t.strictSame(firsts(), ['01-16T14:00 there one']);
  await add('added', date);
  await add('moved', date);
  await pass(HOUR);
  await add('moved', date, 'Europe/Berlin');
  await app.background();
  app.restartBackground(undefined, { TIME_ZONE: 'Europe/Berlin' });
  await app.background();
  await pass(HOUR);
  t.equal(firsts().length, 1);
});

t.test('many contacts of one account with another time zone do not hold up another account', async (t) => {
  const { app, add, live, pass } = await withDates(t);
  await add('ann', '01-16');
  await live();
  await pass(22 * HOUR);
  app.clock.advance(2 * HOUR);
  const rezone = app.db.prepare(
    'INSERT INTO rezoned_contacts (user_id, field_id, contact_id) SELECT ?, 1, value FROM json_each(?)',
  );
  const ids = Array.from({ length: 2000 }, (_, at) => 1000 + at);
  rezone.run(1, JSON.stringify(ids));
  rezone.run(2, '[5000]');
  const dates = new DateEntries({ db: app.drizzle, clock: app.clock, config: readConfig({}) });
  let looks = 0;
  const step = () => {
    looks = 0;
    return dates.step(() => ++looks < 6);
  };
  const left = () =>
    app.db.prepare('SELECT user_id, count(*) FROM rezoned_contacts GROUP BY user_id ORDER BY user_id').raw().all();
  step();
  t.equal(app.db.prepare('SELECT count(*) FROM membership_changes').pluck().get(), 1, 'due dates come first');
  t.strictSame(left(), [
    [1, 1750],
    [2, 1],
  ]);
  step();
  t.strictSame(left(), [[1, 1750]], 'then each account in turn');
});
