/** The worker on a real ledger: what each answer of a relay leads to, what a stop forbids, what a full disk does. */
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { parseAddress } from '../../../src/audience/contacts/addresses.ts';
import { addUnsubscribers } from '../../../src/audience/unsubscribes.ts';
import { enqueueRecipients } from '../../../src/delivery/queue/enqueue-recipients.ts';
import { commandMailing, waitForAcknowledgement } from '../../../src/delivery/queue/mailing-state.ts';
import { Rates } from '../../../src/delivery/sending/rates.ts';
import { FakeClock } from '../../support/app.ts';
import { ACCEPTED, launch, launchToSink, Relay } from '../../support/launched-mailing.ts';
import { DROP, type Script } from '../../support/smtp/scripted-relay.ts';

const HOUR = 3_600_000;

for (const stage of ['connect', 'tls', 'auth', 'mail', 'rcpt', 'data', 'body'] as const) {
  t.test(`a temporary refusal at ${stage} is tried again later, and again, and given up after 4 days`, async (t) => {
    const relay = new Relay(() => ({
      kind: 'deferred',
      stage,
      code: 421,
      enhanced: '4.7.0',
      reply: '421 4.7.0 later',
    }));
    const { background, clock, rows, mailing, suppressions } = await launch(t, 3, relay);
    const began = clock.now().getTime();
    await background.untilIdle();
    for (const { state, attempt, due_at } of rows()) {
      t.match({ state, attempt }, { state: 0, attempt: 1 });
      t.ok(due_at - began >= 12_000 && due_at - began <= 18_000, 'in 15 s, a fifth more or less');
    }
    while (clock.now().getTime() - began < 94 * HOUR) {
      clock.advance(HOUR * 1.3);
      await background.untilIdle();
      t.equal(mailing().finished_at, null, 'the storm does not end the mailing');
    }
    clock.advance(4 * HOUR);
    await background.untilIdle();
    t.ok(rows().every(({ state, reply }) => state === 4 && reply?.startsWith('Given up after 4 days')));
    t.match(mailing(), { bounces: 0, failed: 3, delivered: 0 });
    t.equal(suppressions(), 0);
  });
}

for (const point of ['mail', 'rcpt', 'data', 'dot'] as const) {
  t.test(`451 at ${point} over the wire goes back into the queue`, async (t) => {
    const { until, rows, mailing } = await launchToSink(t, 3, { [point]: '451 4.3.0 not now\r\n' });
    await until(() => rows().length === 3 && rows().every(({ state, attempt }) => state === 0 && attempt === 1));
    t.match(mailing(), { bounces: 0, failed: 0, finished_at: null });
  });
}

t.test('a relay that refuses the sender holds the mailing; nobody bounces, a restart tries again', async (t) => {
  const { sink, courier, until, start, rows, mailing, suppressions } = await launchToSink(t, 5, {
    mail: '550 5.7.1 sender refused\r\n',
  });
  await until(() => mailing().state === 'held' && rows().every(({ state }) => state === 0));
  t.match(mailing(), { held_reason: /sender refused/, bounces: 0, failed: 0, triggered: 0 });
  t.equal(suppressions(), 0);
  sink.script = {};
  const again = start(courier());
  for (let tries = 0; tries < 200 && mailing().finished_at === null; tries++) await again.step();
  t.match(mailing(), { state: 'done', delivered: 5, triggered: 5, bounces: 0 });
  await again.close(100);
});

t.test('a relay that refuses our password holds the mailing too', async (t) => {
  const script: Script = { offers: ['AUTH PLAIN'], auth: '535 5.7.8 bad credentials\r\n' };
  const { until, rows, mailing, sink } = await launchToSink(t, 5, script, 'me:secret@');
  await until(() => mailing().state === 'held' && rows().every(({ state }) => state === 0));
  t.match(mailing(), { held_reason: /bad credentials/, bounces: 0, failed: 0 });
  t.notOk(
    sink.commands.some((line) => line.startsWith('MAIL')),
    'nothing was tried',
  );
});

t.test('an address that does not exist bounces and is suppressed; a policy refusal only fails', async (t) => {
  const { until, rows, mailing, suppressions } = await launchToSink(t, 3, {
    rcpt: ({ line }) => {
      if (line.includes('reader0000000')) return '550 5.1.1 no such user\r\n';
      return line.includes('reader0000001') ? '550 5.7.1 blocked\r\n' : '250 ok\r\n';
    },
  });
  await until(() => mailing().finished_at !== null);
  t.same(
    rows().map(({ state }) => state),
    [3, 4, 2],
  );
  t.match(mailing(), { bounces: 1, failed: 1, delivered: 1 });
  t.equal(suppressions(), 1);
});

t.test('a connection lost after the dot is tried again under the same Message-ID and counted once', async (t) => {
  let dots = 0;
  const { sink, clock, until, rows, mailing } = await launchToSink(t, 1, {
    dot: () => (++dots === 1 ? DROP : '250 ok\r\n'),
  });
  await until(() => rows()[0]?.attempt === 1 && rows()[0]?.state === 0);
  clock.advance(20_000);
  await until(() => mailing().finished_at !== null);
  t.equal(dots, 2);
  t.match(mailing(), { triggered: 1, delivered: 1 });
  const ids = sink.received.map(({ message }) => /^Message-ID: (.+)$/m.exec(String(message))?.[1]);
  t.ok(ids[0], 'it has one');
  t.equal(new Set(ids).size, 1);
});

for (const given of ['pause', 'cancel'] as const) {
  t.test(`once a ${given} is acknowledged, no hand-off starts`, async (t) => {
    const relay = new Relay(async () => {
      await pause(1);
      return ACCEPTED;
    });
    const { db, background, until, rows, mailing } = await launch(t, 500, relay);
    await until(() => relay.started.length > 40);
    const sending = background.step();
    t.ok(commandMailing(db.$client, 1, given));
    background.acknowledge();
    await waitForAcknowledgement(db.$client, 1);
    const before = relay.started.length;
    await sending;
    await background.untilIdle();
    t.equal(relay.started.length, before);
    t.ok(before < 500, 'it was stopped in the middle');
    t.ok(rows().every(({ state }) => state !== 1));
    if (given === 'pause') {
      t.equal(mailing().finished_at, null);
      commandMailing(db.$client, 1, 'resume');
      await until(() => mailing().finished_at !== null);
      t.match(mailing(), { triggered: 500, delivered: 500 });
      t.equal(new Set(relay.started).size, relay.started.length, 'nobody twice');
    } else {
      t.match(mailing(), { delivered: before, cancelled: 500 - before, triggered: before, state: 'cancelled' });
    }
  });
}

t.test('SEND_RATE limits how many mails leave in a second', async (t) => {
  const relay = new Relay(() => ACCEPTED);
  const { background, clock, mailing } = await launch(t, 100, relay, { SEND_RATE: '10' });
  await background.untilIdle();
  for (let second = 0; relay.started.length < 100 && second < 20; second++) {
    t.ok(relay.started.length <= 10 * (second + 1), `${relay.started.length} after ${second} s`);
    clock.advance(1000);
    await background.untilIdle();
  }
  await background.untilIdle();
  t.match(mailing(), { delivered: 100, triggered: 100 });
});

t.test('SEND_RATE_PER_DOMAIN: the others wait for their turn and are not counted as tried', async (t) => {
  const relay = new Relay(() => ACCEPTED);
  const { background, clock, mailing } = await launch(t, 30, relay, { SEND_RATE_PER_DOMAIN: '5' });
  await background.untilIdle();
  t.ok(relay.started.length <= 1);
  t.equal(mailing().triggered, relay.started.length);
  for (let second = 1; relay.started.length < 30 && second < 20; second++) {
    clock.advance(1000);
    await background.untilIdle();
    t.ok(relay.started.length <= 1 + 5 * second, `${relay.started.length} after ${second} s`);
  }
  await background.untilIdle();
  t.match(mailing(), { delivered: 30, triggered: 30 });
});

t.test(
  'SEND_RATE_PER_DOMAIN: a second of unused capacity is made up for, even if other domains had mail meanwhile',
  async (t) => {
    const clock = new FakeClock();
    const rates = new Rates(clock, { perSecond: 0, perDomain: 5 });
    t.equal(rates.waitFor(1, 'a.example'), 0);
    clock.advance(5000);
    t.equal(rates.waitFor(1, 'b.example'), 0);
    const waits = Array.from({ length: 7 }, () => rates.waitFor(1, 'a.example'));
    t.strictSame(waits, [0, 0, 0, 0, 0, 0, 200]);
  },
);

t.test('on a full disk nothing is handed off without a recorded claim, and sending recovers by itself', async (t) => {
  const relay = new Relay(() => ACCEPTED);
  const { db, background, until, mailing } = await launch(t, 400, relay);
  const client = db.$client;
  await until(() => relay.started.length > 20);
  const claimed = () => Number(client.prepare('SELECT count(*) FROM deliveries WHERE attempt > 0').pluck().get());
  // No page can be written: as SQLite reports it, the disk is full.
  client.exec(
    'CREATE TRIGGER full BEFORE UPDATE ON deliveries BEGIN INSERT INTO filler VALUES (zeroblob(1000000)); END',
  );
  client.exec('CREATE TABLE filler (bytes BLOB)');
  const pages = Number(client.pragma('page_count', { simple: true }));
  client.pragma(`max_page_count = ${pages}`);
  for (let tries = 0; tries < 5; tries++) {
    await t.rejects(background.step(), { code: 'SQLITE_FULL' });
    t.ok(relay.started.length <= claimed(), 'each that left was claimed on disk');
  }
  client.pragma('max_page_count = 1000000000');
  client.exec('DROP TRIGGER full');
  await until(() => mailing().finished_at !== null);
  t.match(mailing(), { delivered: 400, triggered: 400 });
  t.equal(new Set(relay.started).size, relay.started.length, 'nobody got it twice');
});

t.test('a stop ends once everything in flight is on the ledger', async (t) => {
  const relay = new Relay(() => ACCEPTED);
  const { background, until, rows } = await launch(t, 100, relay);
  await until(() => relay.started.length > 20);
  await background.close(1000);
  t.ok(rows().every(({ state }) => state !== 1));
  t.equal(rows().filter(({ state }) => state === 2).length, relay.started.length);
});

t.test('recipients who left after the launch are worked off in large steps and hold nobody back', async (t) => {
  const relay = new Relay(() => ACCEPTED);
  const { db, background, mailing } = await launch(t, 4000, relay);
  await enqueueRecipients(db.$client, 1);
  const emails = db.$client.prepare<[], string>('SELECT email FROM contacts WHERE id <= 3990').pluck().all();
  const addresses = emails.flatMap((email) => parseAddress(email) ?? []);
  addUnsubscribers(db, { accountId: 1, groupId: null, source: 'api', now: '' }, addresses);
  let steps = 1;
  while (await background.step()) steps++;
  t.match(mailing(), { state: 'done', delivered: 10, suppressed: 3990 }, 'no step with work left says there is none');
  t.ok(steps < 40, `${steps} steps`);
  t.equal(relay.started.length, 10);
});
