/** The parts of the SMTP client that need no network: relays, replies, outcomes, dot-stuffing. */
import fc from 'fast-check';
import t from 'tap';
import { replyOutcome, withoutReply } from '../../../../src/delivery/transport/smtp/outcome.ts';
import { parseRelays, relayName } from '../../../../src/delivery/transport/smtp/relay-urls.ts';
import { type Reply, ReplyReader } from '../../../../src/delivery/transport/smtp/reply-reader.ts';
import { stuffDots } from '../../../../src/delivery/transport/smtp/session/message-writer.ts';
import { RFC_TIMEOUTS } from '../../../../src/delivery/transport/smtp/timeouts.ts';

t.test('SMTP_URL names a relay, with the usual ports', async (t) => {
  t.strictSame(parseRelays('smtp://u%40x.com:p%2Cw%20d@Mail.Example.com'), [
    {
      host: 'mail.example.com',
      port: 587,
      tls: 'required',
      verify: true,
      local: false,
      login: { user: 'u@x.com', password: 'p,w d' },
    },
  ]);
  t.strictSame(parseRelays('smtps://mail.example.com'), [
    { host: 'mail.example.com', port: 465, tls: 'implicit', verify: true, local: false, login: null },
  ]);
  t.match(parseRelays('smtp://[2001:db8::1]:25')[0], { host: '2001:db8::1', port: 25, local: false });
  t.equal(parseRelays('smtp://münchen.example')[0]?.host, 'xn--mnchen-3ya.example');
  t.equal(parseRelays('smtp://[2001:db8::1]:25').map(relayName)[0], '[2001:db8::1]:25');
});

t.test('SMTP_URL takes a list in order of preference', async (t) => {
  t.strictSame(parseRelays('smtp://a.example:25?tls=off, smtps://b.example/').map(relayName), [
    'a.example:25',
    'b.example:465',
  ]);
});

t.test(
  'TLS is required of remote hosts, taken where offered on this machine, and told otherwise by ?tls=',
  async (t) => {
    const tls = (url: string) => parseRelays(url).map((relay) => `${relay.tls} ${relay.verify}`)[0];
    t.equal(tls('smtp://mail.example.com'), 'required true');
    t.equal(tls('smtp://mail.example.com?tls=off'), 'off true');
    for (const host of ['localhost', '127.0.0.1', '127.3.2.1', '[::1]', 'mail.localhost']) {
      t.equal(tls(`smtp://${host}:25`), 'offered false', host);
      t.equal(tls(`smtp://${host}:25?tls=required`), 'required true', host);
      t.equal(tls(`smtp://u:p@${host}:25?tls=off`), 'off false', host);
      t.equal(tls(`smtps://${host}:465`), 'implicit false', host);
    }
    t.equal(tls('smtp://127.0.0.1.example.com'), 'required true', 'a name is not an address');
  },
);

t.test('an invalid SMTP_URL is one clear line that names the setting and the entry', async (t) => {
  const invalid = [
    '',
    'mail.example.com:25',
    'http://mail.example.com',
    'smtp://',
    'smtp://mail.example.com:99999',
    'smtp://mail.example.com:0',
    'smtp://mail.example.com/path',
    'smtp://mail.example.com#x',
    'smtp://mail.example.com?tls=maybe',
    'smtp://mail.example.com?tls=off&tls=off',
    'smtp://mail.example.com?pool=3',
    'smtps://mail.example.com?tls=off',
    'smtp://user@mail.example.com',
    'smtp://:pw@mail.example.com',
    'smtp://u:%zz@mail.example.com',
    'smtp://u:p%0d%0aRSET@mail.example.com',
    'smtp://ma%2Fil.example.com',
    'smtp://-x-',
  ];
  for (const url of invalid) {
    t.throws(() => parseRelays(url), /^SMTP_URL is invalid: entry 1: [^\n]+$/, url);
    t.throws(() => parseRelays(`smtp://good.example,${url}`), /^SMTP_URL is invalid: entry 2: /, url);
  }
  t.throws(
    () => parseRelays('smtp://u:p@mail.example.com?tls=off'),
    /plain text/,
    'a password never crosses the network in plain text',
  );
});

t.test('an invalid SMTP_URL never repeats the password', async (t) => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom(...'s3cr@:/?#%,[]\\ ') }), (noise) => {
      try {
        parseRelays(`smtp://user:canary${noise}canary@mail.example.com:25?tls=nonsense`);
        return false;
      } catch (error) {
        return error instanceof Error && error.message.startsWith('SMTP_URL') && !error.message.includes('canary');
      }
    }),
  );
  t.pass('no error held it');
});

t.test('replies are parsed the same however the network splits them', async (t) => {
  const text = fc.string({ maxLength: 40, unit: fc.constantFrom(...'aZ 5.-é') });
  const reply = fc.record({
    code: fc.integer({ min: 200, max: 599 }),
    lines: fc.array(text, { minLength: 1, maxLength: 4 }),
  });
  fc.assert(
    fc.property(
      fc.array(reply, { maxLength: 5 }),
      fc.array(fc.nat({ max: 300 }), { maxLength: 12 }),
      (replies, cuts) => {
        const bytes = Buffer.from(
          replies
            .map(({ code, lines }) =>
              lines.map((line, i) => `${code}${i === lines.length - 1 ? ' ' : '-'}${line}\r\n`).join(''),
            )
            .join(''),
          'latin1',
        );
        const read = readAll(bytes, cuts);
        t.strictSame(
          read,
          replies.map(({ code, lines }) => ({ code, text: lines.join('\n') })),
        );
      },
    ),
    { numRuns: 60 },
  );
});

t.test('a bare code is a reply, and so is a line that ends in LF alone', async (t) => {
  t.strictSame(readAll(Buffer.from('250\r\n250-\r\n250\r\n354 x\n')), [
    { code: 250, text: '' },
    { code: 250, text: '\n' },
    { code: 354, text: 'x' },
  ]);
});

t.test('bytes that are not a reply are recognized', async (t) => {
  for (const garbage of [
    'HTTP/1.1 400 Bad\r\n',
    '25 ok\r\n',
    '2500 ok\r\n',
    '150 ok\r\n',
    '699 ok\r\n',
    '250-a\r\n251 b\r\n',
    '\r\n',
    '250_ok\r\n',
  ]) {
    t.equal(readAll(Buffer.from(garbage)).at(-1)?.code, 0, JSON.stringify(garbage));
  }
  t.strictSame(
    readAll(Buffer.from('250 ok\r\ngarbage\r\n')).map((reply) => reply.code),
    [250, 0],
    'what came before stands',
  );
});

t.test('a reply of 64 kB is read, an endless one is not', async (t) => {
  t.equal(readAll(Buffer.from(`250 ${'x'.repeat(65_000)}\r\n`))[0]?.text.length, 65_000);
  t.equal(readAll(Buffer.alloc(200_000, 'x'))[0]?.code, 0, 'one endless line');
  t.equal(readAll(Buffer.from('250-more\r\n'.repeat(20_000)))[0]?.code, 0, 'endless lines');
});

t.test('RFC 5321 4.2.1, 4.3.2: the meaning of a reply depends on its stage', async (t) => {
  const kind = (stage: Parameters<typeof replyOutcome>[0], code: number) =>
    replyOutcome(stage, { code, text: '' }).kind;
  for (const stage of ['connect', 'tls', 'auth', 'mail', 'rcpt', 'data', 'body'] as const) {
    t.equal(kind(stage, 421), 'deferred', stage);
    t.equal(kind(stage, 450), 'deferred', stage);
    t.equal(kind(stage, 354), 'deferred', stage);
  }
  for (const stage of ['connect', 'tls', 'auth', 'mail'] as const) t.equal(kind(stage, 550), 'held', stage);
  for (const stage of ['rcpt', 'data', 'body'] as const) t.equal(kind(stage, 550), 'refused', stage);
  t.equal(kind('body', 250), 'accepted');
  t.equal(kind('data', 250), 'deferred', 'nothing is accepted before the end of data');
});

t.test('RFC 2034, 3463: the enhanced code is used if it agrees with the reply code', async (t) => {
  const enhanced = (code: number, text: string) => replyOutcome('rcpt', { code, text }).enhanced;
  t.equal(enhanced(550, '5.1.1 no such user'), '5.1.1');
  t.equal(enhanced(452, '4.2.2'), '4.2.2');
  t.equal(enhanced(550, '5.7.133 x'), '5.7.133');
  for (const text of ['4.1.1 x', '5.1 x', '5.1.1.1 x', '5.1.1x', 'no 5.1.1', '5.1111.1 x', ''])
    t.equal(enhanced(550, text), null, text);
  t.match(replyOutcome('rcpt', { code: 550, text: '5.1.1 The account\n5.1.1 does not exist' }), {
    code: 550,
    enhanced: '5.1.1',
    reply: '550 5.1.1 The account does not exist',
  });
});

t.test('a reply is kept as one printable line of bounded length', async (t) => {
  const reply = (text: string) => replyOutcome('rcpt', { code: 550, text }).reply;
  t.equal(reply('a\u0000b\u001b[31m\tc\nd'), '550 a b [31m c d');
  t.equal(reply(Buffer.from('größer').toString('latin1')), '550 größer');
  t.equal(reply('x'.repeat(70_000)).length, 1000);
  t.equal(withoutReply('deferred', 'connect', 'a\r\nb').reply, 'a b');
  fc.assert(
    fc.property(
      fc.string({ unit: fc.nat({ max: 0x2100 }).map((code) => String.fromCharCode(code)), maxLength: 300 }),
      (text) => !/[\p{Cc}\u2028\u2029]/u.test(reply(text)),
    ),
  );
});

t.test('RFC 5321 4.5.2: dots are doubled at the start of lines only', async (t) => {
  const untouched = Buffer.from('a.b\r\n..\r\n'.replace('..', 'x.'));
  t.equal(stuffDots(untouched), untouched, 'a message without such dots is not copied');
  t.equal(stuffDots(Buffer.from('.\r\n.a\r\nb.\r\n..\r\n')).toString(), '..\r\n..a\r\nb.\r\n...\r\n');
  t.equal(stuffDots(Buffer.from('a\n.\nb')).toString(), 'a\n..\nb', 'a bare line feed hides no end of message');
  fc.assert(
    fc.property(fc.array(fc.string({ unit: fc.constantFrom('.', 'a', 'é'), maxLength: 4 })), (lines) => {
      const message = Buffer.from(lines.map((line) => `${line}\r\n`).join(''));
      const stuffed = stuffDots(message).toString();
      t.notMatch(`\r\n${stuffed}`, /\r\n\.\r\n/);
      t.equal(stuffed.replace(/^\./gm, ''), message.toString());
    }),
    { numRuns: 60 },
  );
});

t.test('RFC 5321 4.5.3.2: the waits are at least what the standard asks for', async (t) => {
  const minutes = Object.entries(RFC_TIMEOUTS).map(([name, ms]) => [name, ms / 60_000]);
  t.match(Object.fromEntries(minutes), { greeting: 5, mail: 5, rcpt: 5, data: 2, block: 3, endOfData: 10 });
});

/** Feeds `bytes` to a reader in chunks of the given sizes, repeated as needed; without sizes in one chunk. */
function readAll(bytes: Buffer, sizes: number[] = []): Reply[] {
  const reader = new ReplyReader();
  const replies: Reply[] = [];
  let at = 0;
  for (let piece = 0; at < bytes.length; piece++) {
    const size = Math.max(1, sizes[piece % (sizes.length || 1)] ?? bytes.length);
    reader.feed(bytes.subarray(at, at + size));
    at += size;
    for (let reply = reader.next(); reply !== null; reply = reader.next()) {
      replies.push(reply);
      if (reply.code === 0) return replies;
    }
  }
  return replies;
}
