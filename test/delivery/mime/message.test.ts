/** A message: its structure, its encoding, and what its recipient's values cannot break. */
import fc from 'fast-check';
import PostalMime from 'postal-mime';
import t from 'tap';
import { mergeHtml, mergeLine, mergeText, mergeUrl, type Values } from '../../../src/delivery/content/merge.ts';
import { CLICK_URL, OPEN_URL, PREFERENCES, scan } from '../../../src/delivery/content/placeholders.ts';
import { buildContent } from '../../../src/delivery/mime/build.ts';
import { unstructuredField } from '../../../src/delivery/mime/header-fields.ts';
import { prepare } from '../../../src/delivery/mime/message.ts';
import { quotedPrintable } from '../../../src/delivery/mime/quoted-printable.ts';
import { content, facts, recipient, render, urls } from '../../support/mails/sample-message.ts';

/** Parses a message. The parser counts the line break before a boundary as content, which RFC 2046 §5.1.1 does not. */
async function parsed(raw: Buffer) {
  const mail = await PostalMime.parse(raw);
  return { ...mail, text: mail.text?.replace(/\n$/, ''), html: mail.html?.replace(/\n$/, '') };
}

/** What a mail program should show for a text: uniform line breaks, lone surrogates replaced. */
function shown(text: string): string {
  return Buffer.from(text).toString().replace(/\r\n?/g, '\n');
}

const everything = (values: Values): Values => ({
  ...values,
  ...facts.constants,
  [PREFERENCES]: urls.preferences,
  [OPEN_URL]: urls.open,
  [CLICK_URL]: urls.click,
});

const MAX_SUBJECT = 998;

// Any UTF-16: controls, line breaks, emoji, combining marks, lone surrogates, and long runs of them.
const unit = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      ...'abc XYZ.=?&<>"\'%\t',
      '  ',
      '\r',
      '\n',
      '\r\n',
      '\u2028',
      '\0',
      '🎉',
      'e\u0301',
      '\ud83d',
      '\udc00',
      'ß',
      'From ',
      '.',
    ),
  },
  // Not U+FEFF, which the parser drops as a byte order mark where an encoded word begins with it.
  {
    weight: 1,
    arbitrary: fc
      .integer({ min: 0, max: 0xffff })
      .filter((code) => code !== 0xfeff)
      .map((code) => String.fromCharCode(code)),
  },
  { weight: 1, arbitrary: fc.integer({ min: 0x10000, max: 0x10ffff }).map((code) => String.fromCodePoint(code)) },
);

const anything = fc.oneof(fc.string({ unit, maxLength: 30 }), fc.string({ unit, minLength: 150, maxLength: 400 }));

t.test('RFC 5321 4.5.2: no line of a message begins with a dot, whatever its values', async (t) => {
  const own = `<p>.\n.((first_name))</p><pre>${'x'.repeat(75)}.((last_name))\n.</pre>`;
  const prepared = prepare(await content({ html: own }), facts);
  for (const value of ['.', '..', `${'a'.repeat(73)}.b`, `${'ä'.repeat(12)}...`, '\n.\n']) {
    const raw = render(prepared, recipient({ first_name: value, last_name: value }, { name: value }));
    t.notMatch(raw.toString('latin1'), /^\./m, JSON.stringify(value));
  }
});

t.test('a message has From, To, Subject and Date, and decodes to the merged content', async (t) => {
  const compiled = await content();
  const values = {
    first_name: 'Zoë',
    last_name: "O'Neil",
    age: '42',
    city: 'A & B',
    website: 'https://zoe.example/a b?x=1&y=2',
  };
  const raw = render(prepare(compiled, facts), recipient(values));
  const mail = await parsed(raw);
  t.match(mail.from, { name: 'Müller & Söhne', address: 'news@xn--bcher-kva.example' });
  t.match(mail.to, [{ name: 'Jane Doe', address: 'jane@example.net' }]);
  t.match(mail.replyTo, [{ address: 'reply@example.com' }]);
  t.equal(mail.subject, 'News for Zoë');
  t.equal(mail.date, '2026-03-01T08:09:10.000Z');
  t.equal(mail.messageId, '<17.abc@mail.example.com>');
  t.equal(mail.html, shown(mergeHtml(compiled.html, everything(values))));
  t.equal(mail.text, shown(mergeText(compiled.text, everything(values))));
  t.match(mail.html, `<p title='O&#39;Neil'>Dear Zoë, you are 42 in A &amp; B.</p>`);
  t.match(mail.html, '<a href="https://mail.example.com/c/token/0">Shop</a>');
  t.match(
    mail.html,
    '<a href="https://zoe.example/a%20b?x=1&amp;y=2">Yours</a>',
    'a value inside an unquoted attribute cannot end it',
  );
  t.match(mail.html, '<pre>  indented   and\ttabbed  </pre>');
  t.match(mail.html, 'Hauptstraße 1, 10115 Berlin, Germany, https://mail.example.com/p/token');
  t.match(mail.text, 'Shop (https://shop.example.com/?name=Zo%C3%AB&ref=mail)');
});

t.test('a campaign mail has the headers for one-click unsubscribing and none of an automatic reply', async (t) => {
  const { headers } = await parsed(render(prepare(await content(), facts), recipient()));
  const header = (key: string) => headers.filter((field) => field.key === key).map((field) => field.value);
  t.strictSame(header('list-unsubscribe'), ['<https://mail.example.com/u/token>']);
  t.strictSame(header('list-unsubscribe-post'), ['List-Unsubscribe=One-Click']);
  t.strictSame(header('list-id'), ['<group-1.example.com>']);
  t.strictSame(header('feedback-id'), ['1:2:3:sendlark']);
  t.strictSame(header('auto-submitted'), []);
});

t.test('a mail about an account has no unsubscribe headers and says that a machine sent it', async (t) => {
  const compiled = await buildContent({
    template_json: null,
    template_html: '<p>Please <a href="((verify_url))">confirm ((from_email))</a>.</p>',
    subject: 'Confirm your address',
    preheader: '',
    tracking: false,
    footer: false,
  });
  const values = { verify_url: 'https://mail.example.com/v/token', from_email: 'a@example.com' };
  const prepared = prepare(compiled, { ...facts, replyTo: null, bulk: null });
  const mail = await parsed(render(prepared, recipient(values, { urls: null })));
  const keys = mail.headers.map((field) => field.key);
  t.strictSame(
    keys.filter((key) => key.startsWith('list-')),
    [],
  );
  t.ok(keys.includes('auto-submitted'));
  t.equal(mail.replyTo, undefined);
  t.equal(mail.text, 'Please confirm a@example.com (https://mail.example.com/v/token).\n');
  t.equal(mail.html, '<p>Please <a href="https://mail.example.com/v/token">confirm a@example.com</a>.</p>\n');
});

t.test('any values give a valid message that decodes to exactly the merged text', async (t) => {
  const compiled = await content({ subject: '((first_name)) 🎉 ((city|x))((last_name))' });
  const prepared = prepare(compiled, facts);
  const record = fc.record({
    first_name: anything,
    last_name: anything,
    age: anything,
    city: anything,
    website: anything,
  });
  await fc.assert(
    fc.asyncProperty(record, anything, async (values, name) => {
      // A longer subject is refused (merged-size.test.ts).
      fc.pre(mergeLine(compiled.subject, values).length <= MAX_SUBJECT);
      const raw = render(prepared, recipient(values, { name }));
      const wire = raw.toString('latin1');
      const headEnd = wire.indexOf('\r\n\r\n');
      const head = wire.slice(0, headEnd);
      const body = wire.slice(headEnd + 4);
      if (!/^(?:[\x20-\x7e]|\r\n)*$/.test(wire)) throw new Error('not ASCII in CRLF lines');
      if (/^\./m.test(wire)) throw new Error('a line begins with a dot');
      if (body.split('\r\n').some((line) => line.length > 76)) throw new Error('a body line is too long');
      if (/ {2}| \r\n/.test(body)) throw new Error('the body is not in canonical form');
      if (head.split('\r\n').some((line) => line.length > 78 || /^\s*$/.test(line)))
        throw new Error('a header line is wrong');
      for (const word of head.match(/=\?.*?\?=/g) ?? [])
        if (word.length > 75) throw new Error('an encoded word is too long');
      const names = head.split(/\r\n(?! )/).map((field) => field.slice(0, field.indexOf(':')));
      if (new Set(names).size !== names.length) throw new Error('a header occurs twice');
      for (const name of ['From', 'To', 'Date', 'Message-ID', 'Subject'])
        if (!names.includes(name)) throw new Error(`there is no ${name}`);

      const mail = await parsed(raw);
      const all = everything(values);
      const pairs: [string | undefined, string][] = [
        [mail.html, shown(mergeHtml(compiled.html, all))],
        [mail.text, shown(mergeText(compiled.text, all))],
        [mail.subject, shown(mergeLine(compiled.subject, values))],
        [mail.to?.[0]?.address, 'jane@example.net'],
        [mail.to?.[0]?.name, shown(mergeLine(name.replaceAll('((', ''), {}))],
      ];
      for (const [got, wanted] of pairs)
        if (got !== wanted) throw new Error(`got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`);
    }),
    // Making a counterexample smaller takes minutes, in which the file is stopped and tells nothing.
    { numRuns: 500, endOnFailure: true },
  );
  t.pass();
});

t.test('quoted-printable pieces may be joined anywhere', async (t) => {
  await fc.assert(
    fc.property(fc.array(anything, { maxLength: 6 }), (pieces) => {
      const joined = pieces.map(quotedPrintable).join('');
      if (joined.split('\r\n').some((line) => line.length > 76)) throw new Error('a line is too long');
      // An independent decoder: removes soft line breaks and turns =XX into bytes.
      const plain = joined
        .replace(/=\r\n/g, '')
        .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
      const wanted = pieces.map((piece) => shown(piece)).join('');
      const got = Buffer.from(plain, 'latin1').toString().replaceAll('\r\n', '\n');
      if (got !== wanted) throw new Error(`got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`);
    }),
  );
  t.equal(quotedPrintable(''), '');
  t.equal(quotedPrintable('a=b'), 'a=3Db=\r\n');
  t.equal(quotedPrintable('='.repeat(26)), `${'=3D'.repeat(25)}=\r\n=3D=\r\n`, 'a line has up to 76 characters');
  t.equal(quotedPrintable('blank \nend  \n'), 'blank=20\r\nend =20\r\n', 'no blank before a line end, no two in a row');
});

t.test('a message is written to the given buffer if it is large enough', async (t) => {
  const prepared = prepare(await content(), facts);
  const memory = Buffer.alloc(100_000);
  const message = render(prepared, recipient({ first_name: 'Zoë' }), memory);
  t.equal(message.buffer, memory.buffer);
  t.ok(message.equals(render(prepared, recipient({ first_name: 'Zoë' }))));
  t.not(render(prepared, recipient(), Buffer.alloc(10)).buffer, memory.buffer);
});

t.test('recipients one after the other get their own values, whichever of them they share', async (t) => {
  const compiled = await content();
  const prepared = prepare(compiled, facts);
  const others = Object.fromEntries(Object.entries(urls).map(([name, url]) => [name, `${url.replace(/\/$/, '')}2/`]));
  for (const [values, own] of [
    [{ first_name: 'Zoë', city: 'Köln' }, urls],
    [
      { first_name: 'Ann', city: 'Köln' },
      { ...urls, ...others },
    ],
    [{ first_name: '', city: 'Köln' }, urls],
    [{ city: '' }, { ...urls, ...others }],
    [{ first_name: 'Zoë', city: 'Köln' }, urls],
  ] as const) {
    const to = recipient(values, { urls: own });
    t.ok(render(prepared, to).equals(render(prepare(compiled, facts), to)), JSON.stringify(values));
  }
});

t.test('a campaign message without its recipient addresses is refused', async (t) => {
  const prepared = prepare(await content(), facts);
  t.throws(() => render(prepared, recipient({}, { urls: null })), TypeError);
});

t.test('half a megabyte of hostile text merges in linear time', async (t) => {
  const size = 512 * 1024;
  const fill = (piece: string) => piece.repeat(Math.ceil(size / piece.length)).slice(0, size);
  const hostile = [
    '(',
    '((',
    '((a',
    '((a|',
    '((a|b',
    '((a))',
    '((a|b))',
    '((        ',
    '((a        |',
    '|))',
    '\r\n',
    ' ',
    '\t',
    '=',
    '\ud800',
    '&',
    'é',
    'x',
  ].map(fill);
  for (const text of [...hostile, `((a|${fill('b')}`, `((${fill('a')}`, `https://${fill('%')}`]) {
    mergeLine(text, { a: 'x' });
    mergeText(scan(text, 'url'), { a: 'x' });
    mergeHtml(
      [
        { name: 'x', fallback: text, place: 'url-start' },
        { name: 'x', fallback: text, place: 'text' },
      ],
      {},
    );
    mergeUrl(text, { a: 'x' });
    quotedPrintable(text);
    unstructuredField('Subject', text.slice(0, 65_536).trim());
  }
  t.pass();
});
