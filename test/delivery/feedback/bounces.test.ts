/** Bounces: the return path, the meaning of refusals, returned mail, and the listener that receives it. */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import fc from 'fast-check';
import nodemailer from 'nodemailer';
import t, { type Test } from 'tap';
import { classify, classifyFinal, readRefusal } from '../../../src/delivery/feedback/bounces/classify.ts';
import { Visitors } from '../../../src/delivery/feedback/bounces/connection-limits.ts';
import {
  type BounceListenerOptions,
  type ReturnedMail,
  startBounceListener,
} from '../../../src/delivery/feedback/bounces/listener.ts';
import { type BounceReport, parseBounce } from '../../../src/delivery/feedback/bounces/parse-bounce.ts';
import { sanitizeText } from '../../../src/delivery/feedback/bounces/sanitize.ts';
import { type KnownDeliveries, parseReturnPath, returnPath } from '../../../src/delivery/links/return-paths.ts';
import { expected } from './corpus/expected.ts';

const SECRET = 'corpus secret';
const DOMAIN = 'bounces.letters.example';
const EMAIL = 'anna@example.org';
/** A database in which every delivery goes to this address, and deliveries up to 1000 are from earlier releases. */
const KNOWN: KnownDeliveries = { findEmail: () => EMAIL, unsignedUpTo: 1000 };
const pathOf = (id: number, base?: string) => returnPath(SECRET, { id, email: EMAIL }, DOMAIN, base);
const CORPUS = new URL('corpus/', import.meta.url);

const mails = readdirSync(CORPUS)
  .filter((file) => file.endsWith('.eml'))
  .map((file) => ({ name: file.slice(0, -'.eml'.length), raw: readFileSync(new URL(file, CORPUS)) }));

function withCrlf(raw: Buffer): Buffer {
  return Buffer.from(raw.toString('latin1').replaceAll('\n', '\r\n'), 'latin1');
}

function toOf(raw: Buffer): string {
  return /^To: (.*)$/m.exec(raw.toString('latin1'))?.[1] ?? '';
}

/** The form of `Expected.recipients`. */
function recipientsOf(report: BounceReport): string[] {
  if (report.kind === 'complaint') return report.recipient === null ? [] : [report.recipient];
  if (report.kind !== 'status') return [];
  return report.recipients.map(
    ({ kind, recipient, status, verdict }) => `${kind} ${recipient} ${status} ${verdict?.kind ?? null}`,
  );
}

function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (error: unknown) => error,
  );
}

const deliveryIds = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

t.test('return path', (t) => {
  t.test('it works', async (t) => {
    const address = pathOf(101);
    t.match(address, /^bounce\+2t\.[a-z2-7]{16}@bounces\.letters\.example$/);
    t.equal(parseReturnPath([SECRET], KNOWN, address), 101);
  });

  t.test('one made for another address is invalid, even if its delivery id was assigned again', async (t) => {
    const address = pathOf(2000);
    t.equal(parseReturnPath([SECRET], KNOWN, address), 2000);
    t.equal(parseReturnPath([SECRET], { ...KNOWN, findEmail: () => 'bob@example.org' }, address), null);
    t.equal(
      parseReturnPath([SECRET], { ...KNOWN, findEmail: () => undefined }, address),
      null,
      'nor does one of nobody',
    );
  });

  t.test(
    'one of an earlier release, which does not sign the address, stays valid for the ids of its time',
    async (t) => {
      const address = 'bounce+2t.c33zje3pjm6gmtac@bounces.letters.example';
      t.equal(parseReturnPath([SECRET], KNOWN, address), 101);
      t.equal(parseReturnPath([SECRET], { ...KNOWN, unsignedUpTo: 100 }, address), null);
    },
  );

  t.test('it fits a local part of 64 characters and comes back in any case, by any base and domain', async () => {
    const bases = fc.constantFrom('bounce', 'b', 'mail.returns_to-us', 'a'.repeat(35));
    fc.assert(
      fc.property(deliveryIds, bases, fc.infiniteStream(fc.boolean()), (id, base, raised) => {
        const address = pathOf(id, base);
        const shuffled = Array.from(address, (char) => (raised.next().value ? char.toUpperCase() : char)).join('');
        return address.indexOf('@') <= 64 && parseReturnPath(['newer', SECRET], KNOWN, shuffled) === id;
      }),
    );
  });

  t.test('a forged one is invalid: one character changed, another id, another secret', async () => {
    const characters = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz234567+.@ \n');
    fc.assert(
      fc.property(deliveryIds, deliveryIds, fc.nat(), characters, (id, other, place, char) => {
        const address = pathOf(id);
        const local = address.slice(0, address.indexOf('@'));
        const at = 'bounce+'.length + (place % (local.length - 'bounce+'.length));
        const changed = `${local.slice(0, at)}${char}${local.slice(at + 1)}@${DOMAIN}`;
        const swapped = address.replace(`+${id.toString(36)}.`, `+${other.toString(36)}.`);
        return (
          (changed === address || parseReturnPath([SECRET], KNOWN, changed) === null) &&
          (id === other || parseReturnPath([SECRET], KNOWN, swapped) === null) &&
          parseReturnPath(['another secret'], KNOWN, address) === null &&
          parseReturnPath([], KNOWN, address) === null
        );
      }),
    );
  });

  t.test('any other text is invalid', async (t) => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => parseReturnPath([SECRET], KNOWN, text) === null));
    const address = pathOf(7);
    for (const text of [
      '',
      '@',
      address.replace('+', '+0'),
      `${address} `,
      `<${address}>`,
      'x'.repeat(1e6),
      '+'.repeat(1e6),
    ]) {
      t.equal(parseReturnPath([SECRET], KNOWN, text), null, text.slice(0, 60));
    }
  });

  t.test('a wrong id or base is a programming error', async (t) => {
    for (const id of [0, -1, 1.5, Number.NaN, 2 ** 53]) t.throws(() => pathOf(id), RangeError);
    for (const base of ['', 'Bounce', 'a b', 'a+b', 'a@b', 'a'.repeat(36)]) {
      t.throws(() => pathOf(1, base), RangeError, base);
    }
  });
  t.end();
});

t.test('a refusal', (t) => {
  const judgements: [string, string][] = [
    ['550 5.1.1 <a@b.example>: User unknown', 'bounce'],
    ['550 5.1.2 Bad destination system', 'bounce'],
    ['553 5.1.3 Bad address syntax', 'bounce'],
    ['550 5.1.6 Has moved', 'bounce'],
    ['550 5.1.10 RecipientNotFound', 'bounce'],
    ['556 5.1.10 Null MX', 'bounce'],
    ['550 5.2.1 Mailbox disabled', 'bounce'],
    ['550 5.7.1 Rejected', 'failed'],
    ['550 5.7.1 User unknown', 'failed'],
    ['550 5.7.26 Not authenticated', 'failed'],
    ['552 5.2.2 Mailbox full', 'failed'],
    ['552 5.3.4 Too big', 'failed'],
    ['550 5.1.8 Sender domain not found', 'failed'],
    ['550 5.4.4 Host or domain name not found', 'bounce'],
    ['550 5.4.4 Unable to route', 'failed'],
    ['550 5.4.1 Recipient address rejected: Access denied.', 'bounce'],
    ['554 Recipient address rejected: Access denied', 'failed'],
    ['550 #5.1.0 Address rejected.', 'bounce'],
    // The server uses the code for everything; the text is specific.
    ['550 5.1.1 Blocked using spam list', 'failed'],
    ['550 5.1.1 <spam@spam.example>: User unknown', 'bounce'],
    ['550 5.2.1 This user receives mail at a rate that prevents more', 'failed'],
    ['550 5.1.1 Mailbox over quota', 'failed'],
    ['550 4.1.1 No such user', 'failed'],
    // Without an enhanced code, only well-known wordings count.
    ['550 No such user here', 'bounce'],
    ['550 Unknown user', 'bounce'],
    ['550 unknown or illegal alias: a@b.example', 'bounce'],
    ['550 <a@b.example>: Recipient address rejected: User unknown in relay recipient table', 'failed'],
    ['550 <a@b.example>: Recipient address rejected: User unknown in local recipient table', 'bounce'],
    ["554 delivery error: dd This user doesn't have a b.example account (a@b.example) [0]", 'bounce'],
    ['550 The account has been disabled', 'bounce'],
    ['550 Unrouteable address', 'bounce'],
    ['556 Takes no mail', 'bounce'],
    ['550', 'failed'],
    ['550 Requested action not taken: mailbox unavailable', 'failed'],
    ['550 Sender address does not exist', 'failed'],
    ['554 Message refused by policy, user unknown', 'failed'],
    ['552 Exceeded storage allocation', 'failed'],
    ['550 Helo command rejected: host unknown', 'failed'],
    ['554 Transaction failed', 'failed'],
    ['452 4.2.2 Mailbox full', 'deferred'],
    ['450 4.1.1 User unknown', 'deferred'],
    ['451 4.7.1 Greylisted', 'deferred'],
    ['421 Too busy', 'deferred'],
    ['Connection reset', 'deferred'],
  ];
  t.test(
    'suppresses the address only if it clearly says so; 5.7.x, a full mailbox and unclear refusals never do',
    async (t) => {
      for (const [reply, kind] of judgements) t.equal(classify(readRefusal(reply)).kind, kind, reply);
    },
  );

  t.test('has a reason for people, which never contains the reply', async (t) => {
    const reasons = new Set(judgements.map(([reply]) => classify(readRefusal(reply)).reason));
    for (const reason of reasons) t.match(reason, /^The [^<>@\d]{10,100}\.$/);
    t.equal(classify(readRefusal('450 4.7.1 Greylisted')).reason.includes('greylisting'), true);
  });

  t.test('with any text: 4xx is deferred, 5.7.x and 5.2.2 never bounce', async () => {
    const words = fc.constantFrom(
      'user',
      'unknown',
      'no',
      'such',
      'mailbox',
      'not',
      'found',
      'does',
      'exist',
      'spam',
      '<a@b>',
    );
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(words).map((all) => all.join(' ')),
    );
    const details = fc.integer({ min: 0, max: 999 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 599 }), details, details, texts, (code, subject, detail, reply) => {
        const { kind } = classify({ code, enhanced: `5.${subject}.${detail}`, reply });
        const final = classifyFinal({ code, enhanced: null, reply }).kind;
        if (code >= 400 && code < 500) return kind === 'deferred' && final === 'failed';
        if (subject === 7 || (subject === 2 && detail === 2)) return kind === 'failed' && final !== 'deferred';
        return kind !== 'deferred' && final !== 'deferred';
      }),
    );
  });
  t.end();
});

t.test('text from other servers is stored as one bounded line without markup and control characters', async () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 2000 }), (text) => {
      const inert = sanitizeText(text);
      return inert.length <= 500 && !/[<>\p{C}\p{Zl}\p{Zp}]/u.test(inert) && sanitizeText(inert) === inert;
    }),
  );
});

t.test('reports', (t) => {
  t.test('every mail of the corpus has an expectation', async (t) => {
    t.same(mails.map(({ name }) => name).sort(), Object.keys(expected).sort());
  });

  for (const { name, raw } of mails) {
    t.test(`${name} is parsed correctly, with either line end`, async (t) => {
      const {
        kind,
        delivery,
        from = '',
        recipients = [],
        verdict,
        reason,
        diagnostic = '',
        encloses,
      } = expected[name] ?? {};
      const report = await parseBounce({ raw: withCrlf(raw), from });
      t.same(await parseBounce({ raw, from }), report);
      t.equal(report.kind, kind);
      t.same(recipientsOf(report), recipients);
      t.equal(parseReturnPath([SECRET], KNOWN, toOf(raw)), delivery);
      if (report.kind === 'status') {
        t.equal(report.verdict?.kind ?? null, verdict ?? null);
        if (reason !== undefined) t.equal(report.verdict?.reason, reason);
        const [{ diagnostic: stored } = { diagnostic: '' }] = report.recipients;
        t.ok(stored.includes(diagnostic), stored);
      }
      if (report.kind === 'complaint') t.equal(parseReturnPath([SECRET], KNOWN, report.originalSender ?? ''), delivery);
      if (report.kind === 'status' || report.kind === 'complaint') {
        t.equal(report.originalMessageId, encloses ? `${delivery}.k7q2@letters.example` : null);
      }
    });
  }

  t.test('no markup and no terminal sequence of a mail survives', async (t) => {
    const mail = mails.find(({ name }) => name === 'markup-in-diagnostic');
    const stored = Object.values(await parseBounce({ raw: mail?.raw ?? Buffer.of(), from: '' }));
    t.notMatch(JSON.stringify(stored), /[<>]|\\u00|\u202e/);
  });

  t.test('a notice in plain text counts only from the null sender', async (t) => {
    for (const { raw } of mails.filter(({ name }) => /^(qmail|yahoo|exim-plain)/.test(name))) {
      t.not((await parseBounce({ raw, from: 'somebody@else.example' })).kind, 'status');
    }
  });

  t.test('an auto-reply is never a bounce, whatever it says', async () => {
    const marks = fc.constantFrom(
      'Auto-Submitted: auto-replied',
      'X-Autoreply: yes',
      'Precedence: auto_reply',
      'Precedence: junk',
    );
    const phrases = fc.constantFrom(
      'Hi. This is the qmail-send program',
      '\n\n',
      '<a@b.example>:\n',
      '550 5.1.1 User unknown',
      'Action: failed\n',
    );
    fc.assert(
      fc.asyncProperty(marks, fc.array(phrases), async (mark, body) => {
        const raw = Buffer.from(`Subject: Undelivered Mail\n${mark}\n\n${body.join('')}`);
        return (await parseBounce({ raw, from: '' })).kind === 'auto-reply';
      }),
    );
  });

  t.test('damaged mail neither throws nor yields long texts', async () => {
    const damages = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 40 }), fc.string({ unit: 'binary', maxLength: 20 })), {
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...mails), damages, async ({ raw }, cuts) => {
        let damaged = raw;
        for (const [place, length, text] of cuts) {
          const at = place % damaged.length;
          damaged = Buffer.concat([
            damaged.subarray(0, at),
            Buffer.from(text),
            damaged.subarray(at + length),
            Buffer.of(10),
          ]);
        }
        const stored = JSON.stringify(await parseBounce({ raw: damaged, from: '' }));
        return stored.length < 10_000 && !/[<>]/.test(stored);
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), async (bytes) => {
        return (await parseBounce({ raw: Buffer.from(bytes), from: '' })).kind === 'unknown';
      }),
    );
  });

  t.test('a hostile mail is parsed in part or not at all', async (t) => {
    const status = (fields: string, rest = '') =>
      `Content-Type: multipart/report; boundary=b\n\n--b\nContent-Type: message/delivery-status\n\n${fields}\n--b${rest}`;
    const group = (n: number) => `Final-Recipient: rfc822; r${n}@b.example\nAction: failed\nStatus: 5.1.1\n\n`;
    const bounces = Array.from({ length: 100_000 }, (_, n) => group(n)).join('');
    const nested = Array.from(
      { length: 10_000 },
      (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\n\n--b${n}\n`,
    ).join('');
    const cases: [string, string, string][] = [
      ['100 000 recipients', status(bounces), 'status'],
      [
        'a report with a mail of 10 MB behind it',
        status(group(1), `\n\n${'x'.repeat(70)}\n`.repeat(150_000)),
        'status',
      ],
      ['10 MB of line ends', '\n'.repeat(1e7), 'unknown'],
      ['10 MB in one line', 'x'.repeat(1e7), 'unknown'],
      ['10 MB in one field', status(`Action: failed\nDiagnostic-Code: ${'('.repeat(1e7)}`), 'status'],
      ['a header that never ends', `${'X: y\n'.repeat(1e6)}`, 'unknown'],
      ['a field folded a million times', `Subject: x\n${' y\n'.repeat(1e6)}`, 'unknown'],
      ['10 000 parts inside each other', nested, 'unknown'],
      ['a million empty parts', `Content-Type: multipart/mixed; boundary=b\n\n${'--b\n\n'.repeat(1e6)}`, 'unknown'],
      ['a million addresses', `To: ${'a@b,'.repeat(1e6)}\n\nx`, 'unknown'],
      ['a million failed addresses', `X-Failed-Recipients: ${'a@b,'.repeat(1e4)}\n\nx`, 'status'],
      ['a notice of a million paragraphs', `\nHi. This is the\n\n${'<a@b>:\nno\n\n'.repeat(1e6)}`, 'status'],
    ];
    for (const [what, mail, kind] of cases) {
      const report = await parseBounce({ raw: Buffer.from(mail), from: '' });
      t.equal(report.kind, kind, what);
      t.ok(recipientsOf(report).length <= 100 && JSON.stringify(report).length < 100_000, what);
    }
  });
  t.end();
});

t.test('the listener', (t) => {
  const PATIENT = { perAddress: 5, commands: 1000, idleMs: 60_000, lifetimeMs: 60_000 };
  const ours = pathOf(5);
  const listen = async (t: Test, options: Partial<BounceListenerOptions> = {}) => {
    const kept: ReturnedMail[] = [];
    const listener = await startBounceListener({
      host: '127.0.0.1',
      port: 0,
      accept: (rcpt) => parseReturnPath([SECRET], KNOWN, rcpt) !== null,
      onMail: async (mail) => void kept.push(mail),
      maxBytes: 100_000,
      keepBytes: 100_000,
      maxConnections: 5,
      limits: PATIENT,
      ...options,
    });
    t.teardown(() => listener.close());
    const client = nodemailer.createTransport({ host: '127.0.0.1', port: listener.port, ignoreTLS: true });
    const send = (to: string[], raw: string | Buffer, from = '') => client.sendMail({ envelope: { from, to }, raw });
    return { ...listener, kept, send };
  };

  t.test('accepts a mail to one of our return paths, byte by byte, from the null sender', async (t) => {
    const { send, kept } = await listen(t);
    const raw = 'Subject: x\r\n\r\n.a line with a dot\r\n..\r\n\x80\xff\r\n';
    await send([ours.toUpperCase()], Buffer.from(raw, 'latin1'));
    t.equal(kept.length, 1);
    t.equal(kept[0]?.from, '');
    t.equal(parseReturnPath([SECRET], KNOWN, kept[0]?.rcpt ?? ''), 5);
    t.equal(kept[0]?.raw.toString('latin1'), raw);
  });

  t.test('accepts the corpus, and refuses the forged return path at RCPT', async (t) => {
    const { send, kept } = await listen(t);
    for (const { name, raw } of mails) {
      const sending = send([toOf(raw)], withCrlf(raw));
      if (expected[name]?.delivery === null) {
        t.match(await failureOf(sending), { responseCode: 550, response: /^550 5\.1\.1 / });
      } else {
        await sending;
      }
    }
    t.equal(kept.length, mails.length - 1);
    t.same(new Set(kept.map(({ rcpt }) => parseReturnPath([SECRET], KNOWN, rcpt))).size, mails.length - 1);
  });

  t.test('relays nothing, and accepts one recipient at a time', async (t) => {
    const { send, kept } = await listen(t);
    t.match(await failureOf(send(['somebody@elsewhere.example'], 'x', 'me@elsewhere.example')), { responseCode: 550 });
    const second = pathOf(6);
    const { rejected } = await send([ours, 'somebody@elsewhere.example', second], 'x');
    t.same(rejected, ['somebody@elsewhere.example', second]);
    t.same(
      kept.map(({ rcpt }) => rcpt),
      [ours],
    );
  });

  t.test('replies 250 only once the mail is stored', async (t) => {
    const order: string[] = [];
    const { send } = await listen(t, {
      onMail: async () => {
        for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
        order.push('kept');
      },
    });
    await send([ours], 'x').then(() => order.push('answered'));
    t.same(order, ['kept', 'answered']);
  });

  t.test('replies 451 if the mail could not be stored, so that it is sent again', async (t) => {
    const { send } = await listen(t, { onMail: () => Promise.reject(new Error('secret disk full')) });
    const failure = await failureOf(send([ours], 'x'));
    t.match(failure, { responseCode: 451, response: /^451 4\.3\.0 / });
    t.notMatch(failure, { response: /secret/ });
  });

  t.test('refuses a mail that is too large with 552, announced or not, and stores nothing of it', async (t) => {
    const { send, kept, port } = await listen(t);
    t.match(await failureOf(send([ours], 'x'.repeat(200_000))), { responseCode: 552 });
    const answers = await talk(port, [
      'MAIL FROM:<>',
      `RCPT TO:<${ours}>`,
      'DATA',
      `${'x\r\n'.repeat(100_000)}.`,
      'QUIT',
    ]);
    t.match(answers.at(-2), /^552 5\.3\.4 /);
    t.equal(kept.length, 0);
    await send([ours], 'y');
    t.equal(kept.length, 1);
  });

  t.test('offers and accepts neither AUTH nor STARTTLS', async (t) => {
    const { port } = await listen(t);
    const answers = await talk(port, ['AUTH PLAIN AGEAYg==', 'STARTTLS', 'QUIT']);
    t.notMatch(answers.join('\n'), /250[- ](AUTH|STARTTLS)/);
    t.match(answers.slice(-3), [/^500 /, /^500 /, /^221 /]);
  });

  t.test('refuses connections beyond its limit', async (t) => {
    const { port, send } = await listen(t, { maxConnections: 1 });
    const first = createConnection(port, '127.0.0.1');
    await new Promise((resolve) => first.once('data', resolve));
    t.match(await failureOf(send([ours], 'x')), { responseCode: 421 });
    const closed = new Promise((resolve) => first.once('close', resolve));
    first.end('QUIT\r\n').resume();
    await closed;
  });

  t.test('idle connections that send NOOP are closed, so that others can connect', async (t) => {
    const { port, send } = await listen(t, { maxConnections: 3, limits: { ...PATIENT, idleMs: 400 } });
    const ended = Array.from({ length: 3 }, () => untilEnded(port, (socket) => socket.write('NOOP\r\n')));
    for (const text of await Promise.all(ended)) t.match(text, /^421 .*No mail for too long\r\n$/m);
    t.match((await send([ours], 'x')).response, /^250 /);
  });

  t.test('a mail that never ends is cut off, even if bytes keep arriving', async (t) => {
    const { port, kept } = await listen(t, { limits: { ...PATIENT, idleMs: 1000, lifetimeMs: 400 } });
    const start = `EHLO client.example\r\nMAIL FROM:<>\r\nRCPT TO:<${ours}>\r\nDATA\r\n`;
    let said = '';
    const text = await untilEnded(port, (socket) => {
      if (said === '') socket.write(start);
      said = 'x';
      socket.write(said);
    });
    t.match(text, /^354 [\s\S]*^421 .*Connected for too long\r\n$/m);
    t.equal(kept.length, 0);
  });

  t.test('a connection has a maximum number of commands', async (t) => {
    const { port } = await listen(t, { limits: { ...PATIENT, commands: 20 } });
    const answers = await talk(port, Array(100).fill('RSET'));
    t.equal(answers.length, 22, 'greeting, EHLO, 19 resets and the end');
    t.match(answers.at(-1), /^421 .*Too many commands/m);
  });

  t.test('an address has a maximum number of connections, and can connect again once one is closed', async (t) => {
    const { port, send } = await listen(t, { limits: { ...PATIENT, perAddress: 1 } });
    const first = createConnection(port, '127.0.0.1');
    await new Promise((resolve) => first.once('data', resolve));
    t.match(await failureOf(send([ours], 'x')), { responseCode: 421, response: /your address/ });
    const closed = new Promise((resolve) => first.once('close', resolve));
    first.end('QUIT\r\n').resume();
    await closed;
    t.match((await send([ours], 'x')).response, /^250 /);
  });

  t.test('addresses of one IPv6 /64 network count as one', async (t) => {
    const visitors = new Visitors({ ...PATIENT, perAddress: 1 });
    const enter = (remoteAddress: string) =>
      visitors.connected({ id: remoteAddress, remoteAddress, send: () => undefined });
    t.strictSame(
      ['2001:db8:1:2::1', '2001:db8:1:2:ff::9', '2001:db8:1:3::1', '::1', '::2', '::ffff:10.0.0.1', '10.0.0.1'].map(
        enter,
      ),
      [true, false, true, true, false, true, false],
    );
  });

  t.test('no more of a mail is kept in memory than is parsed', async (t) => {
    const { send, kept } = await listen(t, { keepBytes: 20_000 });
    t.match((await send([ours], `begin${'x\r\n'.repeat(30_000)}`)).response, /^250 /);
    t.equal(kept[0]?.raw.length, 20_000);
    t.equal(kept[0]?.raw.buffer.byteLength, 20_000);
    t.match(kept[0]?.raw.toString(), /^begin/);
  });

  t.test('closing lets the current mail be stored and answered', async (t) => {
    let arrived: () => void = () => undefined;
    const inHand = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { send, close } = await listen(t, {
      onMail: () => {
        arrived();
        return gate;
      },
    });
    const sending = send([ours], 'x');
    await inHand;
    const closing = close();
    release();
    t.match((await sending).response, /^250 /);
    await closing;
    await t.rejects(send([ours], 'x'));
  });

  t.test('closing waits for the current mail even if its sender has disconnected', async (t) => {
    const order: string[] = [];
    const { port, close } = await listen(t, {
      onMail: async () => {
        client.destroy();
        for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
        order.push('kept');
      },
    });
    const client = createConnection(port, '127.0.0.1');
    await new Promise((resolve) => client.once('data', resolve));
    const left = new Promise((resolve) => client.once('close', resolve));
    client.write(`EHLO client.example\r\nMAIL FROM:<>\r\nRCPT TO:<${ours}>\r\nDATA\r\nx\r\n.\r\n`);
    await left;
    await close();
    order.push('closed');
    t.same(order, ['kept', 'closed']);
  });

  t.test('a port in use is an error at the start', async (t) => {
    const { port } = await listen(t);
    await t.rejects(listen(t, { port }), { code: 'EADDRINUSE' });
  });
  t.end();
});

/** Connects and repeats `act` every few milliseconds until the server closes; returns everything it sent. */
async function untilEnded(port: number, act: (socket: Socket) => void): Promise<string> {
  const socket = createConnection(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.setEncoding('latin1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  await once(socket, 'data');
  const acting = setInterval(() => act(socket), 5);
  await once(socket, 'end');
  clearInterval(acting);
  socket.destroy();
  return text;
}

/** Sends each line after EHLO and waits for its reply; returns all replies. */
async function talk(port: number, lines: string[]): Promise<string[]> {
  const socket = createConnection(port, '127.0.0.1');
  const answers: string[] = [];
  const pending = ['EHLO client.example', ...lines];
  socket.setEncoding('latin1');
  let text = '';
  for await (const chunk of socket) {
    text += chunk;
    if (!/^\d{3} .*\r\n$/m.test(text.slice(text.lastIndexOf('\n', text.length - 2) + 1))) continue;
    answers.push(text);
    text = '';
    const line = pending.shift();
    if (line !== undefined) socket.write(`${line}\r\n`);
  }
  return answers;
}
