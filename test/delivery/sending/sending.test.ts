/** Several mailings at once, stops in the middle of enqueueing, clocks that are set, storms of 421, a file system that is full. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import t from 'tap';
import { suppressAddress } from '../../../src/audience/suppressions.ts';
import { enqueueRecipients } from '../../../src/delivery/queue/enqueue-recipients.ts';
import { holdSending, releaseSending } from '../../../src/delivery/queue/holds.ts';
import { commandMailing } from '../../../src/delivery/queue/mailing-state.ts';
import { SmtpPool } from '../../../src/delivery/transport/smtp/pool.ts';
import { parseRelays } from '../../../src/delivery/transport/smtp/relay-urls.ts';
import { HOUR } from '../../support/automations.ts';
import { ACCEPTED, addMailing, launch, Relay } from '../../support/launched-mailing.ts';
import { type Script, startSink } from '../../support/smtp/scripted-relay.ts';

const mailingOf = (client: Database, id: number) =>
  client.prepare<[number], Record<string, unknown>>('SELECT * FROM mailings WHERE id = ?').get(id) ?? {};

/** The counters of a mailing and what its rows say. */
function counted(client: Database, id: number) {
  const { delivered, suppressed, cancelled } = mailingOf(client, id);
  const rows = client
    .prepare<[number], Record<string, number>>(`
      SELECT ifnull(sum(state = 2), 0) AS delivered, ifnull(sum(state = 5), 0) AS suppressed,
        ifnull(sum(state = 6), 0) AS cancelled FROM deliveries WHERE mailing_id = ?`)
    .get(id);
  return { counters: { delivered, suppressed, cancelled }, rows };
}

t.test('SEND_RATE_PER_DOMAIN: the recipients of a cancelled mailing delay nobody', async (t) => {
  const relay = new Relay(() => ACCEPTED);
  const { db, background, clock } = await launch(t, 600, relay, { SEND_RATE_PER_DOMAIN: '5' });
  await background.untilIdle();
  commandMailing(db.$client, 1, 'cancel');
  await background.untilIdle();
  const next = addMailing(db, 3);
  for (let second = 0; second < 3; second++) {
    await background.untilIdle();
    clock.advance(1000);
  }
  await background.untilIdle();
  t.match(mailingOf(db.$client, next), { state: 'done', delivered: 3 });
});

t.test('SEND_RATE: a recipient who has to wait for their domain takes nobody’s place', async (t) => {
  const relay = new Relay(() => ACCEPTED);
  const people = Array.from({ length: 40 }, (_, at) => (at < 20 ? `r${at}@example.org` : `a@d${at}.example`));
  const { background } = await launch(t, people, relay, { SEND_RATE: '10', SEND_RATE_PER_DOMAIN: '1' });
  await background.untilIdle();
  t.equal(relay.started.length, 10, 'one of the twenty, and others');
});

t.test('mailings that have nobody due leave the room to the one that has', async (t) => {
  const relay = new Relay(() => ACCEPTED);
  const { db, background } = await launch(t, 100, relay);
  for (let id = 1; id <= 50; id++) addMailing(db, 0, { owner_kind: 'schedule', owner_id: id });
  const claimed = db.$client.prepare<[], number>('SELECT count(*) FROM deliveries WHERE attempt = 1').pluck();
  // Enqueueing has a part of each step, which may not be enough for fifty mailings on a busy machine.
  while (claimed.get() === 0) await background.step();
  t.equal(claimed.get(), 20, 'all the room there is');
  t.equal(
    db.$client
      .prepare("SELECT count(*) FROM mailings WHERE owner_kind = 'schedule' AND finished_at IS NULL")
      .pluck()
      .get(),
    50,
  );
});

t.test('a schedule’s mailing is done when it is cancelled or replaced and everybody final, not before', async (t) => {
  const relay = new Relay(() => ACCEPTED);
  const { db, background } = await launch(t, 10, relay);
  const old = addMailing(db, 5, { owner_kind: 'schedule', owner_id: 1 });
  const current = addMailing(db, 5, { owner_kind: 'schedule', owner_id: 1, revision: 2 });
  const ended = addMailing(db, 5, { owner_kind: 'schedule', owner_id: 2 });
  commandMailing(db.$client, ended, 'cancel');
  await background.untilIdle();
  t.match(mailingOf(db.$client, old), { state: 'done', delivered: 5, finished_at: String });
  t.match(mailingOf(db.$client, current), { state: 'sending', delivered: 5, finished_at: null });
  t.match(mailingOf(db.$client, ended), { state: 'cancelled', cancelled: 5, finished_at: String });
});

t.test('a mailing that is cancelled while it is enqueued still gives everybody one final state', async (t) => {
  const relay = new Relay(() => ACCEPTED);
  const { db, background } = await launch(t, 2000, relay);
  const client = db.$client;
  const bounce = { user_id: 1, kind: 'bounce', diagnostic: '', created_at: '' } as const;
  for (let id = 10; id <= 2000; id += 10) suppressAddress(client, { ...bounce, address_id: id });
  await enqueueRecipients(client, 1, () => false);
  const laidOut = Number(client.prepare('SELECT count(*) FROM deliveries').pluck().get());
  t.ok(laidOut > 0 && laidOut < 2000, `${laidOut} when it was cancelled`);
  const midway = counted(client, 1);
  t.ok(Number(midway.counters.suppressed) > 0);
  t.strictSame(midway.counters, midway.rows, 'the counters equal the ledger at every moment');
  commandMailing(client, 1, 'cancel');
  await background.untilIdle();
  t.match(mailingOf(client, 1), { state: 'cancelled', finished_at: String, enqueue_progress: null });
  const end = counted(client, 1);
  t.strictSame(end.counters, { delivered: 0, suppressed: 200, cancelled: 1800 });
  t.strictSame(end.rows, end.counters);
  t.equal(relay.started.length, 0);
  t.strictSame(client.prepare('SELECT DISTINCT english(reply) FROM deliveries WHERE state = 6').pluck().all(), [
    'the mailing was cancelled',
  ]);
});

t.test('a large audience is enqueued in turns: another mailing goes on meanwhile, and a stop is noticed', async (t) => {
  const relay = new Relay(() => ACCEPTED);
  const { db, background } = await launch(t, 100_000, relay);
  const client = db.$client;
  addMailing(db, 200);
  await background.step();
  t.equal(mailingOf(client, 1).state, 'enqueueing', 'not done in one step');
  t.ok(relay.started.length > 0, 'the other one has its turn');
  const laidOut = () => Number(client.prepare('SELECT count(*) FROM deliveries').pluck().get());
  const before = laidOut();
  const step = background.step();
  background.stop();
  await step;
  await background.step();
  t.ok(laidOut() - before <= 10_000, 'at most the transaction it was in');
});

t.test('while all sending is held, outcomes are recorded and cancelled mailings end', async (t) => {
  const relay = new Relay(() => ACCEPTED);
  const { db, background, until } = await launch(t, 500, relay);
  await until(() => relay.started.length > 20);
  const step = background.step();
  holdSending(db.$client, 'restored');
  await step;
  for (let tries = 0; tries < 5; tries++) await background.step();
  const sent = relay.started.length;
  t.ok(sent < 500);
  t.equal(counted(db.$client, 1).rows?.delivered, sent, 'what left is on the ledger');
  commandMailing(db.$client, 1, 'cancel');
  await background.untilIdle();
  t.match(mailingOf(db.$client, 1), { delivered: sent, cancelled: 500 - sent, finished_at: String });
  t.equal(relay.started.length, sent);
  t.ok(releaseSending(db.$client, 0));
});

for (const [text, jump] of [
  ['an hour back', -HOUR],
  ['an hour ahead', HOUR],
] as const) {
  t.test(`a clock set ${text} neither hastens a retry nor puts it off`, async (t) => {
    let isBusy = true;
    const relay = new Relay(() =>
      isBusy ? { kind: 'deferred', stage: 'rcpt', code: 450, enhanced: '4.2.0', reply: '450 4.2.0 later' } : ACCEPTED,
    );
    const { background, clock, rows, mailing } = await launch(t, 3, relay);
    await background.untilIdle();
    clock.jump(jump);
    await background.untilIdle();
    clock.advance(10_000);
    await background.untilIdle();
    t.ok(
      rows().every(({ attempt }) => attempt === 1),
      'not before its 15 s, a fifth more or less',
    );
    isBusy = false;
    clock.advance(10_000);
    await background.untilIdle();
    t.match(mailing(), { state: 'done', delivered: 3 });
  });
}

/** A mailing, and our own client whose waits go by the same fake clock. */
async function launchToPool(
  t: Parameters<typeof startSink>[0] & Parameters<typeof launch>[0],
  people: number,
  script: Script,
) {
  const sink = await startSink(t, script);
  let monotonic = () => 0;
  const pool = new SmtpPool(parseRelays(sink.url), { connections: 2, monotonic: () => monotonic() });
  const sending = await launch(t, people, {
    room: () => pool.room(),
    send: (handoff) => pool.send(handoff),
    close: (graceMs) => pool.close(graceMs),
  });
  monotonic = () => sending.clock.monotonic();
  return { sink, ...sending };
}

t.test('421 in the middle of a session is tried again on another, and nobody bounces', async (t) => {
  const { sink, clock, background, mailing, suppressions } = await launchToPool(t, 40, {
    rcpt: ({ time }) => (time === 4 ? '421 4.7.0 enough for one connection\r\n' : '250 ok\r\n'),
  });
  for (let tries = 0; tries < 100 && mailing().finished_at === null; tries++) {
    await background.untilIdle();
    clock.advance(30_000);
  }
  t.match(mailing(), { state: 'done', delivered: 40, triggered: 40, bounces: 0, failed: 0 });
  t.ok(sink.connections > 10);
  t.equal(new Set(sink.received.map(({ to }) => to)).size, 40);
  t.equal(sink.received.length, 40, 'each mail once');
  t.equal(suppressions(), 0);
});

for (const point of ['greeting', 'mail', 'data', 'dot'] as const) {
  t.test(`two days of 421 at ${point} bounce nobody and end nothing; then all goes`, async (t) => {
    const { sink, clock, background, rows, mailing, suppressions } = await launchToPool(t, 5, {
      [point]: '421 4.3.2 try later\r\n',
    });
    for (let hours = 0; hours < 48; hours++) {
      await background.untilIdle();
      if (mailing().finished_at !== null) t.fail('the storm ends nothing');
      clock.advance(HOUR);
    }
    t.ok(rows().every(({ state }) => state === 0));
    t.match(mailing(), { delivered: 0, bounces: 0, failed: 0 });
    t.equal(suppressions(), 0);
    sink.script = {};
    const before = sink.received.length;
    for (let tries = 0; tries < 10 && mailing().finished_at === null; tries++) {
      clock.advance(2 * HOUR);
      await background.untilIdle();
    }
    t.match(mailing(), { state: 'done', delivered: 5, triggered: 5, bounces: 0, failed: 0 });
    t.equal(sink.received.length - before, 5, 'each mail once');
  });
}

t.test('on a really full file system nothing is sent without a recorded claim, and sending recovers', async (t) => {
  const mount = mkdtempSync(join(tmpdir(), 'sendlark-full-'));
  const isMounted = succeeds('mount', '-t', 'tmpfs', '-o', 'size=24m', 'sendlark-test', mount);
  t.teardown(() => {
    if (isMounted) succeeds('umount', mount);
    rmSync(mount, { recursive: true, force: true });
  });
  if (!isMounted) {
    t.pass('mounted', { skip: 'mounting a small file system is not permitted here' });
    return;
  }
  const folder = join(mount, 'data');
  mkdirSync(folder);
  const relay = new Relay(() => ACCEPTED);
  const { db, background, until, mailing } = await launch(t, 2000, relay, {}, folder);
  const claimed = () => Number(db.$client.prepare('SELECT count(*) FROM deliveries WHERE attempt > 0').pluck().get());
  await until(() => relay.started.length > 20);
  // From here on the log of changes has no room to grow into.
  db.$client.pragma('wal_checkpoint(TRUNCATE)');
  const filler = join(mount, 'filler');
  fill(filler);
  let failures = 0;
  for (let tries = 0; tries < 5; tries++) {
    await background.step().catch((error: Error) => {
      failures++;
      t.match(error, { code: /^SQLITE_(FULL|IOERR)/ });
    });
    t.ok(relay.started.length <= claimed(), 'each that left was claimed on disk');
  }
  t.ok(failures > 0, 'the disk was full');
  t.equal(mailing().finished_at, null);
  rmSync(filler);
  await until(() => mailing().finished_at !== null);
  t.match(mailing(), { delivered: 2000, triggered: 2000 });
  t.equal(new Set(relay.started).size, relay.started.length, 'nobody got it twice');
  t.equal(db.$client.pragma('integrity_check', { simple: true }), 'ok');
});

const succeeds = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;

/** Writes until the file system takes no byte more. */
function fill(path: string): void {
  for (const bytes of [1 << 20, 1 << 12, 1]) {
    const block = Buffer.alloc(bytes);
    try {
      for (;;) writeFileSync(path, block, { flag: 'a' });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
    }
  }
}
