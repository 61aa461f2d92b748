/** Relays that are silent, slow, strict or refuse mail: no mail is lost, and the relays that work keep their speed. */
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { MailData } from '../../../../src/delivery/mime/mail-data.ts';
import type { Outcome } from '../../../../src/delivery/transport/smtp/outcome.ts';
import { SmtpPool } from '../../../../src/delivery/transport/smtp/pool.ts';
import { parseRelays } from '../../../../src/delivery/transport/smtp/relay-urls.ts';
import { socketEnds } from '../../../support/smtp/pools.ts';
import { type Sink, startSink } from '../../../support/smtp/scripted-relay.ts';
import { until } from '../../../support/until.ts';

const MESSAGE = MailData.of('Subject: x\r\n\r\nHello\r\n');

/** A pool whose clock the test advances; it checks its deadlines every few milliseconds. */
function openPool(t: Test, sinks: Sink[], connections = 5) {
  let now = 1_000;
  const failures: string[] = [];
  const pool = new SmtpPool(parseRelays(sinks.map((sink) => sink.url).join(',')), {
    connections,
    monotonic: () => now,
    timeouts: { quit: 20 },
    onRelayFailure: (relay, { reply }) => failures.push(`${relay} ${reply}`),
  });
  t.teardown(() => pool.close(0));
  let sent = 0;
  const send = () => pool.send({ from: 'a@example.com', to: `b${sent++}@example.com`, start: () => MESSAGE });
  return {
    pool,
    failures,
    send,
    sendMany: (count: number) => Promise.all(Array.from({ length: count }, send)),
    /** Advances the clock, one second at a time. */
    async pass(seconds: number) {
      for (let second = 0; second < seconds; second++) {
        now += 1_000;
        // The pool checks its deadlines every 5 ms. Its timers are due before this one, however busy the machine is.
        await sleep(12);
      }
    },
  };
}

function kinds(ended: (Outcome | 'withdrawn')[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const one of ended) {
    const kind = one === 'withdrawn' ? one : `${one.kind} ${one.stage}`;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

t.test(
  'a first relay that never greets stops mail for 30 s at most, and then is only probed beside the work',
  async (t) => {
    const silent = await startSink(t, { greeting: null });
    // Like many relays, it closes a session after a number of mails.
    const strict = await startSink(t, { mail: ({ time }) => (time > 50 ? '421 4.7.0 enough\r\n' : '250 ok\r\n') });
    const { sendMany, pass, pool, failures } = openPool(t, [silent, strict]);
    const first = sendMany(20);
    await pass(29);
    t.equal(strict.received.length, 0, 'the order of the list is kept while the first may still greet');
    await pass(2);
    t.strictSame(kinds(await first), { 'accepted body': 20 });
    t.match(failures[0], /^127\.0\.0\.1:\d+ 127\.0\.0\.1:\d+: no reply within \d+ s/);

    const perSecond: number[] = [];
    const probes: number[] = [];
    for (let second = 0; second < 120; second++) {
      const before = strict.received.length;
      t.strictSame(kinds(await sendMany(60)), { 'accepted body': 60 }, 'without any time passing');
      perSecond.push(strict.received.length - before);
      await pass(1);
      if (second > 40) probes.push(silent.open);
    }
    t.ok(
      perSecond.every((mails) => mails === 60),
      `mails each second: ${perSecond}`,
    );
    t.ok(strict.peak >= 5, 'at full width');
    t.ok(Math.max(...probes) <= 1, 'one connection finds out');
    t.ok(silent.connections < 25, `${silent.connections} in 150 s`);

    silent.script = {};
    silent.dropAll();
    for (let second = 0; second < 70 && silent.received.length < 100; second++) {
      await sendMany(10);
      await pass(1);
    }
    t.ok(silent.received.length >= 100, 'once it greets it has its mail back');
    t.equal(pool.pending, 0);
  },
);

t.test(
  'a session limit is learned: from then on sessions end with QUIT, and no mail waits or is refused',
  async (t) => {
    let cut = 0;
    const strict = await startSink(t, {
      mail: ({ time }) => {
        if (time <= 10) return '250 ok\r\n';
        cut++;
        return '421 4.7.0 enough for one connection\r\n';
      },
    });
    const { sendMany } = openPool(t, [strict], 3);
    t.strictSame(kinds(await sendMany(600)), { 'accepted body': 600 });
    t.ok(cut <= 6, `${cut} sessions were cut before it was learned`);
    t.ok(strict.quits > 50, `${strict.quits} ended with QUIT`);
  },
);

t.test('one connection that hangs does not stop the others of the same relay', async (t) => {
  const relay = await startSink(t, { greeting: ({ connection }) => (connection % 3 === 1 ? null : '220 sink\r\n') });
  const { sendMany, pass } = openPool(t, [relay], 8);
  const ended = sendMany(50);
  await pass(3);
  t.strictSame(kinds(await ended), { 'accepted body': 50 });
  for (let second = 0; second < 60; second++) {
    t.strictSame(kinds(await sendMany(20)), { 'accepted body': 20 });
    t.ok(socketEnds() <= 16, 'never more connections than allowed');
    await pass(1);
  }
});

t.test('with a single connection allowed, one that hangs is dropped within 30 s', async (t) => {
  const relay = await startSink(t, { greeting: ({ connection }) => (connection === 1 ? null : '220 sink\r\n') });
  const { send, pass } = openPool(t, [relay], 1);
  const first = send();
  await pass(31);
  t.match(await first, { kind: 'deferred', stage: 'connect' });
  await pass(1);
  t.match(await send(), { kind: 'accepted' });
});

t.test('RFC 5321 4.5.3.2.1: a lone relay that greets after 100 s is waited for in the end', async (t) => {
  let isGreeting = false;
  const relay = await startSink(t, {
    greeting: async () => {
      while (!isGreeting) await sleep(2);
      return '220 sink\r\n';
    },
  });
  const { send, pass, pool } = openPool(t, [relay], 2);
  const ended: (Outcome | 'withdrawn')[] = [];
  for (let second = 0; second < 300 && !ended.some((one) => one !== 'withdrawn' && one.kind === 'accepted'); second++) {
    if (pool.room() > 0) void send().then((one) => ended.push(one));
    isGreeting = second > 150;
    await pass(1);
  }
  t.match(ended.at(-1), { kind: 'accepted' });
  t.ok(relay.connections < 40);
});

for (const [what, greeting] of [
  ['refuses everybody', '554 5.7.1 no service\r\n'],
  ['is too busy', '421 4.3.2 later\r\n'],
] as const) {
  t.test(`a first relay that ${what} costs nothing: the second is used at full width at once`, async (t) => {
    const first = await startSink(t, { greeting });
    const second = await startSink(t, { dot: () => sleep(2).then(() => '250 ok\r\n') });
    const { sendMany, pass } = openPool(t, [first, second]);
    for (let time = 0; time < 300; time++) {
      t.strictSame(kinds(await sendMany(12)), { 'accepted body': 12 });
      await pass(1);
    }
    t.ok(second.peak >= 5);
    t.ok(first.connections < 20, `${first.connections} probes in 300 s`);
  });
}

t.test(
  'a first relay that falls silent after its greeting keeps what it has begun, and the second does the rest',
  async (t) => {
    for (const point of ['mail', 'rcpt', 'data', 'dot'] as const) {
      const first = await startSink(t, { [point]: null, quit: null });
      const second = await startSink(t);
      const { sendMany, pass, pool } = openPool(t, [first, second]);
      const ended: (Outcome | 'withdrawn')[] = [];
      const begin = (count: number) => {
        for (let one = 0; one < count; one++) void sendMany(1).then(([outcome]) => outcome && ended.push(outcome));
      };
      begin(40);
      await pass(33);
      await until(() => ended.length >= 30);
      const before = ended.length;
      // As many as the second accepts.
      await until(() => pool.room() >= 5);
      begin(100);
      await pass(3);
      // At most one waits on the connection that probes the first.
      await until(() => ended.length >= before + 99);
      t.strictSame(Object.keys(kinds(ended)), ['accepted body'], point);
      await pool.close(0);
    }
  },
);

t.test('a 5xx at MAIL from the first relay: the second is asked before anything is held', async (t) => {
  const first = await startSink(t, { mail: '550 5.7.1 sender refused\r\n' });
  const second = await startSink(t);
  const { sendMany } = openPool(t, [first, second]);
  t.strictSame(kinds(await sendMany(200)), { 'accepted body': 200 });
  t.equal(second.received.length, 200);
  const asked = first.commands.filter((line) => line.startsWith('MAIL')).length;
  t.ok(asked <= 20, `the first was asked ${asked} times`);
});

t.test(
  'a 4xx at MAIL from the first relay: the second takes the mail; where that one refuses too, it is deferred',
  async (t) => {
    const first = await startSink(t, { mail: '451 4.3.0 try later\r\n' });
    const second = await startSink(t);
    const third = await startSink(t, { mail: '550 5.7.1 not ours\r\n' });
    const { sendMany } = openPool(t, [first, second]);
    t.strictSame(kinds(await sendMany(200)), { 'accepted body': 200 });
    const asked = first.commands.filter((line) => line.startsWith('MAIL')).length;
    t.ok(asked <= 20, `the first was asked ${asked} times`);
    for (const relays of [[first, third], [third, first], [first, first], [first]])
      t.match(await openPool(t, relays).send(), { kind: 'deferred', stage: 'mail', code: 451 });
  },
);

t.test('a relay that hangs up at MAIL has the next one asked at once', async (t) => {
  const first = await startSink(t, { mail: '421 4.3.2 shutting down\r\n' });
  const second = await startSink(t);
  const { sendMany } = openPool(t, [first, second]);
  t.strictSame(kinds(await sendMany(20)), { 'accepted body': 20 });
});

t.test(
  'held with the words of the first when every relay refuses the sender, deferred while one cannot be asked',
  async (t) => {
    const first = await startSink(t, { mail: '550 5.7.1 not ours\r\n' });
    const other = await startSink(t, { mail: '553 5.7.1 unknown sender\r\n' });
    const down = await startSink(t, { greeting: '421 4.3.2 later\r\n' });
    t.match(await openPool(t, [first, other]).send(), { kind: 'held', stage: 'mail', reply: '550 5.7.1 not ours' });
    t.match(await openPool(t, [first, down]).send(), { kind: 'deferred', stage: 'connect', code: 421 });
    t.match(await openPool(t, [down, first]).send(), { kind: 'deferred', stage: 'connect', code: 421 });
    t.match(await openPool(t, [first]).send(), { kind: 'held', stage: 'mail' });
  },
);
