/** Relays with limits, storms of 421, and the next relay in the list. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { accepted, brief, clock, openPool, send, sendMany, socketEnds } from '../../../support/smtp/pools.ts';
import { startSink } from '../../../support/smtp/scripted-relay.ts';
import { until } from '../../../support/until.ts';

t.test('421 on connect: the pool works with the connections that the relay accepts', async (t) => {
  const sink = await startSink(t, { most: 3, dot: () => sleep(1).then(() => '250 ok\r\n') });
  const pool = openPool(t, sink, { connections: 20 });
  const ended = await sendMany(pool, 200);
  t.equal(accepted(ended).length, 200);
  t.ok(sink.connections < 12, `${sink.connections} connections were tried`);
  t.ok(pool.room() > 0);
});

t.test('a relay with a limit is tried with more connections after a while', async (t) => {
  const time = clock();
  const sink = await startSink(t, { most: 2, dot: () => sleep(1).then(() => '250 ok\r\n') });
  const pool = openPool(t, sink, {
    connections: 10,
    monotonic: time.monotonic,
    timeouts: { idle: 1e9, endOfData: 1e9 },
  });
  await sendMany(pool, 50);
  t.ok(sink.peak <= 4, 'a few too many, once');
  sink.script.most = 10;
  await sendMany(pool, 50);
  t.equal(sink.open, 2);
  time.advance(31_000);
  await sendMany(pool, 50);
  t.equal(sink.open, 3);
});

t.test('a storm of 421 causes no storm of connections, and refuses no recipient', async (t) => {
  for (const point of ['greeting', 'ehlo', 'mail', 'rcpt', 'data', 'dot'] as const) {
    const time = clock();
    const sink = await startSink(t, { [point]: '421 4.3.2 try later\r\n' });
    const pool = openPool(t, sink, { monotonic: time.monotonic });
    for (let round = 0; round < 5; round++) {
      const before = sink.connections;
      const ended = await sendMany(pool, 40);
      t.equal(round === 0 || sink.connections === before + 1, true, 'one connection finds out for all');
      t.ok(
        ended.every((one) => one !== 'withdrawn' && one.kind === 'deferred'),
        point,
      );
      t.strictSame([pool.room(), pool.active, pool.pending], [0, 0, 0], 'nothing is asked for meanwhile');
      time.advance(61_000);
      t.equal(pool.room(), 1, 'then one may try');
    }
    t.ok(sink.connections <= 20 + 4);
  }
});

t.test('a relay that is down: waiting mails are deferred at connect, start is never called', async (t) => {
  const sink = await startSink(t);
  const time = clock();
  const pool = openPool(t, sink, { monotonic: time.monotonic });
  const { port } = sink;
  await sink.close();
  const start = () => {
    t.fail('nothing can start');
    return null;
  };
  const mail = { from: 'a@example.com', to: 'b@example.com', start };
  const ended = await Promise.all([pool.send(mail), pool.send(mail)]);
  t.strictSame(ended.map(brief), ['deferred connect 0', 'deferred connect 0']);
  t.match(ended[0], { reply: new RegExp(`127.0.0.1:${port}: .*ECONNREFUSED`) });
  t.equal(brief(await pool.send(mail)), 'deferred connect 0', 'at once while it pauses');
});

t.test(
  'a relay that came back gets all its connections again, and its next failure counts as a first one',
  async (t) => {
    const time = clock();
    const sink = await startSink(t, { greeting: '421 4.3.2 later\r\n', dot: () => sleep(1).then(() => '250 ok\r\n') });
    const pool = openPool(t, sink, { monotonic: time.monotonic, timeouts: { idle: 1e9 } });
    for (let round = 0; round < 8; round++) {
      await send(pool);
      time.advance(61_000);
    }
    sink.script.greeting = '220 back\r\n';
    t.equal(accepted(await sendMany(pool, 100)).length, 100);
    t.ok(sink.peak > 4);
    sink.script.greeting = '421 4.3.2 later\r\n';
    sink.dropAll();
    await until(() => socketEnds() === 0);
    t.equal(brief(await send(pool)), 'deferred connect 421');
    sink.script.greeting = '220 back\r\n';
    time.advance(1_000);
    t.equal(brief(await send(pool)), 'accepted body 250', 'it is tried again after the shortest pause');
  },
);

t.test('failover: the next relay takes over, and the first gets its mail back after a while', async (t) => {
  const time = clock();
  const failures: string[] = [];
  const takers: string[] = [];
  const first = await startSink(t, { greeting: '421 4.3.2 not now\r\n' });
  const second = await startSink(t);
  const pool = openPool(t, [first, second], {
    connections: 2,
    monotonic: time.monotonic,
    timeouts: { idle: 1e9 },
    onRelayFailure: (relay, outcome) => failures.push(`${relay} ${brief(outcome)}`),
    onRelayAcceptance: (relay) => takers.push(relay),
  });
  t.equal(accepted(await sendMany(pool, 20)).length, 20);
  t.strictSame([first.received.length, second.received.length], [0, 20]);
  t.strictSame(failures, [`127.0.0.1:${first.port} deferred connect 421`]);
  t.strictSame(takers, Array(20).fill(`127.0.0.1:${second.port}`), 'who took the mails is told');

  time.advance(1_100);
  t.equal(accepted(await sendMany(pool, 20)).length, 20, 'the first is still down: nothing is lost');
  t.equal(second.received.length, 40);

  first.script = {};
  time.advance(61_000);
  t.equal(accepted(await sendMany(pool, 40)).length, 40);
  await sendMany(pool, 10);
  const before = second.received.length;
  t.equal(accepted(await sendMany(pool, 10)).length, 10);
  t.equal(second.received.length, before, 'the second rests again');
  t.ok(first.received.length >= 20);
});

t.test('failover also happens when a relay refuses us permanently', async (t) => {
  const first = await startSink(t, { greeting: '554 5.7.1 no service\r\n' });
  const second = await startSink(t);
  t.equal(brief(await send(openPool(t, [first, second]))), 'accepted body 250');
});

t.test('held if every relay refuses us permanently, deferred if one may come back', async (t) => {
  const no = await startSink(t, { greeting: '554 5.7.1 no service\r\n' });
  const never = await startSink(t, { ehlo: '550 5.7.1 go away\r\n' });
  const later = await startSink(t, { greeting: '421 4.3.2 later\r\n' });
  t.match(await send(openPool(t, [no, never])), { kind: 'held', stage: 'connect', code: 554, enhanced: '5.7.1' });
  t.equal(brief(await send(openPool(t, never))), 'held connect 550');
  t.equal(brief(await send(openPool(t, [no, later]))), 'deferred connect 421');
});
