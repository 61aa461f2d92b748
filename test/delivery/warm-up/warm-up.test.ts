/** The warm-up of a sender domain on a real ledger: how many leave on which day, what counts, and what a kill or a refusal changes. */
import type { Database } from 'better-sqlite3';
import t, { type Test } from 'tap';
import type { Outcome } from '../../../src/delivery/transport/courier.ts';
import {
  countMails,
  endWarmUp,
  expectedDay,
  findWarmUpWait,
  lastDay,
  listWarmUps,
  saveWarmUp,
  volumeAfter,
} from '../../../src/delivery/warm-up/plans.ts';
import { ACCEPTED, addMailing, launch, Relay } from '../../support/launched-mailing.ts';
import { gate } from '../../support/smtp/pools.ts';
import { until } from '../../support/until.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const PLAN = { starts_on: '2026-01-15', volume: 20, growth: 100, until_volume: 100 };
const DOMAIN = 'example.com';

const DEFERRED: Outcome = {
  kind: 'deferred',
  stage: 'rcpt',
  code: 451,
  enhanced: '4.2.0',
  reply: '451 4.2.0 greylisted',
};

const NAMED: Outcome = {
  kind: 'deferred',
  stage: 'rcpt',
  code: 450,
  enhanced: '4.7.1',
  reply: '450 4.7.1 Client host rejected: cannot find your reverse hostname',
};

/** A mailing to so many people from a sender of the domain, which is being warmed up. */
async function warmingUp(t: Test, people: number, relay: Relay) {
  const launched = await launch(t, people, relay);
  const { $client: client } = launched.db;
  saveWarmUp(client, 1, DOMAIN, PLAN);
  return { ...launched, client, wait: () => findWarmUpWait(client, 1, launched.clock.now()) };
}

function addSender(client: Database, id: number, domain: string): void {
  client
    .prepare(`
      INSERT INTO senders (id, utr, user_id, nickname, from_name, from_email, reply_to_email, country_id, company_address, is_verified, send_at, created_at, updated_at)
      VALUES (?, ?, 1, '', 'Shop', ?, ?, 1, '1 Harbour St', 1, '', '', '')`)
    .run(id, `sender-${id}`, `news@${domain}`, `news@${domain}`);
}

t.test('a plan grows by its percentage until it is over, and says when', async (t) => {
  t.strictSame(
    [0, 1, 2, 3].map((step) => volumeAfter(PLAN, step)),
    [20, 40, 80, null],
  );
  t.equal(lastDay(PLAN, { step: 0, mails: 0 }, '2026-01-15'), '2026-01-18');
  t.equal(lastDay(PLAN, { step: 0, mails: 0 }, '2026-01-10'), '2026-01-18', 'it has not begun');
  t.equal(expectedDay(PLAN, { step: 0, mails: 15 }, 5, '2026-01-15'), '2026-01-15');
  t.equal(expectedDay(PLAN, { step: 0, mails: 15 }, 6, '2026-01-15'), '2026-01-16');
  t.equal(expectedDay(PLAN, { step: 0, mails: 20 }, 1_000_000, '2026-01-15'), '2026-01-18', 'the day it is over');
});

t.test(
  'each day has its volume, spread over it, the rest waits with a reason, and in the end all have left',
  async (t) => {
    const relay = new Relay(() => ACCEPTED);
    const { client, clock, background, mailing, wait } = await warmingUp(t, 400, relay);
    const days: Record<string, number> = {};
    const first: number[] = [];
    await background.untilIdle();
    t.equal(relay.started.length, 1);
    t.strictSame(wait(), { domain: DOMAIN, today: 20, sent_today: 1, waiting: 399, expected_on: '2026-01-18' });
    while (mailing().finished_at === null && clock.now() < new Date('2026-01-20')) {
      clock.advance(10 * MINUTE);
      const before = relay.started.length;
      await background.untilIdle();
      const day = clock.now().toISOString().slice(0, 10);
      days[day] = (days[day] ?? 0) + relay.started.length - before;
      if (day === '2026-01-15') first.push(relay.started.length - before);
    }
    t.match(mailing(), { state: 'done', delivered: 400 });
    t.strictSame(days, { '2026-01-15': 19, '2026-01-16': 40, '2026-01-17': 80, '2026-01-18': 260 });
    t.ok(
      first.every((mails) => mails <= 1),
      'never two within ten minutes on the first day',
    );
    t.ok(
      first.slice(-12).some((mails) => mails > 0),
      'some of them in the last hours',
    );
    t.match(listWarmUps(client, 1, clock.now()), [{ state: 'over', today: 0, ends_on: '2026-01-18' }]);
    t.equal(wait(), null);
  },
);

t.test('a day on which little left is not a step: the next one has the same volume', async (t) => {
  const { client, clock, background } = await warmingUp(t, 5, new Relay(() => ACCEPTED));
  for (let hour = 0; hour < 24; hour++) {
    await background.untilIdle();
    clock.advance(HOUR);
  }
  t.match(listWarmUps(client, 1, clock.now()), [{ state: 'on', today: 20, sent_today: 0 }]);
});

t.test('a refusal of the first mail holds nothing while others wait for the warm-up', async (t) => {
  const relay: Relay = new Relay((to) => (to === relay.started[0] ? NAMED : ACCEPTED));
  const { clock, background, mailing } = await warmingUp(t, 20, relay);
  for (let step = 0; step < 6; step++) {
    await background.untilIdle();
    clock.advance(HOUR);
  }
  t.match(mailing(), { state: 'sending', held_reason: null });
  t.ok(relay.started.length >= 5, `${relay.started.length} were tried`);
});

t.test('a domain that was warmed up once is warmed up anew, from the first day on', async (t) => {
  const { client, clock } = await warmingUp(t, 5, new Relay(() => ACCEPTED));
  const { id } = client.prepare<[], { id: number }>('SELECT id FROM warm_ups').get() ?? { id: 0 };
  for (const day of ['2026-01-15', '2026-01-16', '2026-01-17']) countMails(client, id, day, 100, 100);
  endWarmUp(client, id, '2026-01-18');
  saveWarmUp(client, 1, DOMAIN, { ...PLAN, starts_on: '2026-03-01' });
  clock.advance(45 * 24 * HOUR);
  t.match(listWarmUps(client, 1, clock.now()), [{ state: 'on', today: 20, sent_today: 0 }]);
});

t.test('what was put off does not use up the day', async (t) => {
  const tries = new Map<string, number>();
  const relay = new Relay((to) => {
    tries.set(to, (tries.get(to) ?? 0) + 1);
    return tries.get(to) === 1 ? DEFERRED : ACCEPTED;
  });
  const { clock, background, mailing, wait } = await warmingUp(t, 12, relay);
  for (let step = 0; step < 14 * 60; step++) {
    await background.untilIdle();
    clock.advance(MINUTE);
  }
  t.match(mailing(), { delivered: 12 }, 'all of them on the first day');
  t.equal(wait(), null);
});

t.test('a kill between hand-off and result lets no more leave than the day has', async (t) => {
  const { passed, open } = gate();
  const never = new Relay(() => passed.then(() => ACCEPTED));
  const { clock, background, start } = await warmingUp(t, 100, never);
  for (let step = 0; step < 10; step++) {
    const before = never.started.length;
    let isOver = false;
    void background.step().then(() => {
      isOver = true;
    });
    // A step ends after the mails that it began, which never end here.
    await until(() => isOver || never.started.length > before);
    clock.advance(HOUR);
  }
  t.ok(never.started.length >= 5, `${never.started.length} were under way`);
  const relay = new Relay(() => ACCEPTED);
  // A process that starts on the file that the killed one left.
  const next = start(relay);
  while (clock.now() < new Date('2026-01-15T23:59:00Z')) {
    await next.untilIdle();
    clock.advance(MINUTE);
  }
  t.equal(relay.started.length + never.started.length, 20, 'those that may have left twice count twice');
  await next.close(100);
  open();
});

t.test(
  'the plan counts all mailings of the account, and limits no other domain, account, test or confirmation',
  async (t) => {
    const relay = new Relay(() => ACCEPTED);
    const { db, client, clock, background } = await warmingUp(t, 40, relay);
    addSender(client, 8, `UPPER.${DOMAIN}`);
    addSender(client, 9, DOMAIN.toUpperCase());
    const another = (owner_kind: 'single' | 'test', sender_id: number) => {
      const id = addMailing(db, 30, { owner_kind, owner_id: 100 + sender_id, sender_id });
      return () => Number(client.prepare('SELECT delivered FROM mailings WHERE id = ?').pluck().get(id));
    };
    const otherDomain = another('single', 8);
    const sameDomain = another('single', 9);
    const tests = another('test', 1);
    for (let hour = 0; hour < 14; hour++) {
      await background.untilIdle();
      clock.advance(HOUR);
    }
    t.equal(otherDomain(), 30);
    t.equal(tests(), 30, 'somebody waits for a test');
    const [{ sent_today, today } = { sent_today: 0, today: 0 }] = listWarmUps(client, 1, clock.now());
    t.equal(today, 20);
    t.ok(sent_today >= 30, 'but it counts');
    const first = Number(client.prepare('SELECT delivered FROM mailings WHERE id = 1').pluck().get());
    t.ok(sameDomain() + first <= 1, 'the tests have used up the day');
  },
);

t.test('before its first day a plan limits nothing', async (t) => {
  const { client, background, mailing } = await warmingUp(t, 100, new Relay(() => ACCEPTED));
  saveWarmUp(client, 1, DOMAIN, { ...PLAN, starts_on: '2026-01-16' });
  await background.untilIdle();
  t.match(mailing(), { state: 'done', delivered: 100 });
  t.equal(listWarmUps(client, 1, new Date('2026-01-15T10:00:00Z'))[0]?.state, 'waiting');
});
