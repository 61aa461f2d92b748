/** Header fields: folding, encoded words, names and addresses. */
import PostalMime from 'postal-mime';
import t from 'tap';
import { unstructuredField } from '../../../src/delivery/mime/header-fields.ts';
import { prepare } from '../../../src/delivery/mime/message.ts';
import { content, facts, recipient, render } from '../../support/mails/sample-message.ts';

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
