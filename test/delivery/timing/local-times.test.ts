/** Single sends that each recipient gets at the same time by their own clock. */
import t, { type Test } from 'tap';
import { readCountries } from '../../../src/database/place-data.ts';
import type { TestApp } from '../../support/app.ts';
import { DAY, HOUR, mailsInBrief } from '../../support/automations.ts';
import { createSend, readyToSend, sendReport } from '../../support/single-sends.ts';

const MINUTE = HOUR / 60;
const country = (iso2: string) => readCountries().find((one) => one.iso2 === iso2)?.id;

/** People by name: the code of their country, their state, and the zone that is written down for them. */
type People = Record<string, [iso2: string, state?: string, zone?: string]>;

const AROUND_THE_WORLD: People = {
  kiri: ['KI', 'Line Islands'],
  nepal: ['NP'],
  pago: ['AS'],
  moved: ['NP', '', 'America/New_York'],
  wrong: ['NP', '', 'Mars/Phobos'],
  unclear: ['US', 'Tennessee'],
  texas: ['US', 'tx'],
};

/** An account with these people on a list, in the zone UTC, on 15 January 2026, 9:00. */
async function withPeople(t: Test, people: People, settings: Record<string, string> = {}) {
  const { app, body } = await readyToSend(t, settings);
  const post = async (path: string, form: Record<string, unknown>) => {
    const answer = await app.one.call('POST', path, { form });
    if (answer.status !== 200) throw new Error(answer.text);
  };
  await post('/contacts-type/add', { name: 'World' });
  await post('/custom-fields/save', { field_name: 'Time_Zone', field_type: 'text' });
  for (const [name, [iso2, state = '', zone = '']] of Object.entries(people))
    await post('/contacts/add', {
      contact_type_id: 2,
      first_name: name,
      email: `${name}@example.org`,
      country: country(iso2),
      state,
      'custom_field[Time_Zone]': zone,
    });
  const schedule = { ...body, subject: 'x', recipient_id: ['contacts_2'], schedule_type: 1 };
  const book = (date: string, time: string, more: Record<string, unknown> = {}) =>
    createSend(app, { ...schedule, schedule_date: date, schedule_time: time, local_time: 1, ...more });
  return {
    app,
    schedule,
    book,
    jump: (time: string) => jump(app, time),
    until: (time: string) => passUntil(app, time),
  };
}

/** Goes on at a moment in UTC. */
async function jump(app: TestApp, time: string): Promise<void> {
  // A clock that goes on by more than a week at once holds all mail.
  for (let left = 1; left > 0; ) {
    left = Date.parse(`${time}Z`) - app.clock.now().getTime();
    app.clock.advance(Math.min(left, 6 * DAY));
    await app.background();
  }
}

/** Lets the time pass in quarters of an hour, to a moment in UTC. */
async function passUntil(app: TestApp, time: string): Promise<void> {
  const end = Date.parse(`${time}Z`);
  while (app.clock.now().getTime() < end) {
    app.clock.advance(Math.min(15 * MINUTE, end - app.clock.now().getTime()));
    await app.background();
  }
}

t.test('everybody gets it at the same time by their own clock, or by that of the account', async (t) => {
  const { app, book, jump, until } = await withPeople(t, AROUND_THE_WORLD);
  const utr = await book('2026-01-20', '09:00');
  t.match((await app.one.call('GET', '/single-send/draft', { query: { utr } })).body.message.draft, { local_time: 1 });
  const { audience } = (await app.one.call('GET', '/single-send/audience', { query: { utr } })).body.message;
  t.match(audience, { recipients: 7, with_zone: 6 });
  await jump('2026-01-19T18:45');
  t.match(await sendReport(app, utr), { status: 1, local_wait: null }, 'it can still be changed');
  await until('2026-01-19T19:00');
  t.match(await sendReport(app, utr), {
    status: 2,
    local_wait: { people: 6, next_at: '2026-01-20T03:15:00.000000Z', last_at: '2026-01-20T20:00:00.000000Z' },
  });
  await until('2026-01-20T10:00');
  t.match((await sendReport(app, utr)).local_wait, { people: 3, next_at: '2026-01-20T14:00:00.000000Z' });
  await until('2026-01-20T20:00');
  t.strictSame(mailsInBrief(app), [
    '01-19T19:00 kiri x',
    '01-20T03:15 nepal x',
    '01-20T03:15 wrong x',
    '01-20T09:00 unclear x',
    '01-20T14:00 moved x',
    '01-20T15:00 texas x',
    '01-20T20:00 pago x',
  ]);
  t.match(await sendReport(app, utr), { status: 3, local_wait: null, states: { kept: 7 } });
});

t.test(
  'hours that a change of the clock skips move forward, and of those that occur twice the first counts',
  async (t) => {
    const people: People = { york: ['US', 'New York'], phoenix: ['US', 'Arizona'], berlin: ['DE'] };
    const { app, book, jump, until } = await withPeople(t, people);
    await book('2026-03-08', '02:30');
    await book('2026-03-29', '02:30', { subject: 'y' });
    await book('2026-10-25', '02:30', { subject: 'z' });
    for (const date of ['2026-03-08', '2026-03-29', '2026-10-25']) {
      await jump(`${date}T00:15`);
      await until(`${date}T10:00`);
    }
    t.strictSame(mailsInBrief(app), [
      '03-08T01:30 berlin x',
      '03-08T07:30 york x',
      '03-08T09:30 phoenix x',
      '03-29T01:30 berlin y',
      '03-29T06:30 york y',
      '03-29T09:30 phoenix y',
      '10-25T00:30 berlin z',
      '10-25T06:30 york z',
      '10-25T09:30 phoenix z',
    ]);
  },
);

t.test('whose time is over when it is scheduled gets it once it has rested', async (t) => {
  const { app, book, jump } = await withPeople(t, AROUND_THE_WORLD, { RECALL_SECONDS: '60' });
  const utr = await book('2026-01-15', '12:00');
  await app.background();
  t.match(await sendReport(app, utr), { status: 1 }, 'it can be stopped');
  app.clock.advance(MINUTE);
  await app.background();
  t.strictSame(mailsInBrief(app), ['01-15T09:01 kiri x', '01-15T09:01 nepal x', '01-15T09:01 wrong x']);
  await jump('2026-01-15T23:00');
  t.equal(mailsInBrief(app).length, 7);
});

t.test(
  'a restart, a pause and a hold move nobody to another time, and who leaves meanwhile gets nothing',
  async (t) => {
    const { app, book, jump } = await withPeople(t, AROUND_THE_WORLD);
    const utr = await book('2026-01-20', '09:00');
    const other = await book('2026-01-20', '09:00', { subject: 'y' });
    await jump('2026-01-20T00:00');
    const act = async (action: string, which: string) =>
      (await app.one.call('POST', `/single/send/${action}`, { query: { utr: which } })).status;
    app.restartBackground();
    await app.background();
    t.equal(mailsInBrief(app).length, 2, 'one of each after a restart');
    t.equal(await act('cancel', other), 200);
    t.equal(await act('pause', utr), 200);
    await jump('2026-01-20T04:00');
    t.equal(mailsInBrief(app).length, 2);
    t.match((await sendReport(app, other)).local_wait, null);
    t.equal(await act('resume', utr), 200);
    await app.background();
    t.strictSame(mailsInBrief(app).slice(2), ['01-20T04:00 nepal x', '01-20T04:00 wrong x'], 'those whose time it was');
    const form = { email_address: 'texas@example.org' };
    t.equal((await app.one.call('POST', '/global-unsubscribes/save', { form })).status, 200);
    for (const hour of ['09', '14', '15', '20']) await jump(`2026-01-20T${hour}:00`);
    t.strictSame(mailsInBrief(app).slice(4), ['01-20T09:00 unclear x', '01-20T14:00 moved x', '01-20T20:00 pago x']);
    t.match(await sendReport(app, utr), { status: 3, states: { kept: 6, suppressed: 1 } });
  },
);

t.test(
  'a start that is missed by little or much sends at once what is due, while the time of the account is ahead',
  async (t) => {
    const { app, book, jump } = await withPeople(t, AROUND_THE_WORLD, { SCHEDULE_GRACE_MINUTES: '60' });
    const utr = await book('2026-01-20', '09:00');
    const missed = await book('2026-01-18', '09:00', { subject: 'y' });
    await jump('2026-01-20T08:00');
    t.strictSame(mailsInBrief(app), ['01-20T08:00 kiri x', '01-20T08:00 nepal x', '01-20T08:00 wrong x']);
    t.match(await sendReport(app, utr), { status: 2 });
    t.match(await sendReport(app, missed), { status: 0, held_code: 'missed_time' });
  },
);

t.test('it goes with no first part and no A/B test, and needs a schedule', async (t) => {
  const { app, schedule, book } = await withPeople(t, AROUND_THE_WORLD);
  const errorsOf = async (path: string, form: Record<string, unknown>) =>
    (await app.one.call('POST', path, { form })).body.errors;
  const local = { ...schedule, schedule_date: '2026-01-20', schedule_time: '09:00', local_time: 1 };
  t.match(await errorsOf('/single/send/create', { ...local, canary_percent: 2 }), { local_time: [/first batch/] });
  t.match(await errorsOf('/single/send/create', { ...local, schedule_type: 0 }), { local_time: [/a day and a time/] });
  t.match(await errorsOf('/single/send/create', { ...local, local_time: 2 }), { local_time: [String] });
  const utr = await book('2026-01-20', '09:00');
  t.match(await errorsOf('/single/send/save', { utr, canary_percent: 2 }), { local_time: [/first batch/] });
  const test = { utr, subjects: ['Other'], share: 20, winner_by: 'hand', hours: 4 };
  t.match(await errorsOf('/single/send/variants', test), { subjects: [/cannot have an A\/B test/] });
  const plain = await createSend(app, { ...local, local_time: 0 });
  t.equal(await errorsOf('/single/send/variants', { ...test, utr: plain }), undefined);
  t.match(await errorsOf('/single/send/update', { ...local, utr: plain }), {
    local_time: [/cannot have an A\/B test/],
  });
});

t.test('an update keeps it, and sending at once ends it', async (t) => {
  const { app, schedule, book } = await withPeople(t, AROUND_THE_WORLD);
  const utr = await book('2026-01-20', '09:00');
  const update = async (more: Record<string, unknown>) => {
    t.equal((await app.one.call('POST', '/single/send/update', { form: { ...schedule, utr, ...more } })).status, 200);
    return (await app.one.call('GET', '/single-send/draft', { query: { utr } })).body.message.draft.local_time;
  };
  t.equal(await update({ schedule_date: '2026-01-21', schedule_time: '10:00' }), 1);
  t.equal(await update({ schedule_type: 0 }), 0);
  t.equal(await update({ schedule_date: '2026-01-21', schedule_time: '10:00', local_time: 1 }), 1);
  t.equal(await update({ schedule_date: '2026-01-21', schedule_time: '10:00', local_time: '' }), 0);
});
