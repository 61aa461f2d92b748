/** What a returned mail reports: every mail of the corpus, notices in plain text, damaged and hostile mail. */
import fc from 'fast-check';
import t from 'tap';
import { type BounceReport, parseBounce, parseRoleMail } from '../../../src/delivery/feedback/bounces/parse-bounce.ts';
import { parseReturnPath } from '../../../src/delivery/links/return-paths.ts';
import { KNOWN, mails, SECRET, toOf, withCrlf } from '../../support/mails/returned-mails.ts';
import { expected } from './corpus/expected.ts';

/** The form of `Expected.recipients`. */
function recipientsOf(report: BounceReport): string[] {
  if (report.kind === 'complaint') return report.recipient === null ? [] : [report.recipient];
  if (report.kind !== 'status') return [];
  return report.recipients.map(
    ({ kind, recipient, status, verdict }) => `${kind} ${recipient} ${status} ${verdict?.kind ?? null}`,
  );
}

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
        if (reason !== undefined) t.equal(report.verdict?.reason.toString(), reason);
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

  t.test('the text of a mail to a role address is read in linear time, whatever its HTML is', async (t) => {
    const html = Buffer.from('<'.repeat(200_000)).toString('base64').replace(/.{76}/g, '$&\n');
    const raw = Buffer.from(`Content-Type: text/html\nContent-Transfer-Encoding: base64\n\n${html}\n`);
    const began = performance.now();
    const mail = await parseRoleMail({ raw, from: 'a@b.example' }, false);
    t.equal(mail?.report.kind, 'unknown');
    t.ok(performance.now() - began < 5000, 'a minute and more where each character is looked at again and again');
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
