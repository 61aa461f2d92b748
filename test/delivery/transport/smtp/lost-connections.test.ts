/** Connections that are lost, silent or unused. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { MailData } from '../../../../src/delivery/mime/mail-data.ts';
import type { Timeouts } from '../../../../src/delivery/transport/smtp/timeouts.ts';
import { brief, MESSAGE, NO_PIPELINING, openPool, SOON, send, socketEnds } from '../../../support/smtp/pools.ts';
import { DROP, type Script, startSink } from '../../../support/smtp/scripted-relay.ts';
import { until } from '../../../support/until.ts';

t.test('a connection lost after the end of data is told apart from one lost before it', async (t) => {
  const cases: [Script, string][] = [
    [{ greeting: DROP }, 'deferred connect 0'],
    [{ ehlo: DROP }, 'deferred connect 0'],
    [{ mail: DROP }, 'deferred mail 0'],
    [{ rcpt: DROP }, 'deferred rcpt 0'],
    [{ data: DROP }, 'deferred data 0'],
    [{ dot: DROP }, 'deferred body 0'],
  ];
  for (const offers of [['PIPELINING'], NO_PIPELINING]) {
    for (const [script, expected] of cases) {
      const sink = await startSink(t, { ...script, offers });
      t.equal(brief(await send(openPool(t, sink))), expected, offers.join());
    }
  }
});

t.test('a connection lost in the middle of a message is lost before the end of data', async (t) => {
  const sink = await startSink(t, { ignoresData: true, offers: ['PIPELINING'] });
  const pool = openPool(t, sink);
  const ended = send(pool, 'b@example.com', MailData.of('x'.repeat(30_000_000)));
  await until(() => sink.commands.includes('DATA'));
  await sleep(20);
  sink.dropAll();
  t.equal(brief(await ended), 'deferred data 0');
});

t.test('a reply in the middle of a message counts, and the connection is closed', async (t) => {
  const sink = await startSink(t, {
    offers: ['PIPELINING'],
    early: { after: 1000, answer: '552 5.3.4 too big\r\n' },
    dot: null,
  });
  const pool = openPool(t, sink, { connections: 1 });
  const message = MailData.of('x'.repeat(70).concat('\r\n').repeat(400_000));
  t.equal(brief(await send(pool, 'b@example.com', message)), 'refused data 552');
  sink.script = {};
  t.equal(brief(await send(pool)), 'accepted body 250');
  t.equal(sink.connections, 2);
});

t.test('RFC 5321 4.5.3.2: every wait has a timeout', async (t) => {
  const cases: [Script, Partial<Timeouts>, string][] = [
    [{ greeting: null }, { greeting: SOON }, 'deferred connect 0'],
    [{ ehlo: null }, { command: SOON }, 'deferred connect 0'],
    [{ mail: null }, { mail: SOON }, 'deferred mail 0'],
    [{ rcpt: null }, { rcpt: SOON }, 'deferred rcpt 0'],
    [{ data: null }, { data: SOON }, 'deferred data 0'],
    [{ dot: null }, { endOfData: SOON }, 'deferred body 0'],
    [{ ignoresData: true }, { block: SOON }, 'deferred data 0'],
  ];
  for (const [script, timeouts, expected] of cases) {
    const sink = await startSink(t, { ...script, offers: ['PIPELINING'] });
    const pool = openPool(t, sink, { timeouts });
    const ended = await send(pool, 'b@example.com', script.ignoresData ? MailData.of('x'.repeat(30_000_000)) : MESSAGE);
    t.equal(brief(ended), expected);
    t.match(ended, { reply: /in time|within/ });
  }
});

t.test('a relay that sends single bytes does not extend a timeout', async (t) => {
  const sink = await startSink(t, { drip: 20, greeting: `220 ${'x'.repeat(200)}\r\n` });
  t.equal(brief(await send(openPool(t, sink, { timeouts: { greeting: SOON } }))), 'deferred connect 0');
});

t.test('a 421 on a used connection, or its silent end, costs the message only a new connection', async (t) => {
  let starts = 0;
  const start = () => {
    starts++;
    return MESSAGE;
  };
  const mail = { from: 'a@example.com', to: 'b@example.com', start };
  const sink = await startSink(t, {
    mail: ({ time }) => (time > 2 ? '421 4.7.0 enough for one connection\r\n' : '250 ok\r\n'),
  });
  const pool = openPool(t, sink, { connections: 1 });
  for (let i = 0; i < 5; i++) t.equal(brief(await pool.send(mail)), 'accepted body 250');
  t.equal(starts, 7, 'asked anew for the two that moved');
  t.equal(sink.connections, 3);
  sink.script = { mail: ({ time }) => (time > 1 ? DROP : '250 ok\r\n') };
  for (let i = 0; i < 3; i++) t.equal(brief(await pool.send(mail)), 'accepted body 250');
  t.equal(sink.received.length, 8);
});

t.test('an unused connection is closed with QUIT after a while, a used one stays open', async (t) => {
  const sink = await startSink(t);
  const pool = openPool(t, sink, { timeouts: { idle: SOON } });
  await send(pool);
  await send(pool);
  t.equal(sink.connections, 1);
  await until(() => socketEnds() === 0);
  t.equal(sink.quits, 1);
  t.equal(brief(await send(pool)), 'accepted body 250');
});

t.test('the connection to a relay that ignores QUIT is closed anyway', async (t) => {
  const sink = await startSink(t, { quit: null });
  const pool = openPool(t, sink, { timeouts: { idle: SOON, quit: SOON } });
  await send(pool);
  // The relay keeps its end.
  await until(() => socketEnds() === 1);
  t.equal(sink.quits, 1);
});

t.test('a relay that closes an unused connection, or sends a reply on it, does no harm', async (t) => {
  const sink = await startSink(t);
  const pool = openPool(t, sink);
  await send(pool);
  sink.sayToAll('421 4.4.2 idle too long\r\n');
  await until(() => socketEnds() === 0);
  t.equal(brief(await send(pool)), 'accepted body 250');
  sink.dropAll();
  await until(() => socketEnds() === 0);
  t.equal(brief(await send(pool)), 'accepted body 250');
});
