/** Segments that end a run: the goal and the exit rule. */
import t from 'tap';
import { DAY, HOUR, mailsOf, withWelcomeSeries } from '../support/automations.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';

/** The welcome series with a segment of those with the event purchase, and one of those named ann. */
async function withSegments(t: Parameters<typeof withWelcomeSeries>[0]) {
  const world = await withWelcomeSeries(t);
  const { app, utr, post, get } = world;
  const segment = (segment_name: string, field: string, operator: string, value: string[]) =>
    post('/segment/store', {
      segment_name,
      contact_type_id: 1,
      select_field: [field],
      select_operator: [operator],
      value,
    });
  await segment('Buyers', 'event.purchase', 'has happened', []);
  await segment('Anns', 'first_name', 'is', ['ann']);
  const set = (form: Record<string, unknown>) =>
    app.one.call('POST', '/automations/update', { form: { utr, ...form } });
  const buy = async (name: string) => {
    await app.one.call('POST', '/events', { json: { email: `${name}@example.org`, name: 'purchase' } });
    await app.background();
  };
  const got = () => mailsOf(app).map(({ to, subject }) => `${to.split('@')[0]} ${subject}`);
  const ends = () =>
    app.db.prepare('SELECT state, reason, count(*) FROM enrolments GROUP BY 1, 2 ORDER BY 1, 2').raw().all();
  return { ...world, set, buy, got, ends, get };
}

t.test('who joins the segment of the goal exits at that event, and who is in it does not enter', async (t) => {
  const { app, set, buy, got, ends, live, join, pass } = await withSegments(t);
  t.equal((await set({ goal_segment_id: 1 })).status, 200);
  await live();
  await join('ann');
  await join('bo');
  await pass(HOUR);
  await buy('ann');
  t.strictSame(ends(), [
    ['active', null, 1],
    ['left', ':goal_reached', 1],
  ]);
  await app.one.call('POST', '/events', { json: { email: 'cy@example.org', name: 'purchase', contact_type_id: 1 } });
  await pass(4 * DAY);
  t.strictSame(
    got().filter((mail) => !mail.startsWith('cy')),
    ['ann one', 'bo one', 'bo two', 'bo three'],
  );
});

t.test('a field changed to match the exit rule ends the run, also while the automation is paused', async (t) => {
  const { utr, set, got, ends, get, live, join, pass, post } = await withSegments(t);
  t.equal((await set({ exit_segment_id: 2 })).status, 200);
  await live();
  await join('bo');
  await join('ann');
  await pass(HOUR);
  t.strictSame(got(), ['bo one'], 'ann is in the segment already');
  await get('/automations/pause', { utr });
  await post('/contacts/update', {
    contact_id: 1,
    contact_type_id: 1,
    email: 'bo@example.org',
    first_name: 'ann',
    country: 1,
  });
  await live();
  await pass(4 * DAY);
  t.strictSame(got(), ['bo one']);
  t.strictSame(ends(), [['left', ':exit_rule', 1]]);
});

t.test('a goal set later says first whom it concerns, and ends their run before the next mail', async (t) => {
  const { utr, set, buy, got, ends, get, live, join, pass } = await withSegments(t);
  await live();
  await join('ann');
  await join('bo');
  await pass(HOUR);
  await buy('bo');
  const tried = await set({ goal_segment_id: 1, dry_run: 1 });
  t.equal(tried.body.message.effects.leaving, 1);
  t.equal((await get('/automations/series', { utr })).body.message.series.goal_segment_id, null);
  t.equal((await set({ goal_segment_id: 1 })).status, 200);
  t.match((await get('/automations/preview', { utr, email: 'bo@example.org' })).text, /goal_reached/);
  await pass(4 * DAY);
  t.strictSame(got(), ['ann one', 'bo one', 'ann two', 'ann three']);
  t.match(ends(), [
    ['finished', null, 1],
    ['left', ':goal_reached', 1],
  ]);
});

t.test(
  'a live automation whose exit rule is deleted becomes a draft, and goes on without it; 0 takes the goal away',
  async (t) => {
    const { app, utr, set, got, get, live, join, pass } = await withSegments(t);
    await set({ exit_segment_id: 2, goal_segment_id: 1 });
    await set({ goal_segment_id: 0 });
    t.match((await get('/automations/series', { utr })).body.message.series, {
      goal_segment_id: null,
      exit_segment_id: 2,
    });
    await live();
    t.equal((await app.one.call('DELETE', '/segment/delete', { query: { segment_id: 2 } })).status, 200);
    t.match(app.db.prepare('SELECT status, held_code, held_reason FROM automations').get(), {
      ...{ status: 0, held_code: 'target_missing', held_reason: ':held_segment_deleted' },
    });
    await live();
    await join('ann');
    await pass(4 * DAY);
    t.strictSame(got(), ['ann one', 'ann two', 'ann three']);
  },
);

t.test('killed between the event and the end, the run still ends, once', async (t) => {
  for (const steps of [0, 1, 2]) {
    const { app, set, got, ends, live, join, pass } = await withSegments(t);
    await set({ goal_segment_id: 1 });
    await live();
    await join('ann');
    await pass(HOUR);
    await app.one.call('POST', '/events', { json: { email: 'ann@example.org', name: 'purchase' } });
    for (let step = 0; step < steps; step++) await app.step();
    app.restartBackground();
    await pass(4 * DAY);
    t.strictSame([...new Set(got())], ['ann one'], `killed after ${steps} steps`);
    t.strictSame(ends(), [['left', ':goal_reached', 1]]);
    t.equal(app.db.prepare("SELECT count(*) FROM enrolment_log WHERE code = 'left'").pluck().get(), 1);
  }
});

t.test('goal and exit rule are chosen on the page, and a segment of another account is refused', async (t) => {
  const { app, utr, set } = await withSegments(t);
  t.equal((await set({ goal_segment_id: 99 })).status, 422);
  t.equal((await set({ exit_segment_id: 'x' })).status, 422);
  await set({ goal_segment_id: 1 });
  const owner = addPerson(app, 'owner', { accountId: 1, name: 'owner' });
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, owner), 'accept-language': 'de' };
  const { text } = await app.page('GET', `/automations/${utr}/edit`, { headers });
  t.match(text, 'Ausstiegsregel');
  t.match(text, /<option value="1" selected[^>]*>Buyers/);
});
