/** The SMTP pool against a scripted relay that makes every mistake a relay can make. */
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { MailData } from '../../../../src/delivery/mime/mail-data.ts';
import type { Outcome } from '../../../../src/delivery/transport/smtp/outcome.ts';
import { type PoolOptions, SmtpPool } from '../../../../src/delivery/transport/smtp/pool.ts';
import { parseRelays } from '../../../../src/delivery/transport/smtp/relay.ts';
import type { Timeouts } from '../../../../src/delivery/transport/smtp/timeouts.ts';
import { type Answer, DROP, type Script, type Sink, startSink } from '../../sink.ts';

const MESSAGE = MailData.of('Subject: x\r\n\r\nHello\r\n');
const NO_PIPELINING = ['8BITMIME', 'SIZE 10000000'];
/** A short timeout, for stages that are meant to time out. */
const SOON = 60;

type Ended = Outcome | 'withdrawn';

function openPool(t: Test, sinks: Sink | Sink[], options: PoolOptions = {}): SmtpPool {
  const urls = [sinks].flat().map((sink) => sink.url);
  const pool = new SmtpPool(parseRelays(urls.join(',')), { ...options, timeouts: { quit: 200, ...options.timeouts } });
  t.teardown(() => pool.close(0));
  return pool;
}

function send(pool: SmtpPool, to = 'b@example.com', message: MailData | null = MESSAGE): Promise<Ended> {
  return pool.send({ from: 'a@example.com', to, start: () => message });
}

/** A promise that the test resolves. */
function gate(): { passed: Promise<void>; open: () => void } {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

/** Sends `count` messages at once. */
function sendMany(pool: SmtpPool, count: number): Promise<Ended[]> {
  return Promise.all(Array.from({ length: count }, (_, number) => send(pool, `b${number}@example.com`)));
}

function brief(ended: Ended): string {
  return ended === 'withdrawn' ? ended : `${ended.kind} ${ended.stage} ${ended.code}`;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(2);
}

/** A monotonic clock that the test advances. */
function clock() {
  let ahead = 0;
  return {
    monotonic: () => performance.now() + ahead,
    advance: (ms: number) => {
      ahead += ms;
    },
  };
}

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

t.test('RFC 2920: MAIL, RCPT and DATA go out together where PIPELINING is offered', async (t) => {
  const sink = await startSink(t, {
    mail: ({ pipelined }) => (pipelined.endsWith('DATA\r\n') ? '250 ok\r\n' : '550 not in one write\r\n'),
  });
  t.equal(brief(await send(openPool(t, sink))), 'accepted body 250');
});

t.test('without PIPELINING every command waits for the answer before it', async (t) => {
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

t.test('start is called right before MAIL FROM, and nothing is written if it returns null', async (t) => {
  const sink = await startSink(t);
  const pool = openPool(t, sink, { connections: 1 });
  const seen: number[] = [];
  const job = (to: string, goes: boolean) =>
    pool.send({
      from: 'a@example.com',
      to,
      start: () => {
        seen.push(sink.received.length);
        return goes ? MESSAGE : null;
      },
    });
  const ended = await Promise.all([
    job('1@x.com', true),
    job('2@x.com', false),
    job('3@x.com', true),
    job('4@x.com', false),
  ]);
  t.strictSame(ended.map(brief), ['accepted body 250', 'withdrawn', 'accepted body 250', 'withdrawn']);
  t.strictSame(
    seen,
    [0, 0, 0, 1],
    'each only when its envelope is written: with the end of data of the message before it',
  );
  t.notMatch(sink.commands.join(), /<[24]@x\.com>/);
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

t.test('a pipelined job does not wait for a slow reply to the message before it', async (t) => {
  let hangs = false;
  const sink = await startSink(t, {
    dot: async ({ connection }) => {
      if (hangs && connection === 1) return null;
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

t.test('a pipelined job that may no longer be sent is not mailed', async (t) => {
  const stuck = gate();
  const sink = await startSink(t, { dot: () => stuck.passed.then(() => '250 ok\r\n') });
  const pool = openPool(t, sink, { connections: 1, timeouts: { quit: 4_000 } });
  let goes = true;
  const maySend = () => goes;
  const job = (to: string) =>
    pool.send({ from: 'a@example.com', to, start: () => (goes ? MESSAGE : null), maySend, dotless: true });
  const ended = Promise.all([job('1@x.com'), job('2@x.com'), job('3@x.com')]);
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
  'a relay that refuses or closes on what stands behind a dot gets its envelopes alone, and loses nothing',
  async (t) => {
    for (const answer of ['554 5.5.0 synchronization error\r\n', DROP] as const) {
      let isBehind = false;
      const sink = await startSink(t, {
        dot: ({ pipelined }) => {
          isBehind = pipelined !== '';
          return '250 ok\r\n';
        },
        mail: () => {
          const said = isBehind ? answer : '250 ok\r\n';
          isBehind = false;
          return said;
        },
      });
      const pool = openPool(t, sink, { connections: 1 });
      t.strictSame((await sendMany(pool, 30)).map(brief), Array(30).fill('accepted body 250'));
      t.equal(sink.connections, 2, 'learnt from the first');
    }
  },
);

t.test(
  'a relay that forgets what stands behind a dot costs one wait, and gets its envelopes alone from then on',
  async (t) => {
    const sink = await startSink(t, { forgetsBehindDot: true });
    const pool = openPool(t, sink, { connections: 1, timeouts: { mail: SOON } });
    const ended = (await sendMany(pool, 6)).map(brief);
    t.strictSame(ended, Array(6).fill('accepted body 250'));
    t.equal(sink.connections, 2, 'given up once for its silence');
  },
);

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

t.test('what a refusal at each stage means; the next message is sent', async (t) => {
  const cases: [keyof Script, string, string][] = [
    ['mail', '450 4.2.0 later\r\n', 'deferred mail 450'],
    ['mail', '421 4.3.2 closing\r\n', 'deferred mail 421'],
    ['mail', '550 5.7.1 sender refused\r\n', 'held mail 550'],
    ['mail', '530 5.7.0 authenticate first\r\n', 'held mail 530'],
    ['rcpt', '450 4.2.1 busy\r\n', 'deferred rcpt 450'],
    ['rcpt', '421 4.3.2 closing\r\n', 'deferred rcpt 421'],
    ['rcpt', '550-5.1.1 no\r\n550 5.1.1 such user\r\n', 'refused rcpt 550'],
    ['data', '451 4.3.0 later\r\n', 'deferred data 451'],
    ['data', '421 4.3.2 closing\r\n', 'deferred data 421'],
    ['data', '554 5.6.0 no\r\n', 'refused data 554'],
    ['data', '250 2.0.0 what?\r\n', 'deferred data 250'],
    ['dot', '452 4.3.1 full\r\n', 'deferred body 452'],
    ['dot', '421 4.3.2 closing\r\n', 'deferred body 421'],
    ['dot', '554 5.7.1 spam\r\n', 'refused body 554'],
    ['dot', '354 what?\r\n', 'deferred body 354'],
  ];
  for (const offers of [undefined, NO_PIPELINING]) {
    for (const [stage, answer, expected] of cases) {
      const name = `${expected} ${offers ? 'in turn' : 'pipelined'}`;
      const once: Answer = ({ connection, time }) => (connection === 1 && time === 2 ? answer : usual(stage));
      const sink = await startSink(t, { [stage]: once, ...(offers && { offers }) });
      const pool = openPool(t, sink, { connections: 1 });
      const ended = await sendMany(pool, 4);
      // A relay may refuse a pipelined envelope because of the pipelining, so such a job is sent once more. So is a job at
      // which the relay closes a session that worked before: that says nothing about the job.
      const ends = answer.startsWith('421') && stage !== 'dot';
      const retried = ends || (stage === 'mail' && answer.startsWith('5') && !offers);
      t.equal(brief(ended[1] ?? 'withdrawn'), retried ? 'accepted body 250' : expected, name);
      t.equal(sink.received.length, stage === 'dot' ? 4 : accepted(ended).length, `${name}: nothing else arrives`);
      t.equal(accepted(ended).length, retried ? 4 : 3, `${name}: the others get through`);
      const unsafe = stage === 'mail' && !offers;
      const astray = (stage === 'data' && answer.startsWith('2')) || answer.startsWith('354');
      const closes = answer.startsWith('421') || unsafe || astray || retried;
      t.equal(sink.connections, closes ? 2 : 1, `${name}: the connection is kept where it can be`);
    }
  }
});

/** The recipients b0, b1, … whose messages were accepted. */
function accepted(ended: Ended[]): string[] {
  return ended
    .flatMap((one, number) => (one !== 'withdrawn' && one.kind === 'accepted' ? [`b${number}@example.com`] : []))
    .sort();
}

function usual(stage: keyof Script): string {
  return stage === 'data' ? '354 go ahead\r\n' : '250 2.0.0 ok\r\n';
}

t.test('RSET clears an envelope without a message, together with the next command or before it', async (t) => {
  for (const offers of [['PIPELINING'], NO_PIPELINING]) {
    const sink = await startSink(t, {
      offers,
      rcpt: ({ time }) => (time === 1 ? '550 5.1.1 no\r\n' : '250 ok\r\n'),
      data: ({ time }) => (time === 1 && offers.includes('PIPELINING') ? '503 5.5.1 no recipients\r\n' : '354 go\r\n'),
    });
    await sendMany(openPool(t, sink, { connections: 1 }), 3);
    const verbs = sink.commands.map((line) => line.slice(0, 4)).filter((verb) => verb !== 'EHLO');
    const first = offers.includes('PIPELINING') ? ['MAIL', 'RCPT', 'DATA'] : ['MAIL', 'RCPT'];
    t.strictSame(verbs, [...first, 'RSET', 'MAIL', 'RCPT', 'DATA', 'MAIL', 'RCPT', 'DATA']);
  }
});

t.test('a relay that refuses RSET loses the connection, not the message', async (t) => {
  const sink = await startSink(t, {
    rcpt: ({ connection }) => (connection === 1 ? '550 5.1.1 no\r\n' : '250 ok\r\n'),
    data: ({ connection }) => (connection === 1 ? '503 5.5.1 no\r\n' : '354 go\r\n'),
    rset: '500 what?\r\n',
  });
  const ended = await sendMany(openPool(t, sink, { connections: 1 }), 2);
  t.strictSame(ended.map(brief), ['refused rcpt 550', 'accepted body 250']);
});

t.test('RFC 2920 3.1: if DATA is accepted without a recipient, the end of data alone is sent', async (t) => {
  const dots: string[] = [];
  const sink = await startSink(t, {
    rcpt: ({ time }) => (time === 1 ? '550 5.1.1 no\r\n' : '250 ok\r\n'),
    dot: ({ time }) => {
      dots.push(`${time}: ${sink.received.length}`);
      return time === 1 ? '554 5.5.1 no valid recipients\r\n' : '250 ok\r\n';
    },
  });
  const ended = await sendMany(openPool(t, sink, { connections: 1 }), 2);
  t.strictSame(ended.map(brief), ['refused rcpt 550', 'accepted body 250']);
  t.strictSame(dots, ['1: 0', '2: 1'], 'the first message is empty');
  t.equal(sink.connections, 1);
});

t.test('the same when MAIL is refused and the rest with it', async (t) => {
  const sink = await startSink(t, {
    mail: ({ time }) => (time === 1 ? '550 5.7.1 no\r\n' : '250 ok\r\n'),
    rcpt: ({ time }) => (time === 1 ? '503 5.5.1 MAIL first\r\n' : '250 ok\r\n'),
  });
  const ended = await sendMany(openPool(t, sink, { connections: 1 }), 2);
  t.strictSame(ended.map(brief), ['held mail 550', 'accepted body 250']);
  t.equal(sink.received.length, 1);
});

t.test('a refusal stands, even if the connection is lost before the rest is answered', async (t) => {
  const sink = await startSink(t, { rcpt: '550 5.1.1 no\r\n', data: DROP });
  t.equal(brief(await send(openPool(t, sink))), 'refused rcpt 550');
});

t.test('no end of data is sent if it would mail an empty message to somebody', async (t) => {
  const sink = await startSink(t, {
    mail: ({ connection }) => (connection === 1 ? '550 5.7.1 no\r\n' : '250 ok\r\n'),
    dot: ({ connection }) => {
      if (connection === 1) t.fail('a dot came');
      return '250 ok\r\n';
    },
  });
  const ended = await sendMany(openPool(t, sink, { connections: 1 }), 2);
  t.strictSame(ended.map(brief), ['held mail 550', 'accepted body 250']);
  t.equal(sink.connections, 2);
});

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

t.test('garbage, 64 kB replies and long multi-line replies at every stage', async (t) => {
  const long = (code: number) => `${code} ${'x'.repeat(65_000)}\r\n`;
  const many = (code: number) => `${`${code}-blah\r\n`.repeat(500)}${code} end\r\n`;
  const stages: [keyof Script, string, number][] = [
    ['greeting', 'connect', 220],
    ['ehlo', 'connect', 250],
    ['mail', 'mail', 250],
    ['rcpt', 'rcpt', 250],
    ['data', 'data', 354],
    ['dot', 'body', 250],
  ];
  for (const [point, stage, code] of stages) {
    const sink = await startSink(t, { [point]: '\u0000\u0001\u0002 GET / HTTP/1.1\r\n' });
    const pool = openPool(t, sink);
    t.equal(brief(await send(pool)), `deferred ${stage} 0`, `garbage at ${point}`);
    for (const answer of [long(code), many(code)]) {
      const patient = await startSink(t, { [point]: answer });
      const ended = await sendMany(openPool(t, patient, { connections: 1 }), 2);
      t.strictSame(ended.map(brief), ['accepted body 250', 'accepted body 250'], `${answer.length} bytes at ${point}`);
    }
    const endless = await startSink(t, { [point]: '250-more\r\n'.repeat(30_000) });
    t.equal(brief(await send(openPool(t, endless))), `deferred ${stage} 0`, `endless at ${point}`);
  }
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

t.test('421 on connect: the pool works with the connections that the relay accepts', async (t) => {
  const sink = await startSink(t, { most: 3, dot: () => sleep(1).then(() => '250 ok\r\n') });
  const pool = openPool(t, sink, { connections: 20 });
  const ended = await sendMany(pool, 200);
  t.equal(accepted(ended).length, 200);
  t.ok(sink.connections < 12, `${sink.connections} connections were tried`);
  t.ok(pool.capacity > 0);
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

t.test('a 421 on a used connection, or its silent end, costs the message only a new connection', async (t) => {
  let starts = 0;
  const start = () => {
    starts++;
    return MESSAGE;
  };
  const job = { from: 'a@example.com', to: 'b@example.com', start };
  const sink = await startSink(t, {
    mail: ({ time }) => (time > 2 ? '421 4.7.0 enough for one connection\r\n' : '250 ok\r\n'),
  });
  const pool = openPool(t, sink, { connections: 1 });
  for (let i = 0; i < 5; i++) t.equal(brief(await pool.send(job)), 'accepted body 250');
  t.equal(starts, 7, 'asked anew for the two that moved');
  t.equal(sink.connections, 3);
  sink.script = { mail: ({ time }) => (time > 1 ? DROP : '250 ok\r\n') };
  for (let i = 0; i < 3; i++) t.equal(brief(await pool.send(job)), 'accepted body 250');
  t.equal(sink.received.length, 8);
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
      t.equal(pool.capacity, 0, 'nothing is asked for meanwhile');
      t.ok(pool.retryIn > 0);
      time.advance(61_000);
      t.equal(pool.capacity, 1, 'then one may try');
    }
    t.ok(sink.connections <= 20 + 4);
  }
});

t.test('a relay that is down: waiting jobs are deferred at connect, start is never called', async (t) => {
  const sink = await startSink(t);
  const time = clock();
  const pool = openPool(t, sink, { monotonic: time.monotonic });
  const { port } = sink;
  await sink.close();
  const start = () => {
    t.fail('nothing can start');
    return null;
  };
  const job = { from: 'a@example.com', to: 'b@example.com', start };
  const ended = await Promise.all([pool.send(job), pool.send(job)]);
  t.strictSame(ended.map(brief), ['deferred connect 0', 'deferred connect 0']);
  t.match(ended[0], { reply: new RegExp(`127.0.0.1:${port}: .*ECONNREFUSED`) });
  t.equal(brief(await pool.send(job)), 'deferred connect 0', 'at once while it pauses');
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
    await until(() => pool.sockets === 0);
    await send(pool);
    t.ok(pool.retryIn <= 1_000);
  },
);

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

t.test('failover: the next relay takes over, and the first gets its mail back after a while', async (t) => {
  const time = clock();
  const failures: string[] = [];
  const first = await startSink(t, { greeting: '421 4.3.2 not now\r\n' });
  const second = await startSink(t);
  const pool = openPool(t, [first, second], {
    connections: 2,
    monotonic: time.monotonic,
    timeouts: { idle: 1e9 },
    onRelayFailure: (relay, outcome) => failures.push(`${relay} ${brief(outcome)}`),
  });
  t.equal(accepted(await sendMany(pool, 20)).length, 20);
  t.strictSame([first.received.length, second.received.length], [0, 20]);
  t.strictSame(failures, [`127.0.0.1:${first.port} deferred connect 421`]);

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

t.test('RFC 5321 3.2: HELO for a relay that does not know EHLO', async (t) => {
  const sink = await startSink(t, { ehlo: '502 5.5.1 what?\r\n' });
  t.equal(brief(await send(openPool(t, sink))), 'accepted body 250');
  t.strictSame(sink.commands.slice(0, 3), ['EHLO [127.0.0.1]', 'HELO [127.0.0.1]', 'MAIL FROM:<a@example.com>']);
  sink.script.helo = '550 5.7.1 go away\r\n';
  t.equal(brief(await send(openPool(t, sink))), 'held connect 550');
});

t.test('RFC 5321 4.1.4: EHLO gives a full domain name, and our address instead of anything else', async (t) => {
  for (const [name, said] of [
    ['mail.example.com', 'mail.example.com'],
    ['localhost', '[127.0.0.1]'],
    ['a.com\r\nRSET', '[127.0.0.1]'],
  ]) {
    const sink = await startSink(t);
    await send(openPool(t, sink, { name: name ?? '' }));
    t.equal(sink.commands[0], `EHLO ${said}`);
  }
});

t.test('RFC 1870: SIZE is sent if offered, and no larger message is', async (t) => {
  const sink = await startSink(t, { offers: ['PIPELINING', '8BITMIME', 'SIZE 100'] });
  const pool = openPool(t, sink, { connections: 1 });
  await send(pool);
  t.strictSame(
    sink.commands.filter((line) => line.startsWith('MAIL')),
    [`MAIL FROM:<a@example.com> SIZE=${MESSAGE.bytes.length}`],
  );
  const written = sink.commands.length;
  t.match(await send(pool, 'b@example.com', MailData.of('x'.repeat(101))), {
    kind: 'held',
    stage: 'mail',
    code: 0,
    reply: /101 bytes.*100/,
  });
  sink.script.offers = ['SIZE'];
  const plain = openPool(t, sink);
  t.equal(
    brief(await send(plain, 'b@example.com', MailData.of('x'.repeat(200_000)))),
    'accepted body 250',
    'SIZE without a number sets no limit',
  );
  t.strictSame(
    sink.commands.slice(written).filter((line) => line.startsWith('MAIL')),
    ['MAIL FROM:<a@example.com> SIZE=200000'],
  );
});

t.test('an address that would break out of its command is never written', async (t) => {
  const sink = await startSink(t);
  const pool = openPool(t, sink);
  for (const to of [
    '',
    'a b@x.com',
    'a@x.com>\r\nRCPT TO:<c@x.com',
    'a@x.com>',
    'a@x.com\n',
    'ü@x.com',
    'a@x.com\u0000',
  ]) {
    t.equal(brief(await send(pool, to)), 'refused rcpt 0', JSON.stringify(to));
    const sender = pool.send({ from: `${to}\r`, to: 'b@x.com', start: () => MESSAGE });
    t.equal(brief(await sender), 'held mail 0', JSON.stringify(to));
  }
  t.strictSame(sink.commands, ['EHLO [127.0.0.1]']);
  t.equal(brief(await pool.send({ from: '', to: 'b@x.com', start: () => MESSAGE })), 'accepted body 250');
  t.match(sink.commands[1], /^MAIL FROM:<> /);
});

t.test('an unused connection is closed with QUIT after a while, a used one stays open', async (t) => {
  const sink = await startSink(t);
  const pool = openPool(t, sink, { timeouts: { idle: SOON } });
  await send(pool);
  await send(pool);
  t.equal(sink.connections, 1);
  await until(() => pool.sockets === 0);
  t.equal(sink.quits, 1);
  t.equal(brief(await send(pool)), 'accepted body 250');
});

t.test('the connection to a relay that ignores QUIT is closed anyway', async (t) => {
  const sink = await startSink(t, { quit: null });
  const pool = openPool(t, sink, { timeouts: { idle: SOON, quit: SOON } });
  await send(pool);
  await until(() => pool.sockets === 0);
  t.equal(sink.quits, 1);
});

t.test('a relay that closes an unused connection, or sends a reply on it, does no harm', async (t) => {
  const sink = await startSink(t);
  const pool = openPool(t, sink);
  await send(pool);
  sink.sayToAll('421 4.4.2 idle too long\r\n');
  await until(() => pool.sockets === 0);
  t.equal(brief(await send(pool)), 'accepted body 250');
  sink.dropAll();
  await until(() => pool.sockets === 0);
  t.equal(brief(await send(pool)), 'accepted body 250');
});

t.test('close withdraws waiting jobs, finishes those in progress and sends QUIT', async (t) => {
  const stuck = gate();
  const sink = await startSink(t, { dot: () => stuck.passed.then(() => '250 ok\r\n') });
  const pool = openPool(t, sink, { connections: 2 });
  const ended = sendMany(pool, 6);
  await until(() => sink.received.length === 2);
  const begun = pool.active;
  t.ok(begun >= 2 && begun <= 4, 'two messages, and envelopes behind them');
  t.strictSame([pool.pending, pool.capacity], [6 - begun, 0]);
  const closed = pool.close(10_000);
  t.equal(await send(pool), 'withdrawn', 'nothing new is taken');
  stuck.open();
  await closed;
  t.strictSame((await ended).map(brief).sort(), [
    ...Array(begun).fill('accepted body 250'),
    ...Array(6 - begun).fill('withdrawn'),
  ]);
  t.equal(sink.quits, 2);
  t.equal(pool.sockets, 0);
});

t.test('a job not finished when close gives up has an uncertain outcome', async (t) => {
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

t.test('withdraw ends only jobs that have not started', async (t) => {
  const stuck = gate();
  const sink = await startSink(t, { dot: () => stuck.passed.then(() => '250 ok\r\n') });
  const pool = openPool(t, sink, { connections: 1 });
  const ended = sendMany(pool, 5);
  await until(() => sink.received.length === 1);
  pool.withdraw();
  stuck.open();
  t.strictSame((await ended).map(brief), [...Array(2).fill('accepted body 250'), ...Array(3).fill('withdrawn')]);
  t.equal(brief(await send(pool)), 'accepted body 250', 'the pool goes on');
});

t.test('capacity is the number of free connections plus what is sent in 100 ms', async (t) => {
  const time = clock();
  const sink = await startSink(t);
  const pool = openPool(t, sink, { connections: 5, monotonic: time.monotonic });
  t.equal(pool.capacity, 5);
  const ended = sendMany(pool, 3);
  t.equal(pool.capacity, 2);
  await ended;
  await sendMany(pool, 500);
  time.advance(100);
  await send(pool);
  t.ok(pool.capacity > 5, 'more than there are connections once messages flow');
  time.advance(1_000);
  t.equal(pool.capacity, 5, 'forgotten when nothing flows');
});
