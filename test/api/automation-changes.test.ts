/** Changing automations while they are live: what is said is what happens, and each person stays in the series once. */
import t from 'tap';
import { listSchedules } from '../../src/automations/automations.ts';
import { DAY, HOUR, mailsInBrief, withWelcomeSeries } from '../support/automations.ts';
import { ACCEPTED, LATER, startSeries, startShop } from '../support/shop.ts';

type Series = Awaited<ReturnType<typeof withWelcomeSeries>>;

const seriesOf = async ({ get, utr }: Pick<Series, 'get' | 'utr'>) =>
  (await get('/automations/series', { utr })).body.message.series;
const subjects = (series: { mails: { subject: string }[] }) => series.mails.map(({ subject }) => subject).join(' ');
const mailCalled = async (world: Series, subject: string) => {
  const found = (await seriesOf(world)).mails.find((mail: { subject: string }) => mail.subject === subject);
  if (found === undefined) throw new Error(`no mail ${subject}`);
  return found;
};
const NEW = { sender_id: 1, waiting_type: 'days', waiting_period: 1, template_id: 1, template_html: '<p>New</p>' };

/** A live series whose first mail ann and bob had a day ago, so that they wait for the second one for a day more. */
async function withWaiting(t: Parameters<typeof withWelcomeSeries>[0]) {
  const world = await withWelcomeSeries(t);
  await world.live();
  await world.join('ann');
  await world.join('bob');
  await world.pass(DAY);
  t.strictSame(mailsInBrief(world.app), ['01-15T10:00 ann one', '01-15T10:00 bob one']);
  const counts = () => world.app.db.prepare('SELECT state, count(*) AS people FROM enrolments GROUP BY state').all();
  const reorder = async (names: string[], more = {}) => {
    const utrs = [];
    for (const name of names) utrs.push((await mailCalled(world, name)).utr);
    return world.app.one.call('POST', '/automations/schedule/reorder', {
      json: { utr: world.utr, mails: utrs, ...more },
    });
  };
  return { ...world, counts, reorder };
}

t.test(
  'a changed wait holds for who waits, counted from their last mail, and the question answers the same',
  async (t) => {
    const world = await withWaiting(t);
    const { utr, updated_at } = await mailCalled(world, 'two');
    const longer = { utr, waiting_period: 4, waiting_type: 'days' };
    const asked = await world.post('/automations/schedule/update', { ...longer, dry_run: 1 });
    t.equal((await mailCalled(world, 'two')).updated_at, updated_at, 'asking changes nothing');
    const done = await world.post('/automations/schedule/update', { ...longer, unchanged_since: updated_at });
    t.strictSame(asked.effects, done.effects);
    t.match(done.effects, {
      people: [{ from: utr, to: utr, people: 2, moved: 2, due_now: 0, is_queued: 0, first_due_at: /^2026-01-19T10/ }],
      leaving: 0,
    });
    await world.pass(2 * DAY);
    t.equal(mailsInBrief(world.app).length, 2);
    const at = await world.post('/automations/schedule/update', { utr, waiting_period: 1, waiting_type: 'hours' });
    t.match(at.effects.people, [{ people: 2, due_now: 2 }]);
    await world.app.background();
    t.strictSame(mailsInBrief(world.app).slice(2), ['01-18T09:00 ann two', '01-18T09:00 bob two']);
    await world.pass(DAY);
    t.strictSame(world.counts(), [{ state: 'finished', people: 2 }]);
  },
);

t.test('an automation takes a hundred mails and refuses one more in words', async (t) => {
  const { app, utr } = await withWelcomeSeries(t);
  const columns = app.db.pragma('table_info(automation_schedules)') as { name: string }[];
  const copied = columns.map(({ name }) => name).filter((name) => name !== 'id' && name !== 'utr');
  app.db.exec(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 97)
    INSERT INTO automation_schedules (utr, ${copied}) SELECT 'copy ' || i, ${copied} FROM n, automation_schedules WHERE id = 1`);
  const mail = { utr, subject: 'more', preview_img: 'blank.png', ...NEW };
  for (const path of ['/automations/schedule/create', '/automations/schedule/add']) {
    const { status, body } = await app.one.call('POST', path, { form: mail });
    t.match([status, body.errors], [422, { utr: ['An automation has at most 100 e-mails.'] }], path);
  }
});

t.test('the mails of an automation are listed without their code, which can be megabytes each', async (t) => {
  const { app } = await withWelcomeSeries(t);
  const [mail] = listSchedules(app.drizzle, 1);
  t.match(mail, { subject: 'one', json_size: 0, html_size: '<p>Hello ((first_name))</p>'.length });
  t.notOk(mail && ('template_html' in mail || 'template_json' in mail));
});

t.test('after a reorder everybody gets what was ahead of them, in the new order, and nothing twice', async (t) => {
  const world = await withWaiting(t);
  await world.join('new');
  const asked = (await world.reorder(['three', 'two', 'one'], { dry_run: 1 })).body.message;
  t.equal(asked.updated_at, null);
  t.equal(subjects(await seriesOf(world)), 'one two three');
  const done = (await world.reorder(['three', 'two', 'one'])).body.message;
  t.strictSame(asked.effects, done.effects);
  const [two, three] = [await mailCalled(world, 'two'), await mailCalled(world, 'three')];
  t.match(
    done.effects.people,
    [{ from: two.utr, to: three.utr, people: 2, moved: 2, due_now: 2 }],
    'new has not entered yet',
  );
  t.equal(subjects(await seriesOf(world)), 'three two one');
  await world.pass(10 * DAY);
  const got = (name: string) =>
    mailsInBrief(world.app)
      .filter((mail) => mail.includes(` ${name} `))
      .map((mail) => mail.split(' ')[2]);
  t.strictSame(got('ann'), ['one', 'three', 'two']);
  t.strictSame(got('bob'), ['one', 'three', 'two']);
  t.strictSame(got('new'), ['three', 'two', 'one']);
  t.strictSame(world.counts(), [{ state: 'finished', people: 3 }]);
  const { report } = (await world.get('/automations/report', { utr: world.utr })).body.message;
  t.strictSame(
    report.mails.map(({ subject, delivered }: { subject: string; delivered: number }) => [subject, delivered]),
    [
      ['three', 3],
      ['two', 3],
      ['one', 3],
    ],
  );
});

t.test('a mail put before the one people wait for is theirs first; those past its place do not get it', async (t) => {
  const world = await withWaiting(t);
  await world.pass(DAY + 2 * HOUR);
  await world.join('new');
  await world.app.background();
  t.match(mailsInBrief(world.app).slice(2), [/ann two/, /bob two/, /new one/]);
  const two = await mailCalled(world, 'two');
  const form = { utr: world.utr, before: two.utr, subject: 'extra', ...NEW };
  const asked = await world.post('/automations/schedule/add', { ...form, dry_run: 1 });
  t.equal(asked.utr, null);
  t.equal(subjects(await seriesOf(world)), 'one two three');
  const added = await world.post('/automations/schedule/add', form);
  t.equal(subjects(await seriesOf(world)), 'one extra two three');
  const three = await mailCalled(world, 'three');
  t.match(added.effects.people, [
    { from: two.utr, to: added.utr, people: 1, moved: 1 },
    { from: three.utr, to: three.utr, people: 2, moved: 0 },
  ]);
  t.equal(asked.effects.people.length, added.effects.people.length);
  await world.pass(10 * DAY);
  const who = (subject: string) =>
    mailsInBrief(world.app)
      .filter((mail) => mail.endsWith(` ${subject}`))
      .map((mail) => mail.split(' ')[1])
      .sort();
  t.strictSame(who('extra'), ['new']);
  for (const subject of ['one', 'two', 'three']) t.strictSame(who(subject), ['ann', 'bob', 'new']);
  t.strictSame(world.counts(), [{ state: 'finished', people: 3 }]);
});

t.test('who waits for a removed mail waits for the next one; after the last they have finished', async (t) => {
  const world = await withWaiting(t);
  const [two, three] = [await mailCalled(world, 'two'), await mailCalled(world, 'three')];
  const asked = await world.post('/automations/schedule/remove', { utr: two.utr, dry_run: 1 });
  const done = await world.post('/automations/schedule/remove', { utr: two.utr, unchanged_since: two.updated_at });
  t.strictSame(asked.effects, done.effects);
  t.match(done.effects.people, [{ from: two.utr, to: three.utr, people: 2, moved: 2, due_now: 2 }]);
  t.equal((await world.app.one.call('POST', '/automations/schedule/remove', { form: { utr: two.utr } })).status, 404);
  const last = await world.post('/automations/schedule/remove', { utr: three.utr });
  t.match(last.effects.people, [{ from: three.utr, to: null, people: 2, first_due_at: null }]);
  await world.pass(2 * DAY);
  t.equal(mailsInBrief(world.app).length, 2);
  t.strictSame(world.counts(), [{ state: 'finished', people: 2 }]);
});

t.test(
  'while a mail is on its way, a mail put before it is not for these people, and one moved before it still is',
  async (t) => {
    const shop = await startShop(t);
    const { utr } = await startSeries(shop, { one: 0, two: 1, three: 1 });
    await shop.add('ann');
    shop.relay.answer = () => LATER;
    await shop.app.background();
    const { series } = await shop.get('/automations/series', { utr });
    const [one, two, three] = series.mails.map((mail: { utr: string }) => mail.utr);
    const added = await shop.post('/automations/schedule/add', { utr, before: one, subject: 'extra', ...NEW });
    t.match(added.effects.people, [{ from: one, to: two, is_queued: 1, people: 1, due_now: 0 }]);
    await shop.post('/automations/schedule/reorder', { utr, mails: [added.utr, three, one, two] });
    shop.relay.answer = () => ACCEPTED;
    await shop.pass(3 * DAY);
    t.strictSame(shop.accepted(), ['ann one', 'ann three', 'ann two']);
  },
);

t.test('a change is refused that was made to something older, and says who changed it', async (t) => {
  const world = await withWelcomeSeries(t);
  const before = await seriesOf(world);
  const { utr, updated_at } = await mailCalled(world, 'one');
  world.app.clock.advance(1000);
  await world.post('/automations/schedule/update', { utr, subject: 'first', unchanged_since: updated_at });
  await world.post('/automations/update', {
    utr: world.utr,
    automation_name: 'Hello',
    unchanged_since: before.updated_at,
  });
  const post = (path: string, json: object) => world.app.one.call('POST', path, { json });
  for (const [path, json] of [
    ['/automations/schedule/update', { utr, subject: 'other', unchanged_since: updated_at }],
    ['/automations/schedule/remove', { utr, unchanged_since: updated_at }],
    ['/automations/update', { utr: world.utr, automation_name: 'Other', unchanged_since: before.updated_at }],
    ['/automations/schedule/add', { utr: world.utr, subject: 'x', ...NEW, unchanged_since: before.updated_at }],
  ] as const) {
    const answer = await post(path, json);
    t.match([answer.status, answer.body.errors], [409, 'It was changed in the meantime'], path);
  }
  t.match(await seriesOf(world), { automation_name: 'Hello', mails: [{ subject: 'first' }, {}, {}] });
});

t.test('a live automation keeps its group and a target, and refuses a mail that it could not send', async (t) => {
  const world = await withWelcomeSeries(t);
  await world.post('/unsubscribes-groups/save', { group_name: 'Other', description: 'n', is_display: 1 });
  await world.live();
  const post = (path: string, json: object) => world.app.one.call('POST', path, { json });
  const { utr } = await mailCalled(world, 'one');
  for (const [path, json, status] of [
    ['/automations/update', { utr: world.utr, unsubscribe_group_id: 2 }, 422],
    ['/automations/update', { utr: world.utr, automation_for: '' }, 422],
    ['/automations/update', { utr: world.utr, automation_for: 'contacts_9' }, 422],
    ['/automations/schedule/update', { utr, subject: '' }, 422],
    ['/automations/schedule/update', { utr, template_html: '<div>'.repeat(2000) }, 409],
  ] as const)
    t.equal((await post(path, json)).status, status, JSON.stringify(json));
  await world.get('/automations/pause', { utr: world.utr });
  t.equal((await post('/automations/update', { utr: world.utr, unsubscribe_group_id: 2 })).status, 200);
  await world.live();
  await world.join('ann');
  await world.app.background();
  t.strictSame(
    world.app.db
      .prepare("SELECT unsubscribe_group_id FROM mailings WHERE owner_kind = 'schedule' ORDER BY id DESC LIMIT 3")
      .pluck()
      .all(),
    [2, 2, 2],
    'its mails leave by the new group',
  );
});

t.test('each mail has its preview text, a test, and the people who wait for it', async (t) => {
  const world = await withWaiting(t);
  const { utr } = await mailCalled(world, 'two');
  await world.post('/automations/schedule/update', { utr, preheader: 'Peek in' });
  const { mail } = (await world.get('/automations/schedule/mail', { utr, email: 'ann@example.org' })).body.message;
  t.match(mail, { subject: 'two', html: /Peek in[\s\S]*Hello ann/, problem: null });
  await world.post('/automations/schedule/test', { utr, email_address: 'me@example.net' });
  await world.app.background();
  t.match(mailsInBrief(world.app).at(-1), /me two$/);
  const waiting = (query = {}) => world.get('/automations/schedule/waiting', { utr, ...query });
  t.match((await waiting()).body.message, {
    people: [
      { email: 'ann@example.org', contact_id: 1, is_queued: 0, due_at: /^2026-01-17T10/ },
      { email: 'bob@example.org', contact_id: 2 },
    ],
    next_after_id: null,
  });
  const first = (await waiting({ limit: 1 })).body.message;
  t.equal(first.people.length, 1);
  t.match((await waiting({ limit: 1, after_id: first.next_after_id })).body.message, {
    people: [{ email: 'bob@example.org' }],
  });
});

t.test('a draft is previewed as if it were live, for anybody who enters now', async (t) => {
  const world = await withWelcomeSeries(t);
  const preview = async (query = {}) =>
    (await world.get('/automations/preview', { utr: world.utr, ...query })).body.message.preview;
  t.match((await preview()).mails, [{ due_at: null }, { due_at: null }, { due_at: null }]);
  t.match((await preview({ if_live: 1 })).mails, [
    { subject: 'one', due_at: /^2026-01-15T09:00/ },
    { subject: 'two', due_at: /^2026-01-17T09:00/ },
    { subject: 'three', due_at: /^2026-01-17T21:00/ },
  ]);
});
