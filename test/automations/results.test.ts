/** The hold-out of an automation, and the results of the others against it. */
import t, { type Test } from 'tap';
import { randomOf } from '../../fixtures/random.ts';
import { watchedMeans } from '../../src/delivery/variants/watching.ts';
import { DAY, HOUR, mailsOf, withWelcomeSeries } from '../support/automations.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';

/** The welcome series with a hold-out, and its goal: the event purchase. */
async function withHoldOut(t: Test, hold_out: number) {
  const world = await withWelcomeSeries(t);
  const { app, utr, post, get, live } = world;
  await post('/segment/store', {
    segment_name: 'Buyers',
    contact_type_id: 1,
    select_field: ['event.purchase'],
    select_operator: ['has happened'],
    value: [],
  });
  const set = (form: Record<string, unknown>) =>
    app.one.call('POST', '/automations/update', { form: { utr, ...form } });
  t.equal((await set({ goal_segment_id: 1, hold_out })).status, 200);
  await live();
  const results = async () => (await get('/automations/results', { utr })).body.message.results;
  const buy = (email: string, value: number, key: string) =>
    app.one.call('POST', '/events', { json: { email, name: 'purchase', value, currency: 'EUR', key } });
  const heldOut = (): string[] =>
    app.db
      .prepare(`SELECT a.normalized_email FROM enrolments e JOIN addresses a ON a.id = e.address_id
        WHERE e.reason = ':held_out' ORDER BY 1`)
      .pluck()
      .all() as string[];
  return { ...world, set, results, buy, heldOut };
}

t.test('who is held out gets nothing and has a run with its reason; all others get every mail', async (t) => {
  const { app, utr, get, join, pass, heldOut, results, set } = await withHoldOut(t, 50);
  for (let at = 0; at < 20; at++) await join(`r${at}`);
  await pass(4 * DAY);
  const out = heldOut();
  t.ok(out.length > 3 && out.length < 17, `${out.length} of 20`);
  const got = new Set(mailsOf(app).map(({ to }) => to));
  t.equal(got.size, 20 - out.length);
  t.notOk(out.some((email) => got.has(email)));
  t.equal(mailsOf(app).length, 3 * got.size);
  const { report } = (await get('/automations/report', { utr })).body.message;
  t.match(
    report.people.find(({ reason_code }: { reason_code: string }) => reason_code === 'held_out'),
    { state: 'left', count: out.length },
  );
  const { log } = (await get('/automations/log', { utr, email: out[0] })).body.message;
  t.match(log, [
    { code: 'left', reason_code: 'held_out' },
    { code: 'entered', run: 1 },
  ]);
  const found = await results();
  t.match(found, { hold_out: 50, treated: 20 - out.length, held_out: out.length });
  t.match(found.goal, { difference: 0, days_more: null }, 'nobody reached the goal, so nothing says how long it takes');
  const viewer = cookieOf(app, addPerson(app, 'viewer', { accountId: 1, name: 'Vera' }));
  const page = await app.page('GET', `/automations/${utr}/results`, { headers: { ...FROM_PAGE, cookie: viewer } });
  t.match(page.text, 'no clear difference yet, and nobody can say how long it will take.');
  t.equal((await set({ hold_out: 51 })).status, 422);
  await set({ hold_out: 50 });
  t.equal((await results()).treated, 20 - out.length, 'the same share again changes nothing');
  app.clock.jump(-7 * DAY);
  t.match(await results(), { goal: { days: [] } }, 'the results can be read after the clock was set back');
  app.clock.jump(7 * DAY);
  app.clock.advance(HOUR);
  await set({ hold_out: 10 });
  t.match(await results(), { hold_out: 10, treated: 0, held_out: 0 }, 'another share starts the comparison anew');
  t.equal((await app.two.call('GET', '/automations/results', { query: { utr } })).status, 404);
});

t.test(
  'goals and values count for both groups since the entry, also after the run, and the page says them',
  async (t) => {
    const { app, utr, join, pass, heldOut, results, buy } = await withHoldOut(t, 50);
    const names = Array.from({ length: 60 }, (_, at) => `r${at}`);
    await buy('r0@example.org', 1000, 'before');
    for (const name of names) await join(name);
    await pass(4 * DAY);
    const out = new Set(heldOut());
    const emails = names.map((name) => `${name}@example.org`);
    const given = emails.filter((email) => !out.has(email));
    for (const [at, email] of given.slice(1).entries()) await buy(email, 100 + (at % 3), `a${at}`);
    for (const [at, email] of [...out].slice(0, 2).entries()) await buy(email, 100, `b${at}`);
    await pass(HOUR);
    const found = await results();
    t.match(found, { treated: 60 - out.size, held_out: out.size, goal: { held_out: 2, days_more: 0 } });
    t.ok(found.goal.treated >= given.length - 2 && found.goal.low > 0, JSON.stringify(found.goal));
    const { days, ...goal } = found.goal;
    t.match(days[0], { day: '2026-01-15', treated: 0, held_out: 0 });
    t.strictSame(days.at(-1), {
      day: '2026-01-19',
      treated: goal.treated / found.treated,
      held_out: goal.held_out / found.held_out,
      low: goal.low,
      high: goal.high,
    });
    t.match(found.values, [{ currency: 'EUR', held_out: 200, days_more: 0 }]);
    t.ok(found.values[0].low > 50 && found.values[0].high < 130, JSON.stringify(found.values));
    const cookie = cookieOf(app, addPerson(app, 'viewer', { accountId: 1, name: 'Vera' }));
    const { text } = await app.page('GET', `/automations/${utr}/results`, { headers: { ...FROM_PAGE, cookie } });
    t.match(text, /Goal reached: \d+ contacts? more, probably \d+ to \d+, for all contacts/);
    t.match(text, /data-island="chart"/);
    t.match(text, /<th[^>]*>Range for contacts in the automation \(95% certain\)/);
    t.match(
      text,
      /Value of the contact’s events, such as purchases \(EUR\): €[\d,.]+ more, probably €[\d,.]+ to €[\d,.]+, for all contacts/,
    );
  },
);

t.test('a long comparison has at most 60 days over time, the last of which is today', async (t) => {
  const { app, join, pass, results } = await withHoldOut(t, 50);
  for (let at = 0; at < 20; at++) await join(`r${at}`);
  await pass(HOUR);
  app.db.prepare('UPDATE automations SET hold_out_since = hold_out_since - ?').run(200 * DAY);
  // The first contact of each group.
  app.db
    .prepare(
      "UPDATE enrolments SET entered_at = entered_at - ? WHERE id IN (SELECT min(id) FROM enrolments GROUP BY ifnull(reason, '') = ':held_out')",
    )
    .run(200 * DAY);
  const { days } = (await results()).goal;
  t.ok(days.length > 30 && days.length <= 60, String(days.length));
  t.equal(days.at(-1).day, '2026-01-15');
});

t.test('without a hold-out there are no results, and with few contacts none is claimed', async (t) => {
  const { app, utr, get, join, pass, results } = await withHoldOut(t, 0);
  await join('ann');
  await pass(HOUR);
  t.match(await results(), { hold_out: 0, since: null, treated: 0, goal: { difference: null, days: [] }, values: [] });
  const cookie = cookieOf(app, addPerson(app, 'viewer', { accountId: 1, name: 'Vera' }));
  const { text } = await app.page('GET', `/automations/${utr}/results`, { headers: { ...FROM_PAGE, cookie } });
  t.match(text, /A control group shows what contacts do/);
  t.equal((await get('/automations/series', { utr })).body.message.series.hold_out, 0);
});

t.test(
  'the true difference in value is in the interval at all of 24 looks in at least 94 % of simulations',
  async (t) => {
    const RUNS = 300;
    for (const [people, share, rate, lift] of [
      [2000, 0.1, 0.05, 1],
      [2000, 0.1, 0.05, 1.5],
      [2000, 0.5, 0.05, 1],
    ] as const) {
      const random = randomOf(41);
      // The logarithm of an order is normal: its mean is 60 e^½.
      const order = () => 60 * Math.exp(Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()));
      const difference = 60 * Math.exp(0.5) * rate * (lift - 1);
      let covered = 0;
      for (let run = 0; run < RUNS; run++) {
        const [treated, held] = [
          { people: 0, sum: 0, squares: 0 },
          { people: 0, sum: 0, squares: 0 },
        ];
        let givers = 0;
        let isCovered = true;
        for (let person = 1; person <= people; person++) {
          const isHeld = random() < share;
          const group = isHeld ? held : treated;
          const value = random() < rate * (isHeld ? 1 : lift) ? order() : 0;
          group.people++;
          group.sum += value;
          group.squares += value ** 2;
          if (value > 0) givers++;
          const found = person % Math.floor(people / 24) === 0 && givers >= 20 ? watchedMeans(treated, held) : null;
          isCovered &&= found === null || (found.low <= difference && difference <= found.high);
        }
        if (isCovered) covered++;
      }
      t.ok(covered / RUNS >= 0.94, `${people} people, ${share} held out, ${lift}: ${covered / RUNS}`);
    }
  },
);
