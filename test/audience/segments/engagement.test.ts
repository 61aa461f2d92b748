/**
 * Rules about what people did with their mails, beside a reckoning in memory: what people do counts, what proxies do
 * proves nothing, and what machines do never counts.
 */
import t from 'tap';
import { randomOf } from '../../../fixtures/random.ts';
import { followActivity } from '../../../src/audience/segments/follow-activity.ts';
import { readerOf } from '../../../src/delivery/feedback/readers.ts';
import { TRAP_LINK } from '../../../src/delivery/links/trap-link.ts';
import { bounceDelivery } from '../../../src/delivery/queue/ledger/ended-deliveries.ts';
import { DAY, HOUR } from '../../support/automations.ts';
import { planned, sortsOfAll, wholeReads } from '../../support/query-plans.ts';
import { mustAnswer, recipientsOf, startWithFields, storeSegment, uploadCsv } from '../../support/segments.ts';
import {
  APPLE_AGENT,
  act,
  GMAIL_AGENT,
  type Holds,
  isMaybeActive,
  join,
  MACHINE_AGENTS,
  membersBySegment,
  newWorld,
  OFFER,
  PERSON_AGENT,
  pass,
  type Reader,
  rulesAbout,
  SETTLED,
  send,
  since,
  urlsOf,
  work,
} from './engagement-world.ts';
import { inactiveNow, SunsetReckoning } from './sunset-reckoning.ts';

const STORIES = 60;
const SEED = 20_260_116;
t.test(
  `${STORIES} stories of mails, people, proxies, machines and time leave in each segment whom a reckoning in memory has`,
  async (t) => {
    const world = await newWorld(t);
    const { app, readers } = world;
    const random = randomOf(SEED);
    const among = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
    for (let person = 0; person < 6; person++) await join(world);
    await pass(world, 60_000);
    const single = await send(world, 0);
    const rules = rulesAbout(single, world.series);
    const made: [id: number, label: string, holds: Holds][] = [];
    for (const [rule, holds] of rules) made.push([await storeSegment(app, rule), rule.join(' '), holds]);
    const never = {
      select_field: ['activity.mails', 'activity.last'],
      select_operator: ['received at least', 'is not within'],
      value: ['3', '90', '90'],
    };
    const [count, isLater] = [
      (one: Reader, now: number) => since(one, now, 90).length,
      (reader: Reader, now: number) => !isMaybeActive(reader, now, 90),
    ];
    made.push([
      await storeSegment(app, [], never),
      'got 3 and opened none in 90 days',
      (one, now) => count(one, now) >= 3 && isLater(one, now),
    ]);
    const found = new Map<string, Set<string>>();
    const sunset = await SunsetReckoning.begin(world, { months: 1, leastMails: 3 });
    for (let story = 1; story <= STORIES; story++) {
      if (story % 25 === 0) await join(world);
      if (random() < 0.4) await send(world, story);
      await pass(world, among([60_000, HOUR, 5 * HOUR, DAY, 4 * DAY, 12 * DAY]));
      // Rules about time and mails received are looked at each hour.
      for (let before = -1; before < world.seen; ) {
        before = world.seen;
        await pass(world, HOUR + 60_000);
      }
      const now = app.clock.now().getTime();
      for (let event = 0; event < 5; event++) {
        const reader = among([...readers.values()]);
        if (reader.mails.length === 0) continue;
        const mail = among([reader.mails.at(-1), among(reader.mails)].filter((one) => one !== undefined));
        const url = random() < 0.4 ? among(urlsOf(world, mail)) : null;
        const isTooSoon = random() < 0.15;
        // Not so fast one after the other that they are a machine's.
        const at = isTooSoon ? mail.at + 700 : now - event * 5000 - (random() < 0.2 ? 30 * 60_000 : 0);
        const drawn = random();
        // Every third has a mail program whose pictures proxies load.
        const own = Number(reader.name.slice(1)) % 3 === 0 && drawn < 0.7 ? [APPLE_AGENT, GMAIL_AGENT] : [PERSON_AGENT];
        act(world, reader, mail, among(drawn < 0.45 ? MACHINE_AGENTS : own), at, url);
      }
      app.clock.advance(SETTLED);
      await work(world);
      t.strictSame(inactiveNow(app), sunset.inactive(), `story ${story}: who is inactive`);
      const members = membersBySegment(app);
      for (const [id, label, holds] of made) {
        const expected = [...readers.values()]
          .filter((reader) => holds(reader, now))
          .map(({ name }) => name)
          .sort();
        if ((members.get(id) ?? '') !== expected.join(' '))
          t.equal(members.get(id) ?? '', expected.join(' '), `story ${story}: ${label}`);
        found.set(label, (found.get(label) ?? new Set()).add(expected.join(' ')));
      }
    }
    t.ok(sunset.stops > 3 && sunset.lifts > 3, `${sunset.stops} were stopped, and ${sunset.lifts} acted again`);
    t.strictSame(sunset.wrongMails, [], 'nobody who is stopped gets a mail');
    for (const [label, seen] of found)
      if (!/ (got|did not get) /.test(label)) t.ok(seen.size > 1, `somebody comes or goes: ${label}`);
  },
);

t.test('machines that open and click everything put nobody into a segment, and take nobody out', async (t) => {
  const world = await newWorld(t);
  const { app, readers } = world;
  for (let person = 0; person < 3; person++) await join(world);
  await pass(world, 60_000);
  const single = await send(world, 1);
  const made = [];
  for (const [rule] of rulesAbout(single, world.series)) made.push(await storeSegment(app, rule));
  const before = [...membersBySegment(app)];
  await pass(world, HOUR / 2);
  for (const reader of readers.values())
    for (const mail of reader.mails) {
      for (const agent of MACHINE_AGENTS)
        for (const url of [null, ...urlsOf(world, mail)])
          act(world, reader, mail, agent, app.clock.now().getTime(), url);
      act(world, reader, mail, PERSON_AGENT, mail.at + 1000, OFFER);
    }
  app.clock.advance(SETTLED);
  await app.background();
  t.strictSame([...membersBySegment(app)], before);
  t.equal(app.db.prepare('SELECT count(*) FROM events WHERE made_by = 1').pluck().get(), 51);
  t.equal(app.db.prepare('SELECT count(*) FROM activity').pluck().get(), 0);
});

t.test('a click that the trap link shows to be a machine’s puts nobody into a segment', async (t) => {
  const world = await newWorld(t);
  const { app, hits, readers } = world;
  await join(world);
  await pass(world, 60_000);
  await send(world, 1);
  const [reader] = readers.values();
  const mail = reader?.mails[0];
  if (reader === undefined || mail === undefined) throw new Error('nobody got it');
  const active = await storeSegment(app, ['activity.last', 'is not blank']);
  act(world, reader, mail, PERSON_AGENT, app.clock.now().getTime(), OFFER);
  app.clock.advance(9000);
  await app.background();
  const at = app.clock.now().getTime();
  hits.add({ ids: { ...mail, group: 1, user: 1, email: '' }, at, link: TRAP_LINK, reader: readerOf(PERSON_AGENT) });
  while (hits.flush(at));
  app.clock.advance(SETTLED);
  await app.background();
  t.equal(membersBySegment(app).get(active) ?? '', '');
  t.equal(app.db.prepare('SELECT count(*) FROM activity').pluck().get(), 0);
});

t.test('a mail that came back was not got, and a restart goes on where the events were read to', async (t) => {
  const world = await newWorld(t);
  const { app, readers } = world;
  for (let person = 0; person < 2; person++) await join(world);
  await pass(world, 60_000);
  const single = await send(world, 1);
  const [first, second] = [...readers.values()];
  const mail = first?.mails.find(({ utr }) => utr === single);
  if (first === undefined || second === undefined || mail === undefined) throw new Error('nobody got it');
  const got = await storeSegment(app, ['activity.mail', 'got', single]);
  const active = await storeSegment(app, ['activity.last', 'is not blank']);
  t.equal(membersBySegment(app).get(got), 'p0 p1');
  app.db.transaction(() =>
    bounceDelivery(app.db, { id: mail.delivery, mailing_id: mail.mailing, state: 2 }, 'gone', 1),
  )();
  await pass(world, HOUR + 60_000);
  t.equal(membersBySegment(app).get(got), 'p1');
  const other = second.mails[0];
  if (other === undefined) throw new Error('nobody got the first mail');
  act(world, second, other, PERSON_AGENT, app.clock.now().getTime(), null);
  app.restartBackground();
  await app.background();
  t.equal(membersBySegment(app).get(active) ?? '', '', 'it is not settled yet who that was');
  app.clock.advance(SETTLED);
  await app.background();
  t.equal(membersBySegment(app).get(active), 'p1');
  t.equal(await followActivity(app.drizzle, app.clock), false);
});

t.test('an open by a proxy proves neither that somebody opened nor that they did not', async (t) => {
  const world = await newWorld(t);
  const { app, readers } = world;
  for (let person = 0; person < 2; person++) await join(world);
  await pass(world, 60_000);
  const single = await send(world, 1);
  await pass(world, 60_000);
  const rules: [string[], before: string, after: string][] = [
    [['activity.mail', 'opened', single], '', ''],
    [['activity.mail', 'got and did not open', single], 'p0 p1', 'p1'],
    [['activity.mail', 'got and did not click', single], 'p0 p1', 'p0 p1'],
    [['activity.mails', 'opened any of the last', '1'], '', ''],
    [['activity.mails', 'opened none of the last', '1'], 'p0 p1', 'p1'],
    [['activity.last', 'is blank'], 'p0 p1', 'p1'],
    [['activity.last', 'is not within', '30'], 'p0 p1', 'p1'],
    [['activity.last', 'is within', '30'], '', ''],
  ];
  const ids: number[] = [];
  for (const [rule] of rules) ids.push(await storeSegment(app, rule));
  const members = () => ids.map((id) => membersBySegment(app).get(id) ?? '');
  t.strictSame(
    members(),
    rules.map(([, before]) => before),
  );
  const [first] = readers.values();
  for (const mail of first?.mails ?? [])
    if (first !== undefined) act(world, first, mail, APPLE_AGENT, app.clock.now().getTime(), null);
  app.clock.advance(SETTLED);
  await app.background();
  for (const [at, [rule, , after]] of rules.entries()) t.equal(members()[at], after, rule.join(' '));
});

t.test('rules name only mails and automations of the account, and operands within their limits', async (t) => {
  const world = await newWorld(t);
  const { app, series } = world;
  await join(world);
  const single = await send(world, 1);
  await mustAnswer({ ...app, one: app.two }, 'POST', '/contacts-type/add', { form: { name: 'Theirs' } });
  const theirs = Number(app.db.prepare("SELECT id FROM contact_types WHERE name = 'Theirs'").pluck().get());
  const store = (caller: typeof app.one, contact_type_id: number, [field = '', operator = '', ...value]: string[]) =>
    caller.call('POST', '/segment/store', {
      form: {
        segment_name: 'S',
        contact_type_id,
        select_field: [field],
        select_operator: [operator],
        ...(value.length > 0 && { value }),
      },
    });
  for (const rule of [
    ['activity.mail', 'opened', single],
    ['activity.mail', 'opened', series.mail],
    ['activity.automation', 'is in', series.utr],
  ]) {
    t.equal((await store(app.one, 1, rule)).status, 200, rule.join(' '));
    const refused = await store(app.two, theirs, rule);
    t.strictSame(
      [refused.status, Object.keys(refused.body.errors)],
      [422, ['value']],
      `of another account: ${rule.join(' ')}`,
    );
  }
  const bad: [string[], string][] = [
    [['activity.mail', 'opened'], 'value'],
    [['activity.mail', 'opened', series.utr], 'value'],
    [['activity.automation', 'is in', single], 'value'],
    [['activity.mail', 'is', single], 'select_operator'],
    [['activity.mails', 'received at least', '3'], 'value'],
    [['activity.mails', 'received at least', '0', '90'], 'value'],
    [['activity.mails', 'received at least', '51', '90'], 'value'],
    [['activity.mails', 'received at least', '3', '366'], 'value'],
    [['activity.mails', 'opened any of the last', '-1'], 'value'],
    [['activity.mails', 'opened any of the last', "1') OR 1"], 'value'],
    [['activity.link', 'clicked', `https://${'x'.repeat(2048)}`], 'value'],
    [['activity.nothing', 'is', '1'], 'select_field'],
  ];
  const many = {
    select_field: Array(6).fill('activity.mails'),
    select_operator: Array(6).fill('opened any of the last'),
    value: Array(6).fill('1'),
  };
  const refused = await app.one.call('POST', '/segment/store', {
    form: { segment_name: 'S', contact_type_id: 1, ...many },
  });
  t.match(refused.body.errors.select_field, ['A segment may not have more than 5 rules about mails received.']);
  for (const [rule, field] of bad) {
    const { status, body } = await store(app.one, 1, rule);
    t.strictSame([status, Object.keys(body.errors)], [422, [field]], rule.join(' '));
  }
});

t.test('no rule about activity reads a large table from end to end', async (t) => {
  const world = await newWorld(t);
  const { app } = world;
  await join(world);
  const single = await send(world, 1);
  const plans = await planned(async () => {
    for (const [rule] of rulesAbout(single, world.series)) await storeSegment(app, rule);
    for (const reader of world.readers.values())
      for (const mail of reader.mails) act(world, reader, mail, PERSON_AGENT, mail.at + HOUR, OFFER);
    await followActivity(app.drizzle, app.clock);
  });
  const about = plans.filter(({ text }) => /\b(by_person|activity|enrolments n)\b/.test(text));
  t.ok(about.length > 20, `${about.length} statements`);
  for (const plan of about) {
    t.strictSame(wholeReads(plan), [], `it reads the whole: ${plan.text}`);
    t.strictSame(sortsOfAll(plan), [], `it sorts all: ${plan.text}`);
  }
});

t.test('events of more contacts than one write takes are read into every segment', async (t) => {
  const [people, segments] = [60, 40];
  const app = await startWithFields(t);
  const emails = Array.from({ length: people }, (_, at) => `reader${at}@example.org`);
  await uploadCsv(app, ['email', ...emails].join('\n'));
  const made: number[] = [];
  for (let at = 0; at < segments; at++) made.push(await storeSegment(app, ['event.purchase', 'has happened']));
  const events = emails.map((email) => ({ email, name: 'purchase' }));
  await mustAnswer(app, 'POST', '/events', { json: { events } });
  await app.background();
  for (const segment of made) t.equal((await recipientsOf(app, segment)).length, people);
});
