/** Messages: merging, MIME, headers. They are parsed by a library that shares no code with ours. */
import fc from 'fast-check';
import PostalMime from 'postal-mime';
import t from 'tap';
import type { Content } from '../../../src/delivery/content/compiled-content.ts';
import {
  CLICK_URL,
  mergeHtml,
  mergeLine,
  mergeText,
  mergeUrl,
  OPEN_URL,
  PREFERENCES,
  placeholderNames,
  scan,
  type Values,
} from '../../../src/delivery/content/merge.ts';
import { buildContent } from '../../../src/delivery/mime/build.ts';
import { unstructuredField } from '../../../src/delivery/mime/header-fields.ts';
import {
  type MailingFacts,
  type Prepared,
  prepare,
  type Recipient,
  render as renderMail,
} from '../../../src/delivery/mime/message.ts';
import { quotedPrintable } from '../../../src/delivery/mime/quoted-printable.ts';

const facts: MailingFacts = {
  from: { name: 'Müller & Söhne', address: 'news@bücher.example' },
  replyTo: 'reply@example.com',
  constants: { sender_name: 'Müller & Söhne', sender_address: 'Hauptstraße 1, 10115 Berlin, Germany' },
  bulk: { listId: 'group-1.example.com', feedbackId: '1:2:3:sendlark' },
};
const urls = {
  preferences: 'https://mail.example.com/p/token',
  oneClick: 'https://mail.example.com/u/token',
  webCopy: 'https://mail.example.com/w/token',
  open: 'https://mail.example.com/o/token',
  click: 'https://mail.example.com/c/token/',
};
const html = `<html><body style="margin:0">
<p title='((last_name))'>Dear ((first_name|friend)), you are ((age)) in ((city)).</p>
<a href="https://shop.example.com/?name=((first_name))&amp;ref=mail">Shop</a> <a href=((website))>Yours</a>
<pre>  indented   and	tabbed  </pre>
<p>Grüße 🎉, ((sender_name)), ((sender_address)), ((unsubscribe_preferences))</p></body></html>`;

function content(source: { html?: string; subject?: string; tracking?: boolean } = {}): Promise<Content> {
  return buildContent({
    template_json: null,
    template_html: source.html ?? html,
    subject: source.subject ?? 'News for ((first_name|you))',
    preheader: 'In short: ((city|everywhere))',
    tracking: source.tracking ?? true,
    footer: true,
  });
}

function recipient(values: Values = {}, more: Partial<Recipient> = {}): Recipient {
  return {
    address: 'jane@example.net',
    name: 'Jane Doe',
    values,
    messageId: '17.abc@mail.example.com',
    date: new Date('2026-03-01T08:09:10Z'),
    urls,
    ...more,
  };
}

function render(prepared: Prepared, to: Recipient, memory?: Buffer): Buffer {
  return renderMail(prepared, to, memory).bytes;
}

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
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) },
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
  t.match(mail.text, 'Shop (https://mail.example.com/c/token/0)');
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
    { numRuns: 500 },
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

t.test('placeholders within a value are not expanded', async (t) => {
  const values = { a: '((b))', b: 'secret' };
  t.equal(mergeText(scan('((a)) ((b))'), values), '((b)) secret');
  t.equal(mergeText(scan('(((a)))'), { a: 'x' }), '(x)');
  t.equal(mergeText(scan('(((a))) a)) ((a)'), { a: 'x' }), '(x) a)) ((a)');
});

t.test('an unknown or empty name gives the default or nothing, whatever the name', async (t) => {
  const template = scan('[((x))][((x|default text))][(( x | y ))][((constructor))][((__proto__|z))][((toString))]');
  t.equal(mergeText(template, {}), '[][default text][ y ][][z][]');
  t.equal(mergeText(template, { x: '' }), '[][default text][ y ][][z][]');
  t.strictSame(placeholderNames([template]), ['x', 'constructor', '__proto__', 'toString']);
  for (const prose of ['((not a name))', '((a|b|c))', '((a)', '(a))', '((a-b))', '(())', '((#click))'])
    t.equal(mergeText(scan(prose), { a: 'x' }), prose);
});

t.test('a subject is raw text, its line breaks and controls become spaces', async (t) => {
  const values = { x: 'a\r\nBcc: evil@example.com\u2028b\u2029c\0d\u0085<&>' };
  t.equal(mergeLine('  News: ((x)) ', values), 'News: a Bcc: evil@example.com b c d <&>');
});

t.test('inside a URL values are encoded, at its start only harmless schemes are kept', async (t) => {
  const whole = (x: string) => mergeText(scan('((x))', 'url'), { x });
  t.equal(whole('example.com'), 'https://example.com');
  t.equal(whole(' https://example.com/a b?c=d&e=%20#f '), 'https://example.com/a%20b?c=d&e=%20#f');
  t.equal(whole('HTTP://example.com/ü"<>'), 'HTTP://example.com/%C3%BC%22%3C%3E');
  t.equal(whole('mailto:a@example.com'), 'mailto:a@example.com');
  t.equal(whole('tel:+49 30'), 'tel:+49%2030');
  for (const bad of [
    'javascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,x',
    'JaVaScRiPt:x',
    '//example.com',
    'https:evil',
    '\u0001javascript:x',
    'vbscript:https://',
  ])
    t.equal(whole(bad), '', bad);
  t.equal(
    mergeText(scan('  ((a))((b))', 'url'), { b: 'javascript:x' }),
    '  javascript%3Ax',
    'a second one is never a scheme',
  );
  t.equal(
    mergeText(scan('https://example.com/((x))?y=((x))', 'url'), { x: 'a/b ü&\ud83d' }),
    'https://example.com/a%2Fb%20%C3%BC%26%EF%BF%BD?y=a%2Fb%20%C3%BC%26%EF%BF%BD',
  );
});

t.test('a link is merged into an absolute web address or none', async (t) => {
  t.equal(mergeUrl('https://example.com/?n=((n))', { n: 'a b' }), 'https://example.com/?n=a%20b');
  t.equal(
    mergeUrl('https://bücher.example/ü\r\nSet-Cookie: x', {}),
    'https://xn--bcher-kva.example/%C3%BCSet-Cookie:%20x',
  );
  t.equal(mergeUrl('((site))', { site: 'https://example.com' }), 'https://example.com/');
  for (const [url, site] of [
    ['((site))', 'mailto:a@example.com'],
    ['((site))', 'javascript:x'],
    ['((site))', ''],
    ['https://((site))', ''],
    ['/path', ''],
    ['javascript:x', ''],
  ] as const)
    t.equal(mergeUrl(url, { site }), null, url);
});

t.test('header lines are folded at 78, encoded words have at most 75 characters', async (t) => {
  t.equal(unstructuredField('Subject', 'short'), 'Subject: short\r\n');
  t.equal(unstructuredField('Subject', ''), 'Subject: \r\n');
  const long = unstructuredField('Subject', 'word '.repeat(40).trim());
  t.ok(long.split('\r\n').every((line) => line.length <= 78));
  t.equal(long.replaceAll('\r\n', ''), `Subject: ${'word '.repeat(40).trim()}`, 'unfolding gives the text back');
  for (const text of [
    'x'.repeat(2000),
    'ü'.repeat(500),
    '🎉'.repeat(300),
    '=?UTF-8?Q?fake?=',
    `a${' '.repeat(200)}b`,
  ]) {
    const field = unstructuredField('Subject', text);
    t.ok(
      field
        .trimEnd()
        .split('\r\n')
        .every((line) => line.length <= 76 && line.trim() !== ''),
    );
    const { subject } = await PostalMime.parse(`${field}\r\n`);
    t.equal(subject, text);
  }
});

t.test('display names survive specials, quotes and length', async (t) => {
  const prepared = prepare(await content(), facts);
  for (const name of [
    '',
    'Jane',
    'Doe, Jane',
    'a "quoted" \\ name',
    'J. <x@y>',
    '=?UTF-8?Q?x?=',
    'ü',
    'x'.repeat(255),
    'word '.repeat(50).trim(),
    'Ünï '.repeat(60).trim(),
  ]) {
    const { to } = await PostalMime.parse(render(prepared, recipient({}, { name })));
    t.strictSame(to, [{ name, address: 'jane@example.net' }]);
  }
});

t.test('an address that is not one plain address is refused', async (t) => {
  const prepared = prepare(await content(), facts);
  for (const address of [
    'a@b.example, c@d.example',
    'a@b.example\r\nBcc: c@d.example',
    'group:a@b.example;',
    '<a@b.example>',
    'a b@c.example',
    'jürgen@example.com',
    '"a"@b.example',
    'a@',
    '',
  ]) {
    t.throws(() => render(prepared, recipient({}, { address })), TypeError, address);
  }
  const raw = render(prepared, recipient({}, { address: 'jane@bücher.example' })).toString();
  t.match(raw, '<jane@xn--bcher-kva.example>');
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
