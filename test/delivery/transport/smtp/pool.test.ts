/** The SMTP client: which mails start when, on how many connections, and what closing it does. */
import fc from 'fast-check';
import t from 'tap';
import { MailData } from '../../../../src/delivery/mime/mail-data.ts';
import { brief, gate, MESSAGE, openPool, send, sendMany, socketEnds } from '../../../support/smtp/pools.ts';
import { startSink } from '../../../support/smtp/scripted-relay.ts';
import { until } from '../../../support/until.ts';

t.test('it works', async (t) => {
  const sink = await startSink(t);
  const pool = openPool(t, sink);
  t.strictSame(await send(pool), {
    kind: 'accepted',
    stage: 'body',
    code: 250,
    enhanced: '2.0.0',
    reply: '250 2.0.0 ok',
  });
  t.strictSame(sink.received, [{ from: 'a@example.com', to: 'b@example.com', message: MESSAGE.bytes }]);
});

t.test('every message arrives byte for byte', async (t) => {
  const sink = await startSink(t);
  const pool = openPool(t, sink, { connections: 3 });
  const line = fc.string({ unit: fc.constantFrom('.', 'a', '~', ' '), maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { minLength: 1, maxLength: 10 }),
      fc.constantFrom(1, 40_000),
      async (lines, times) => {
        const message = MailData.of(
          lines
            .map((text) => `${text}\r\n`)
            .join('')
            .repeat(Math.ceil(times / lines.length)),
        );
        await send(pool, 'b@example.com', message);
        return sink.received.pop()?.message.equals(message.bytes) === true;
      },
    ),
    { numRuns: 40 },
  );
  t.equal(brief(await send(pool, 'b@example.com', MailData.of('no line end'))), 'accepted body 250');
  t.equal(sink.received.pop()?.message.toString(), 'no line end\r\n');
});

t.test('start is called right before MAIL FROM, and nothing is written if it returns null', async (t) => {
  const sink = await startSink(t);
  const pool = openPool(t, sink, { connections: 1 });
  const seen: number[] = [];
  const mail = (to: string, goes: boolean) =>
    pool.send({
      from: 'a@example.com',
      to,
      start: () => {
        seen.push(sink.received.length);
        return goes ? MESSAGE : null;
      },
    });
  const ended = await Promise.all([
    mail('1@x.com', true),
    mail('2@x.com', false),
    mail('3@x.com', true),
    mail('4@x.com', false),
  ]);
  t.strictSame(ended.map(brief), ['accepted body 250', 'withdrawn', 'accepted body 250', 'withdrawn']);
  t.strictSame(
    seen,
    [0, 0, 0, 1],
    'each only when its envelope is written: with the end of data of the message before it',
  );
  t.notMatch(sink.commands.join(), /<[24]@x\.com>/);
});

t.test('what start throws rejects the promise, and the connection stays in use', async (t) => {
  const sink = await startSink(t);
  const pool = openPool(t, sink, { connections: 1 });
  const broken = pool.send({
    from: 'a@example.com',
    to: 'b@example.com',
    start: () => {
      throw new Error('no such template');
    },
  });
  const next = send(pool);
  await t.rejects(broken, /no such template/);
  t.equal(brief(await next), 'accepted body 250');
  t.equal(sink.connections, 1);
});

t.test('one slow connection delays no other, and the number of sockets is bounded', async (t) => {
  const stuck = gate();
  const sink = await startSink(t, {
    dot: async ({ connection, time }) => {
      if (connection === 1 && time === 1) await stuck.passed;
      return '250 ok\r\n';
    },
  });
  const pool = openPool(t, sink, { connections: 3 });
  const slow = send(pool);
  await until(() => sink.received.length === 1);
  await sendMany(pool, 100);
  t.equal(sink.received.length, 101);
  t.ok(sink.peak <= 3);
  t.equal(pool.active, 1);
  stuck.open();
  t.equal(brief(await slow), 'accepted body 250');
});

t.test('no more connections are opened than messages wait', async (t) => {
  const stuck = gate();
  const sink = await startSink(t, { dot: () => stuck.passed.then(() => '250 ok\r\n') });
  const pool = openPool(t, sink);
  const ended = sendMany(pool, 3);
  await until(() => sink.received.length === 3);
  t.equal(sink.connections, 3);
  stuck.open();
  await ended;
});

t.test('close withdraws waiting mails, finishes those in progress and sends QUIT', async (t) => {
  const stuck = gate();
  const sink = await startSink(t, { dot: () => stuck.passed.then(() => '250 ok\r\n') });
  const pool = openPool(t, sink, { connections: 2 });
  const ended = sendMany(pool, 6);
  await until(() => sink.received.length === 2);
  const begun = pool.active;
  t.ok(begun >= 2 && begun <= 4, 'two messages, and envelopes pipelined after them');
  t.strictSame([pool.pending, pool.room()], [6 - begun, 0]);
  const closed = pool.close(10_000);
  t.equal(await send(pool), 'withdrawn', 'nothing new is taken');
  stuck.open();
  await closed;
  t.strictSame((await ended).map(brief).sort(), [
    ...Array(begun).fill('accepted body 250'),
    ...Array(6 - begun).fill('withdrawn'),
  ]);
  t.equal(sink.quits, 2);
  await until(() => socketEnds() === 0);
});

t.test('a mail not finished when close gives up has an uncertain outcome', async (t) => {
  const sink = await startSink(t, { dot: null });
  const pool = openPool(t, sink);
  const ended = send(pool);
  await until(() => sink.received.length === 1);
  await pool.close(20);
  t.match(await ended, { kind: 'deferred', stage: 'body', code: 0, reply: /shut down/ });
});

t.test('close does not wait for a connection that is still being opened', async (t) => {
  const sink = await startSink(t, { greeting: null });
  const pool = openPool(t, sink);
  const ended = send(pool);
  await until(() => sink.open === 1);
  await pool.close(60_000);
  t.equal(await ended, 'withdrawn');
});

t.test('there is room for the number of free connections plus what is sent in 100 ms', async (t) => {
  let now = 0;
  const sink = await startSink(t);
  const pool = openPool(t, sink, { connections: 5, monotonic: () => now });
  t.equal(pool.room(), 5);
  const ended = sendMany(pool, 3);
  t.equal(pool.room(), 2);
  await ended;
  await sendMany(pool, 500);
  now += 100;
  await send(pool);
  t.ok(pool.room() > 5, 'more than there are connections once messages flow');
  now += 1_000;
  t.equal(pool.room(), 5, 'forgotten when nothing flows');
});
