/** What each reply of a relay means for the mail, and which commands follow it. */
import t from 'tap';
import { accepted, brief, NO_PIPELINING, openPool, send, sendMany } from '../../../support/smtp/pools.ts';
import { type Answer, DROP, type Script, startSink } from '../../../support/smtp/scripted-relay.ts';

function usual(stage: keyof Script): string {
  return stage === 'data' ? '354 go ahead\r\n' : '250 2.0.0 ok\r\n';
}

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
      // A relay may refuse a pipelined envelope because of the pipelining, so such a mail is sent once more. So is a mail at
      // which the relay closes a session that worked before: that says nothing about the mail.
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

t.test('if DATA is accepted without a sender and a recipient, the end of data alone is sent too', async (t) => {
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

t.test('no end of data is sent if it would send somebody an empty message', async (t) => {
  const sink = await startSink(t, {
    mail: ({ connection }) => (connection === 1 ? '550 5.7.1 no\r\n' : '250 ok\r\n'),
    dot: ({ connection }) => {
      if (connection === 1) t.fail('an end of data came');
      return '250 ok\r\n';
    },
  });
  const ended = await sendMany(openPool(t, sink, { connections: 1 }), 2);
  t.strictSame(ended.map(brief), ['held mail 550', 'accepted body 250']);
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
