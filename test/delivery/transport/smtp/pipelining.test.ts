/** PIPELINING: which commands leave together, and what becomes of an envelope written after the end of data. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { brief, gate, MESSAGE, NO_PIPELINING, openPool, SOON, send, sendMany } from '../../../support/smtp/pools.ts';
import { DROP, startSink } from '../../../support/smtp/scripted-relay.ts';
import { until } from '../../../support/until.ts';

t.test('RFC 2920: MAIL, RCPT and DATA go out together where PIPELINING is offered', async (t) => {
  const sink = await startSink(t, {
    mail: ({ pipelined }) => (pipelined.endsWith('DATA\r\n') ? '250 ok\r\n' : '550 not in one write\r\n'),
  });
  t.equal(brief(await send(openPool(t, sink))), 'accepted body 250');
});

t.test('without PIPELINING every command waits for the reply to the one before', async (t) => {
  const slowly = async () => {
    await sleep(3);
    return '250 ok\r\n';
  };
  const sink = await startSink(t, { offers: NO_PIPELINING, mail: slowly, rcpt: slowly, rset: slowly });
  const pool = openPool(t, sink, { connections: 1 });
  await sendMany(pool, 3);
  sink.script.rcpt = async () => {
    await sleep(3);
    return '550 no\r\n';
  };
  await sendMany(pool, 2);
  t.equal(sink.impatient, 0);
  t.equal(sink.received.length, 3);
});

t.test(
  'RFC 2920 3.1: if all connections are busy, the next envelope is written together with the end of data',
  async (t) => {
    const envelopes: string[] = [];
    const sink = await startSink(t, {
      dot: ({ pipelined }) => {
        envelopes.push(pipelined.replaceAll('\r\n', '|'));
        return '250 ok\r\n';
      },
    });
    const pool = openPool(t, sink, { connections: 1 });
    const sent = sendMany(pool, 3);
    t.strictSame((await sent).map(brief), Array(3).fill('accepted body 250'));
    t.strictSame(envelopes, [
      'MAIL FROM:<a@example.com> SIZE=21|RCPT TO:<b1@example.com>|DATA|',
      'MAIL FROM:<a@example.com> SIZE=21|RCPT TO:<b2@example.com>|DATA|',
      '',
    ]);
    t.strictSame(
      sink.received.map(({ to }) => to),
      ['b0@example.com', 'b1@example.com', 'b2@example.com'],
    );
  },
);

t.test('a pipelined envelope, or its message, is refused like any other', async (t) => {
  const sink = await startSink(t, {
    rcpt: ({ line }) => (line.includes('b1@') ? '550 5.1.1 nobody\r\n' : '250 ok\r\n'),
    dot: ({ time }) => (time === 1 ? '554 5.6.0 no\r\n' : '250 ok\r\n'),
  });
  const pool = openPool(t, sink, { connections: 1 });
  t.strictSame((await sendMany(pool, 4)).map(brief), [
    'refused body 554',
    'refused rcpt 550',
    'accepted body 250',
    'accepted body 250',
  ]);
});

t.test('a pipelined envelope that is lost with its connection is sent again, once', async (t) => {
  const sink = await startSink(t, { dot: ({ time }) => (time === 2 ? DROP : '250 ok\r\n') });
  const pool = openPool(t, sink, { connections: 1 });
  const ended = (await sendMany(pool, 6)).map(brief);
  t.strictSame(ended, [
    'accepted body 250',
    'deferred body 0',
    'accepted body 250',
    'deferred body 0',
    'accepted body 250',
    'deferred body 0',
  ]);
  t.strictSame(
    sink.received.map(({ to }) => to),
    [0, 1, 2, 3, 4, 5].map((number) => `b${number}@example.com`),
  );
});

t.test('a pipelined mail does not wait for a slow reply to the message before it', async (t) => {
  let hangs = false;
  // The first of the connections to end a message, because a pool may have closed either of them on a busy machine.
  let hanging: number | null = null;
  const sink = await startSink(t, {
    dot: async ({ connection }) => {
      if (hangs) hanging ??= connection;
      if (connection === hanging) return null;
      await sleep(5);
      return '250 ok\r\n';
    },
  });
  const pool = openPool(t, sink, { connections: 2 });
  await sendMany(pool, 20);
  hangs = true;
  const ended: string[] = [];
  for (let number = 0; number < 10; number++)
    void send(pool, `c${number}@example.com`).then((one) => ended.push(brief(one)));
  await until(() => ended.length === 9);
  t.strictSame(ended, Array(9).fill('accepted body 250'));
  t.equal(pool.active, 1);
});

t.test('a mail that may no longer be sent once its envelope is accepted is not sent', async (t) => {
  for (const offers of [['PIPELINING'], NO_PIPELINING]) {
    const [asked, stuck] = [gate(), gate()];
    const data = () => {
      asked.open();
      return stuck.passed.then(() => '354 go ahead\r\n');
    };
    const sink = await startSink(t, { offers, data });
    const pool = openPool(t, sink, { connections: 1 });
    let goes = true;
    const mail = (to: string, maySend: () => boolean) =>
      pool.send({ from: 'a@example.com', to, start: () => MESSAGE, maySend });
    const ended = Promise.all([mail('1@x.com', () => goes), mail('2@x.com', () => true)]);
    await asked.passed;
    goes = false;
    stuck.open();
    t.strictSame((await ended).map(brief), ['withdrawn', 'accepted body 250']);
    t.strictSame(
      sink.received.map(({ to }) => to),
      ['2@x.com'],
      'the mail behind it leaves over another connection',
    );
  }
});

t.test('a pipelined mail that may no longer be sent is not sent', async (t) => {
  const stuck = gate();
  const sink = await startSink(t, { dot: () => stuck.passed.then(() => '250 ok\r\n') });
  const pool = openPool(t, sink, { connections: 1, timeouts: { quit: 4_000 } });
  let goes = true;
  const maySend = () => goes;
  const mail = (to: string) =>
    pool.send({ from: 'a@example.com', to, start: () => (goes ? MESSAGE : null), maySend, dotless: true });
  const ended = Promise.all([mail('1@x.com'), mail('2@x.com'), mail('3@x.com')]);
  await until(() => pool.active === 2);
  goes = false;
  stuck.open();
  t.strictSame((await ended).map(brief), ['accepted body 250', 'withdrawn', 'withdrawn']);
  t.strictSame(
    sink.received.map(({ to }) => to),
    ['1@x.com'],
  );
});

t.test(
  'a relay that refuses pipelined envelopes, or closes on one, gets one at a time from then on, and loses nothing',
  async (t) => {
    for (const answer of ['554 5.5.0 synchronization error\r\n', DROP] as const) {
      let isPipelined = false;
      const sink = await startSink(t, {
        dot: ({ pipelined }) => {
          isPipelined = pipelined !== '';
          return '250 ok\r\n';
        },
        mail: () => {
          const said = isPipelined ? answer : '250 ok\r\n';
          isPipelined = false;
          return said;
        },
      });
      const pool = openPool(t, sink, { connections: 1 });
      t.strictSame((await sendMany(pool, 30)).map(brief), Array(30).fill('accepted body 250'));
      t.equal(sink.connections, 2, 'learnt from the first');
    }
  },
);

t.test('a relay that drops pipelined envelopes costs one wait, and gets one at a time from then on', async (t) => {
  const sink = await startSink(t, { forgetsBehindDot: true });
  const pool = openPool(t, sink, { connections: 1, timeouts: { mail: SOON } });
  const ended = (await sendMany(pool, 6)).map(brief);
  t.strictSame(ended, Array(6).fill('accepted body 250'));
  t.equal(sink.connections, 2, 'given up once for its silence');
});
