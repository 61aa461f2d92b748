/** A/B tests of single sends: who gets which variant, when, and what the decision does. */
import t, { type Test } from 'tap';
import { HitBuffer } from '../../src/delivery/feedback/opens-and-clicks.ts';
import type { Reader } from '../../src/delivery/feedback/readers.ts';
import { type PreparedTest, prepareAbTest } from '../support/ab-tests.ts';
import { ACCEPTED, HOUR, LATER, type Shop } from '../support/shop.ts';

/** How many got each subject, and whether anybody got two mails. */
function subjects(shop: Pick<Shop, 'accepted'>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const mail of shop.accepted()) counts[mail.split(' ')[1] ?? ''] = (counts[mail.split(' ')[1] ?? ''] ?? 0) + 1;
  return counts;
}

function nobodyTwice(t: Test, { relay, accepted }: Pick<Shop, 'relay' | 'accepted'>): void {
  const to = accepted().map((mail) => mail.split(' ')[0]);
  t.equal(new Set(to).size, to.length, 'nobody got two mails');
  oneMailEach(t, { relay });
}

/** Checks that all attempts for a recipient send the same mail. */
function oneMailEach(t: Test, { relay }: Pick<Shop, 'relay'>): void {
  const ids = new Map<string, Set<string>>();
  for (const { to: who, raw } of relay.handed) {
    const key = [/^Message-ID: (.*)$/m.exec(raw)?.[1], /^Subject: (.*)$/m.exec(raw)?.[1]].join();
    ids.set(who, (ids.get(who) ?? new Set()).add(key));
  }
  t.ok(
    [...ids.values()].every((seen) => seen.size === 1),
    'every try had the same Message-ID and variant',
  );
}

/** The first `count` people who got a variant click its link, as people or as machines. */
function click(shop: Pick<Shop, 'app'>, variant: number, count: number, reader: Reader = 'person'): void {
  act(shop, variant, count, reader, 0);
}

/** The first `count` people who got a variant click the link or, if it is null, open the mail. */
function act({ app }: Pick<Shop, 'app'>, variant: number, count: number, reader: Reader, link: number | null): void {
  const rows = app.db
    .prepare<[number, number], { delivery: number; mailing: number; address: number }>(
      'SELECT id AS delivery, mailing_id AS mailing, address_id AS address FROM deliveries WHERE variant = ? ORDER BY id LIMIT ?',
    )
    .all(variant, count);
  const at = app.clock.now().getTime() + 60_000;
  const hits = rows.map((ids) => ({ ids: { ...ids, group: 1, user: 1, email: '' }, at, link, reader }) as const);
  app.db.transaction(() => new HitBuffer(app.db).record(hits)).immediate();
}

const mailOf = (shop: PreparedTest, variant: number) => shop.report().then(({ ab_test }) => ab_test.variants[variant]);

t.test('before it is sent the answer says how large the groups are and what they can show', async (t) => {
  const shop = await prepareAbTest(t, { share: 100 });
  const { ab_test, plan } = await shop.get('/single-send/variants', { utr: shop.utr });
  t.strictSame(ab_test, {
    variants: [{ subject: 'two', preheader: '', sender_name: '', template_id: 0 }],
    share: 100,
    winner_by: 'clicks',
    hours: 4,
  });
  t.match(plan, { recipients: 200, test_group: 200, per_variant: 100, rest: 0 });
  t.match(plan.opens, { base_rate: 0.2, base_mails: 0 });
  t.ok(plan.opens.smallest_difference > 0.17 && plan.opens.smallest_difference < 0.2, plan.opens.smallest_difference);
  t.equal((await shop.report()).ab_test, null, 'a report has no test before the launch');
});

t.test(
  'the test group gets the variants at random, the rest waits and gets the one that people clicked more',
  async (t) => {
    const shop = await prepareAbTest(t);
    await shop.start();
    const tested = subjects(shop);
    t.strictSame(Object.keys(tested).sort(), ['one', 'two']);
    // A quarter of 200 each, within six standard deviations, which chance leaves less than once in a hundred million runs.
    t.ok(
      Object.values(tested).every((count) => count > 13 && count < 87),
      JSON.stringify(tested),
    );
    const { one = 0, two = 0 } = tested;
    const waiting = await shop.report();
    t.match(waiting.ab_test, { state: 'waiting', rest: 200 - one - two, winner: null, verdict: null });
    t.match(await mailOf(shop, 1), { subject: 'two', recipients: two, delivered: two });
    const clicked = Math.ceil(two * 0.6);
    click(shop, 1, clicked);
    click(shop, 0, 5);
    click(shop, 0, one, 'machine');
    t.equal(subjects(shop).two, two, 'the rest waits');
    const seen = (await shop.report()).ab_test;
    t.match(seen, { measured_by: 'clicks', worse: [0], variants: [{ behind: { low: Number } }, { behind: null }] });
    const { difference, low, high } = seen.variants[0].behind;
    t.ok(low > 0 && low < difference && difference < high, 'and the report says that A is behind');
    await shop.pass(3 * HOUR);
    t.equal(shop.accepted().length, one + two, 'for all of the time');
    await shop.pass(2 * HOUR);
    t.strictSame(subjects(shop), { one, two: 200 - one });
    nobodyTwice(t, shop);
    const { ab_test, status, funnel } = await shop.report();
    t.match(ab_test, {
      state: 'decided',
      verdict: 'winner',
      winner: 1,
      better_than: [0],
      counted: [
        { people: one, successes: 5 },
        { people: two, successes: clicked },
      ],
    });
    const { low: least, high: most } = ab_test.variants[1].clicks;
    t.ok(least < clicked / two && most > clicked / two);
    t.equal(ab_test.variants[1].recipients, two, 'the rest does not count');
    t.match({ status, funnel }, { status: 3, funnel: { recipients: 200, delivered: 200 } });
  },
);

t.test('clicks of machines decide nothing: without a difference the rest gets A', async (t) => {
  const shop = await prepareAbTest(t);
  await shop.start();
  const { one = 0, two = 0 } = subjects(shop);
  click(shop, 1, two, 'machine');
  click(shop, 0, 3);
  await shop.pass(5 * HOUR);
  t.strictSame(subjects(shop), { one: 200 - two, two });
  t.match((await shop.report()).ab_test, { verdict: 'no_difference', winner: 0, better_than: [] });
  t.equal(one + two < 200, true);
});

t.test(
  'by opens, people of whom only a proxy loaded the pictures neither opened it nor count as not having',
  async (t) => {
    const shop = await prepareAbTest(t, { winner_by: 'opens' });
    await shop.start();
    const { one = 0, two = 0 } = subjects(shop);
    act(shop, 0, 5, 'person', null);
    act(shop, 1, 12, 'proxied', null);
    act(shop, 1, 5, 'person', null);
    const rate = { people: 5, rate: 5 / (two - 7) };
    t.match((await mailOf(shop, 1)).opens, rate, 'the report counts in the same way');
    await shop.pass(5 * HOUR);
    t.match((await shop.report()).ab_test, {
      verdict: 'no_difference',
      winner: 0,
      counted: [
        { people: one, successes: 5 },
        { people: two - 7, successes: 5 },
      ],
    });
  },
);

t.test('a clock that was ahead when the test group was tried does not put the decision off', async (t) => {
  const shop = await prepareAbTest(t);
  await shop.start();
  shop.app.db.prepare('UPDATE ab_tests SET tried_at = tried_at + ?').run(1000 * HOUR);
  for (const ms of [60_000, 4 * HOUR]) await shop.pass(ms);
  t.match((await shop.report()).ab_test, { state: 'decided', verdict: 'no_difference' });
});

t.test('without a measure the rest waits until somebody chooses, once', async (t) => {
  const shop = await prepareAbTest(t, { winner_by: 'hand' });
  const decide = (variant: number) =>
    shop.app.one.call('POST', '/single/send/variants/decide', { form: { utr: shop.utr, variant } });
  t.equal((await decide(1)).status, 409, 'not before the launch');
  await shop.start();
  await shop.pass(30 * HOUR);
  const { one = 0, two = 0 } = subjects(shop);
  t.ok(one + two < 200);
  t.equal((await decide(2)).status, 422, 'there is no third');
  t.equal((await decide(1)).status, 200);
  await shop.app.background();
  t.strictSame(subjects(shop), { one, two: 200 - one });
  t.equal((await decide(0)).status, 409, 'it stays decided');
  t.match((await shop.report()).ab_test, { state: 'decided', verdict: 'chosen', winner: 1, counted: [] });
  t.match(await shop.app.two.call('POST', '/single/send/variants/decide', { form: { utr: shop.utr, variant: 0 } }), {
    status: 404,
  });
});

t.test('killed again and again, everybody gets one mail of one variant with one Message-ID', async (t) => {
  const shop = await prepareAbTest(t, {}, { SEND_RATE: '20' });
  shop.relay.answer = (to) => (shop.relay.handed.filter((mail) => mail.to === to).length > 1 ? ACCEPTED : LATER);
  shop.app.clock.advance(11_000);
  const delivered = shop.app.db.prepare('SELECT max(delivered) FROM mailings').pluck();
  let kills = 0;
  for (let step = 0; step < 600 && delivered.get() !== 200; step++) {
    const hasMore = await shop.app.step();
    if (step % 3 === 0 && ++kills > 0) shop.app.restartBackground(shop.courierOf);
    shop.app.clock.advance(hasMore ? 1000 : HOUR / 4);
    if (step === 60) click(shop, 1, 30);
  }
  t.equal(delivered.get(), 200);
  t.ok(kills > 10, `${kills} kills`);
  oneMailEach(t, shop);
});

t.test('a paused test decides and sends nothing more until it is resumed; a cancelled one never', async (t) => {
  const shop = await prepareAbTest(t);
  await shop.start();
  const before = shop.accepted().length;
  await shop.act('/single/send/pause', { utr: shop.utr });
  await shop.pass(6 * HOUR);
  t.equal(shop.accepted().length, before);
  await shop.act('/single/send/resume', { utr: shop.utr });
  await shop.app.background();
  t.equal(shop.accepted().length, 200);

  const other = await prepareAbTest(t);
  await other.start();
  const sent = other.accepted().length;
  await other.act('/single/send/cancel', { utr: other.utr });
  await other.pass(6 * HOUR);
  t.equal(other.accepted().length, sent);
  const report = await other.report();
  t.match(report, { states: { queued: 0, cancelled: 200 - sent }, ab_test: { state: 'cancelled', winner: null } });
});

t.test('a variant has its own content, links, sender name and web copy', async (t) => {
  const shop = await prepareAbTest(t, { winner_by: 'hand' });
  await shop.post('/templates/create', {
    template_name: 'Other',
    template_html: '<p>Other mail <a href="https://shop.example/b">b</a> <a href="((web_copy))">browser</a></p>',
  });
  const { templates } = await shop.get('/templates/list');
  const own = templates.find(({ template_name: name }: { template_name: string }) => name === 'Other');
  await shop.post('/single/send/variants', {
    utr: shop.utr,
    winner_by: 'hand',
    share: 100,
    subjects: ['', 'three'],
    sender_names: ['Ann of the shop', ''],
    template_ids: [own.id, ''],
    preheaders: ['', 'another beginning'],
  });
  await shop.start();
  const mails = await shop.mails();
  const second = mails.filter(({ from }) => from.startsWith('Ann of the shop'));
  const third = mails.filter(({ subject }) => subject === 'three');
  t.ok(second.length > 40 && third.length > 40 && second.length + third.length < 160);
  t.ok(second.every(({ html, subject }) => html.includes('Other mail') && subject === 'one'));
  t.ok(third.every(({ html, from }) => html.includes('another beginning') && !from.startsWith('Ann')));
  const path = (html: string | undefined, kind: string) =>
    new RegExp(`http://mail.example.com(/${kind}/[^"]+)`).exec(html ?? '')?.[1] ?? '';
  const target = async (html: string | undefined) => (await shop.app.page('GET', path(html, 'c'))).headers.location;
  t.equal(await target(second[0]?.html), 'https://shop.example/b');
  t.equal(await target(third[0]?.html), 'https://shop.example/a');
  t.match((await shop.app.page('GET', path(second[0]?.html, 'w'))).text, /Other mail/);
});

t.test('the test stays with its mail: over edits, as a copy, and until it is taken away', async (t) => {
  const shop = await prepareAbTest(t);
  await shop.post('/single/send/save', { utr: shop.utr, subject: 'new' });
  await shop.get('/single/send/duplicate', { utr: shop.utr });
  const { singleSends } = await shop.get('/single-send/list');
  const copy = singleSends.at(-1).utr;
  t.match((await shop.get('/single-send/variants', { utr: copy })).ab_test, { variants: [{ subject: 'two' }] });
  await shop.post('/single/send/variants', { utr: copy });
  t.match(await shop.get('/single-send/variants', { utr: copy }), { ab_test: null, plan: null });
  await shop.start();
  t.strictSame(Object.keys(subjects(shop)).sort(), ['new', 'two']);
  t.match(await shop.app.one.call('POST', '/single/send/variants', { form: { utr: shop.utr } }), { status: 409 });
});

t.test('what cannot be tested is refused with the field: the same mail, no tracking, unknown templates', async (t) => {
  const shop = await prepareAbTest(t);
  const errors = async (given: Record<string, unknown>) =>
    (await shop.app.one.call('POST', '/single/send/variants', { form: { utr: shop.utr, ...given } })).body.errors;
  t.match(await errors({ subjects: ['one'] }), { subjects: ['Two variants are the same e-mail.'] });
  t.match(await errors({ subjects: ['two', 'two'] }), { subjects: ['Two variants are the same e-mail.'] });
  const theirs = await shop.app.two.call('POST', '/templates/create', { form: { template_name: 'Theirs' } });
  for (const id of ['4711', 'x', '0', theirs.body.message.id])
    t.match(await errors({ template_ids: [id] }), { template_ids: [/./] });
  t.match(await errors({ subjects: ['a', 'b', 'c', 'd'] }), { subjects: [/./] });
  t.match(await errors({ subjects: ['a\nb'] }), { subjects: [/./] });
  t.match(await errors({ subjects: ['a'], share: 0, hours: 169, winner_by: 'luck' }), {
    share: [/./],
    hours: [/./],
    winner_by: [/./],
  });
  shop.app.db.exec('UPDATE single_sends SET canary_percent = 5');
  t.match(await errors({ subjects: ['a'] }), { subjects: [/first batch/] });
  shop.app.db.exec('UPDATE single_sends SET canary_percent = 0');
  shop.app.db.exec('UPDATE single_sends SET tracking = 0');
  t.match(await errors({ subjects: ['a'] }), { winner_by: [/not counted/] });
  shop.app.clock.advance(11_000);
  await shop.app.background();
  t.match(await shop.report(), { status: 0, held_code: 'content_invalid', held_reason: /not counted/ });
});
