/** The links and the pixel of a mail. */
import t from 'tap';
import { withMarkedLinks, withoutTracking } from '../../../src/delivery/content/anonymous-content.ts';
import { mergeHtml, mergeText, mergeUrl } from '../../../src/delivery/content/merge.ts';
import { complete, html, page, plain } from './templates.ts';

t.test('web links are tracked, each URL once; other links stay unchanged', async (t) => {
  const template = `<a href="https://example.com/?a=1&amp;b=2">1</a> <a href='https://example.com/?a=1&#38;b=2'>2</a>
    <map><area href=" http://example.com/((city)) "></map> <a href="HTTPS://example.com/b">4</a>
    <!--[if mso]><v:roundrect href="https://example.com/b2"></v:roundrect><![endif]-->
    <a href="mailto:a@example.com">m</a> <a href="tel:1">t</a> <a href="#top">h</a> <a href="((website))">w</a>
    <a href="https://example.com/?p=((unsubscribe_preferences))">p</a> <img src="https://example.com/i.png">
    <link href="https://example.com/style.css"> <!-- <a href="https://example.com/comment">c</a> --> ${complete}`;
  const content = await page(template, { tracking: true });
  t.strictSame(content.links, [
    'https://example.com/?a=1&b=2',
    'http://example.com/((city))',
    'HTTPS://example.com/b',
    'https://example.com/b2',
  ]);
  const merged = html(content);
  t.match(
    merged,
    `<a href="https://mail.example.com/c/token/0">1</a> <a href='https://mail.example.com/c/token/0'>2</a>`,
  );
  t.match(merged, '<area href="https://mail.example.com/c/token/1">');
  t.match(merged, '<v:roundrect href="https://mail.example.com/c/token/3">');
  for (const kept of [
    'href="mailto:a@example.com"',
    'href="tel:1"',
    'href="#top"',
    'href="https://example.com/?p=https%3A%2F%2Fmail',
    'src="https://example.com/i.png"',
    '<link href="https://example.com/style.css">',
  ])
    t.ok(merged.includes(kept), kept);
  t.match(
    plain(content),
    '1 (https://example.com/?a=1&b=2)',
    'the text part shows where a link leads, and is not tracked',
  );
  t.match(plain(content), 'm (mailto:a@example.com)');
  t.ok(content.placeholders.includes('city'), 'names inside stored links are needed too');
});

t.test('a placeholder for an address, or for all that follows its scheme, takes a whole address', async (t) => {
  const shop = 'https://shop.example/a?b=1&c=2#d';
  const cases: [href: string, value: string, leadsTo: string | null][] = [
    ['https://((x))', shop, shop],
    ['https://((x))', 'http://shop.example', 'http://shop.example'],
    ['http://((x))', 'HTTPS://shop.example/', 'HTTPS://shop.example/'],
    ['HTTPS://((x))', ' shop.example/a b ', 'https://shop.example/a%20b'],
    ['https&#58;//((x))', shop, shop],
    [' https://((x)) ', shop, shop],
    ['//((x))', shop, shop],
    ['//((x))', 'shop.example', 'https://shop.example'],
    ['https://((x))', '//shop.example', 'https://shop.example'],
    ['https://((x))/path?q=1', 'https://shop.example', 'https://shop.example/path?q=1'],
    ['https://((x|https://shop.example/default))', '', 'https://shop.example/default'],
    ['https://((x)).example.com/', 'anna', 'https://anna.example.com/'],
    ['https://((x)).example.com/', 'evil.example/', null],
    ['https://((x)):8080/', 'shop.example', 'https://shop.example:8080/'],
    ['https://user@((x))/', 'shop.example', 'https://user@shop.example/'],
    ['https://shop.example/((x))/a', 'b/c?d', 'https://shop.example/b%2Fc%3Fd/a'],
    [
      'https://shop.example/?u=((x))&v=1',
      shop,
      'https://shop.example/?u=https%3A%2F%2Fshop.example%2Fa%3Fb%3D1%26c%3D2%23d&v=1',
    ],
    ['https://shop.example/#((x))', 'a b', 'https://shop.example/#a%20b'],
    ['((x))', shop, shop],
    ['((x))', 'shop.example', 'https://shop.example'],
    ['((x))', 'www.shop.example/a?b', 'https://www.shop.example/a?b'],
    ['((x))/path', 'https://shop.example', 'https://shop.example/path'],
    ['((x))', 'javascript:alert(1)', ''],
    ['https://((x))', 'javascript:alert(1)', null],
    ['mailto:((x))', 'anna@example.org', 'mailto:anna@example.org'],
    ['mailto:((x))', 'mailto:anna@example.org', 'mailto:anna@example.org'],
    ['mailto:((x))', 'a@b.example?bcc=c@d.example', 'mailto:a@b.example%3Fbcc%3Dc@d.example'],
    ['mailto:shop@example.org?subject=((x))', 'a b', 'mailto:shop@example.org?subject=a%20b'],
    ['tel:((x))', '+49 30 1234', 'tel:+49301234'],
    ['tel:+49((x))', '30', 'tel:+4930'],
  ];
  const hostOf = (url: string | null) => (url !== null && URL.canParse(url) ? new URL(url).hostname : '');
  for (const [href, x, leadsTo] of cases) {
    const template = `<a href="${href}">w</a>`;
    const untracked = await page(template);
    const [, merged = ''] = /href="\s*([^"]*?)\s*"/.exec(mergeHtml(untracked.html, { x })) ?? [];
    const { links } = await page(template, { tracking: true });
    const clicked = links[0] === undefined ? null : mergeUrl(links[0], { x });
    if (leadsTo === null) {
      // A value that is not a URL leads nowhere, and never to the host that it names.
      t.ok(
        [merged, clicked].every((url) => !hostOf(url).startsWith('evil')),
        `${href} ${x}`,
      );
      continue;
    }
    t.equal(merged.replaceAll('&amp;', '&'), leadsTo, `untracked ${href} ${x}`);
    if (leadsTo !== '') t.match(mergeText(untracked.text, { x }), `w (${leadsTo})`, 'in the text part');
    if (clicked !== null) t.equal(clicked, new URL(leadsTo).href, `tracked ${href} ${x}`);
    else t.notMatch(href.trim(), /^https?:/i, `${href} ${x} is tracked and leads somewhere`);
  }
});

t.test(
  'untracked, every link leads to where it leads, also the last one before the trap link, which is gone',
  async (t) => {
    const link = (number: number) => `<a href="https://example.com/${number}">x</a>`;
    const content = await page(`<body>${complete}${link(1)}${link(2)}</body>`, { tracking: true });
    const merged = mergeHtml(withoutTracking(content).html, { sender_address: 'Street', unsubscribe_preferences: '#' });
    t.match(merged, `${link(1)}${link(2)}</body>`);
    t.notMatch(merged, 'img');
    const marked = mergeHtml(withMarkedLinks(content), {});
    t.match(marked, '<a href="https://example.com/2" data-link="1">x</a></body>');
  },
);

t.test(
  'an open is counted by one pixel, first in the body, since mail programs cut the end of a large mail off',
  async (t) => {
    const pixel =
      '<img src="https://mail.example.com/o/token" width="1" height="1" alt="" style="display:block;border:0">';
    const trap =
      '<a href="https://mail.example.com/c/token/999999" rel="nofollow" tabindex="-1" aria-hidden="true" style="display:none"></a>';
    t.equal(html(await page('<body>x</body>', { tracking: true })), `<body>${pixel}x${trap}</body>\n`);
    const withPreheader = html(await page('<body>x</body>', { tracking: true, preheader: 'News' }));
    t.match(
      withPreheader,
      `<body><div style="display:none;max-height:0;overflow:hidden;mso-hide:all">News</div>${pixel}x`,
    );
  },
);

t.test('a mail over 100 kB has its preference link first, too, and its words are not the preview', async (t) => {
  const words = '<p>Tom &amp; ((first_name|my friend)), here is the news. 新聞 🎉</p>';
  const large = `<body><title>No</title>${words.repeat(4)}${'<p>x</p>'.repeat(13_000)}</body>`;
  const link = 'Unsubscribe or change preferences';
  const options = { tracking: true, footer: true };
  const shown = (text: string) => text.replace(/<[^>]+>/g, '').slice(0, 400);

  const content = await page(large, options);
  const merged = html(content);
  t.match(merged.slice(0, 300), /^<body><div style="display:none[^"]*">Tom &amp; Zoë &amp; Co, here is the news/);
  t.ok(merged.indexOf(link) > 0 && merged.indexOf(link) < 3000);
  t.ok(merged.indexOf('/o/token') < merged.indexOf(link));
  t.equal(merged.split(link).length, 3, 'and the footer at its end');
  t.notMatch(shown(merged), link, 'the preview is filled up');
  t.notMatch(plain(content).slice(0, 1000), link, 'the text part has it at its end only');

  const titled = html(await page(large, { ...options, preheader: 'News & more' }));
  t.match(titled.slice(0, 300), />News &amp; more&#847;&zwnj;&nbsp;/);
  t.notMatch(html(await page(large, { tracking: true })).slice(0, 5000), link, 'not in a mail without footer');
  t.equal(html(await page('<body>x</body>', options)).split(link).length, 2, 'not in a small mail');
  const links = Array.from({ length: 900 }, (_, number) => `<a href="https://e.com/${number}">x</a>`).join('');
  t.match(html(await page(links, options)).slice(0, 5000), link, 'tracked links count as they are sent');

  for (const text of [`${'x'.repeat(147)}&amp;y`, `${'x'.repeat(145)}((first_name|a b))`, `${'x'.repeat(149)}🎉`]) {
    const cut = html(await page(`${text}${'<p>x</p>'.repeat(13_000)}`, options));
    t.match(cut.slice(0, 300), /^<div style="display:none[^"]*">x+&#847;/);
  }
});

t.test('without tracking there is no pixel and no rewritten link', async (t) => {
  const content = await page(`<a href="https://example.com/?n=((first_name))">Shop</a> ${complete}`, { footer: true });
  t.strictSame(content.links, []);
  t.equal(
    html(content),
    '<a href="https://example.com/?n=Zo%C3%AB%20%26%20Co">Shop</a> Street 1, City <a href="https://mail.example.com/p?t=1&amp;u=2">Preferences</a>\n',
  );
  t.match(plain(content), 'Shop (https://example.com/?n=Zo%C3%AB%20%26%20Co)');
  t.notMatch(JSON.stringify(content), '#');
});
