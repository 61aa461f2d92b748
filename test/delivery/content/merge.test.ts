/** How values take the place of placeholders in text, HTML and addresses. */
import fc from 'fast-check';
import t from 'tap';
import { mergeLine, mergeText, mergeUrl } from '../../../src/delivery/content/merge.ts';
import { placeholderNames, placeholderProblem, scan } from '../../../src/delivery/content/placeholders.ts';

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

t.test('a placeholder is found wherever two parentheses around a name are, in any text', async (t) => {
  const grammar = /\(\([ \t]{0,8}\w{1,255}[ \t]{0,8}(?:\|[^()|]{0,1000})?\)\)/g;
  const part = fc.constantFrom('(', '((', ')', '))', '|', 'a', 'name', ' ', '-', '((b))', '((c|d))');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      const text = parts.join('');
      t.equal(
        mergeText(scan(text), {}),
        text.replaceAll(grammar, (found) => /\|([^()|]*)/.exec(found)?.[1] ?? ''),
        text,
      );
    }),
  );
});

t.test('placeholders and links are counted together, and 2 MiB of hostile text is read once', async (t) => {
  const link = '<a href="https://e.com">';
  t.equal(placeholderProblem('((a))'.repeat(5000) + link.repeat(5000)), null);
  t.match(String(placeholderProblem('((a))'.repeat(5001) + link.repeat(5000))), 'has 10001 placeholders');
  t.match(String(placeholderProblem('((a))'.repeat(50_001))), 'has more than 50000 placeholders');
  const fill = (piece: string) => piece.repeat(Math.ceil((2 * 1024 * 1024) / piece.length));
  const seconds = (text: string) => {
    const { user } = process.cpuUsage();
    t.equal(placeholderProblem(text), null);
    return (process.cpuUsage().user - user) / 1e6;
  };
  for (const piece of ['(', `((${'a'.repeat(254)}`, '((!))', '(())', ')', 'href        ', '((        a        '])
    t.ok(seconds(fill(piece)) < 0.2, piece);
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
