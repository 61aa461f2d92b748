/** Link parameters: which links get them, and how they are taken off again. */
import t from 'tap';
import {
  addParameters,
  withBlockNames,
  withLinkParameters,
  withoutParameters,
} from '../../../src/delivery/content/link-rules.ts';

const RULES = { source: 'news letter', medium: 'email', campaign: 'May & June', content: 0 } as const;
const ADDED = 'utm_source=news%20letter&utm_medium=email&utm_campaign=May%20%26%20June';
const OWN = 'https://mail.shop.de';

t.test('web links get the parameters before their fragment, and lose them again', async (t) => {
  const full: Record<string, string> = {
    'https://shop.de': `https://shop.de?${ADDED}`,
    'https://shop.de/a?b=1': `https://shop.de/a?b=1&${ADDED}`,
    'https://shop.de/a?': `https://shop.de/a?${ADDED}`,
    'HTTP://shop.de/a#part': `HTTP://shop.de/a?${ADDED}#part`,
    'https://shop.de/((slug))': `https://shop.de/((slug))?${ADDED}`,
  };
  for (const [url, expected] of Object.entries(full)) {
    t.equal(addParameters(url, RULES, OWN), expected);
    t.equal(withoutParameters(expected, RULES), url.replace(/\?$/, ''));
  }
  const named = addParameters('https://shop.de/a#x', RULES, OWN, 'to-the-shop');
  t.equal(named, `https://shop.de/a?${ADDED}&utm_content=to-the-shop#x`);
  t.equal(withoutParameters(named, RULES), 'https://shop.de/a#x');
});

t.test('links with parameters, signed ones, our own and those that are no web address stay as they are', async (t) => {
  for (const url of [
    'https://shop.de/?utm_source=x',
    'https://shop.de/a?b=1&utm_campaign=x',
    'https://files.shop.de/a?X-Amz-Signature=1',
    'https://shop.de/login?token=abc',
    'https://shop.de/a?sig=x',
    `${OWN}/f/form`,
    OWN,
    'mailto:a@shop.de',
    'tel:+49401',
    '#top',
    '((shop_url))',
    'https://((shop_url))',
    '/path',
  ]) {
    t.equal(addParameters(url, RULES, OWN), url);
    t.equal(withoutParameters(url, RULES), url);
  }
});

t.test('a long name of a link is cut between characters, and not after a hyphen', async (t) => {
  const rules = { source: 's', medium: '', campaign: '', content: 1 } as const;
  const named = (text: string) => withLinkParameters(`<a href="https://shop.de/">${text}</a>`, rules, '');
  t.match(named(`${'a'.repeat(39)}𝐀𝐀`), `utm_content=${'a'.repeat(39)}${encodeURIComponent('𝐀')}"`);
  t.match(named(`${'a'.repeat(39)} b`), `utm_content=${'a'.repeat(39)}"`);
});

t.test('in HTML only links are changed, escaped, and named by their text or image', async (t) => {
  const rules = { source: 's', medium: '', campaign: '', content: 1 } as const;
  const html =
    '<a href="https://shop.de/a?b=1&amp;c=2"><b>To the</b> ((name)) shop!</a> https://shop.de <img src="https://shop.de/i.png">' +
    '<a href=https://shop.de/b><img alt="Red lamp" src="x"></a><a href="mailto:a@shop.de">Mail</a>';
  t.equal(
    withLinkParameters(html, rules, ''),
    '<a href="https://shop.de/a?b=1&amp;c=2&amp;utm_source=s&amp;utm_content=to-the-shop"><b>To the</b> ((name)) shop!</a> https://shop.de <img src="https://shop.de/i.png">' +
      '<a href="https://shop.de/b?utm_source=s&amp;utm_content=red-lamp"><img alt="Red lamp" src="x"></a><a href="mailto:a@shop.de">Mail</a>',
  );
});

t.test('hostile HTML takes linear time', async (t) => {
  const html = '<a href="https://shop.de/a">x'.repeat(20_000);
  const started = performance.now();
  withLinkParameters(html, { source: 's', medium: '', campaign: '', content: 1 }, '');
  t.ok(performance.now() - started < 5000);
});

t.test(
  'links in a block have the name of the innermost named block, once, and other links stay for the whole mail',
  async (t) => {
    const rules = { source: 's', medium: '', campaign: '', content: 1 } as const;
    const text = (content: string, attributes = {}) => ({ tagName: 'mj-text', attributes, content });
    const button = (href: string, attributes = {}) => ({
      tagName: 'mj-button',
      attributes: { href, ...attributes },
      content: 'Go',
    });
    const design = (children: readonly object[], attributes = {}) => ({ tagName: 'mj-section', attributes, children });
    const named = { 'data-name': ' <b>Über Uns ((name))</b> & "more"! ' };
    const made = withBlockNames(
      design(
        [
          text('<a href="https://shop.de/a?b=1&amp;c=2">A</a> <a href="https://shop.de/b?utm_content=x">B</a>'),
          button('https://shop.de/c?sig=1'),
          button('https://shop.de/d', { 'data-name': 'Inner' }),
          { tagName: 'mj-social-element', attributes: { href: 'https://shop.de/e' } },
          button('mailto:a@shop.de', { 'data-name': '((x))' }),
        ],
        named,
      ) as never,
      rules,
      OWN,
    );
    const name = 'b-über-uns-name-b-more';
    t.strictSame(
      made,
      design(
        [
          text(
            `<a href="https://shop.de/a?b=1&amp;c=2&amp;utm_source=s&amp;utm_content=${encodeURIComponent(name)}">A</a> <a href="https://shop.de/b?utm_content=x">B</a>`,
          ),
          button('https://shop.de/c?sig=1'),
          button('https://shop.de/d?utm_source=s&utm_content=inner', { 'data-name': 'Inner' }),
          { tagName: 'mj-social-element', attributes: { href: 'https://shop.de/e' } },
          button('mailto:a@shop.de', { 'data-name': '((x))' }),
        ],
        named,
      ),
    );
    t.strictSame(
      withBlockNames(design([button('https://shop.de')]) as never, rules, OWN),
      design([button('https://shop.de')]),
    );
  },
);
