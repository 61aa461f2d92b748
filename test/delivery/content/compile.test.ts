/** Compiling templates, and the errors that owners get for templates that cannot be compiled. */
import t from 'tap';
import { compileContent, templateProblem } from '../../../src/delivery/content/compile.ts';
import type { Content, ContentSource } from '../../../src/delivery/content/compiled-content.ts';
import {
  CLICK_URL,
  mergeHtml,
  mergeText,
  mergeUrl,
  OPEN_URL,
  PREFERENCES,
  scan,
  type Values,
} from '../../../src/delivery/content/merge.ts';
import { buildContent } from '../../../src/delivery/mime/build.ts';
import { textColours } from '../../database/contrast.ts';

const nothing: ContentSource = {
  template_json: null,
  template_html: null,
  subject: 'Subject',
  preheader: '',
  tracking: false,
  footer: false,
};
const complete = '((sender_address)) <a href="((unsubscribe_preferences))">Preferences</a>';

const page = (template_html: string, more: Partial<ContentSource> = {}) =>
  buildContent({ ...nothing, template_html, ...more });

type Node = { tagName: string; attributes?: object; content?: string; children?: Node[] };
const mjml = (body: Node[], head: Node[] = []): Node => ({
  tagName: 'mjml',
  attributes: {},
  children: [
    { tagName: 'mj-head', attributes: {}, children: head },
    { tagName: 'mj-body', attributes: {}, children: [section(body)] },
  ],
});
const section = (children: Node[]): Node => ({
  tagName: 'mj-section',
  attributes: {},
  children: [{ tagName: 'mj-column', attributes: {}, children }],
});
const text = (content: string): Node => ({ tagName: 'mj-text', attributes: {}, content });
const designed = (root: unknown, more: Partial<ContentSource> = {}) =>
  buildContent({ ...nothing, template_json: JSON.stringify(root), ...more });

const values: Values = {
  first_name: 'Zoë & Co',
  city: 'Berlin <b>',
  sender_address: 'Street 1, City',
  [PREFERENCES]: 'https://mail.example.com/p?t=1&u=2',
  [OPEN_URL]: 'https://mail.example.com/o/token',
  [CLICK_URL]: 'https://mail.example.com/c/token/',
};
const html = (content: Content) => mergeHtml(content.html, values);
const plain = (content: Content) => mergeText(content.text, values);

t.test('MJML is compiled to HTML and a text part in a separate thread', async (t) => {
  const root = mjml([
    text('<h1>Hello ((first_name|you))</h1>'),
    { tagName: 'mj-button', attributes: { href: 'https://example.com/?a=1&b=((city))' }, content: 'Buy' },
  ]);
  const content = await compileContent({
    ...nothing,
    template_json: JSON.stringify(root),
    tracking: true,
    footer: true,
  });
  t.match(html(content), /^<!doctype html>/);
  t.match(html(content), '<h1>Hello Zoë &amp; Co</h1>');
  t.match(html(content), 'href="https://mail.example.com/c/token/0"');
  t.strictSame(content.links, ['https://example.com/?a=1&b=((city))']);
  t.strictSame(content.placeholders, ['first_name', 'sender_address', PREFERENCES, 'city']);
  t.equal(
    plain(content),
    'Hello Zoë & Co\n\nBuy (https://mail.example.com/c/token/0)\n\nStreet 1, City\nUnsubscribe or change preferences (https://mail.example.com/p?t=1&u=2)\n',
  );
  t.strictSame(JSON.parse(JSON.stringify(content)), content, 'it survives JSON');
});

t.test('MJML adds no fonts from third parties', async (t) => {
  t.notMatch(html(await designed(mjml([text('x')]))), /googleapis|@import/);
});

t.test(
  'a template that is not an MJML document is refused before compiling, with a message for its owner',
  async (t) => {
    const cases: [string, RegExp][] = [
      ['{', /not valid JSON/],
      ['[]', /not an MJML document/],
      ['"mjml"', /not an MJML document/],
      ['{"type":"body"}', /not an MJML document/],
      ['{"tagName":"mjml"}', /no mj-body/],
      ['{"tagName":"mjml","children":{}}', /children that are not a list/],
      ['{"tagName":"mjml","children":[1]}', /without a tagName/],
      ['{"tagName":"mjml","children":[{"tagName":"mj-body","attributes":[]}]}', /attributes that are not an object/],
      ['{"tagName":"mjml","children":[{"tagName":"mj-body","content":7}]}', /content that is not a text/],
      [`${'{"tagName":"mjml","children":['.repeat(9000)}${']}'.repeat(9000)}`, /nested more than/],
    ];
    for (const [json, problem] of cases) {
      t.match(templateProblem(json), problem);
      await t.rejects(buildContent({ ...nothing, template_json: json }), { name: 'ContentError', message: problem });
    }
    t.equal(templateProblem(JSON.stringify(mjml([text('x')]))), null);
  },
);

t.test('mj-include reads no file, wherever it is used', async (t) => {
  const path = '/etc/passwd';
  const include: Node = { tagName: 'mj-include', attributes: { path } };
  const roots = [
    mjml([include]),
    mjml([], [include]),
    mjml([text(`<mj-include path="${path}" />`)]),
    mjml([{ tagName: 'mj-raw', content: `<MJ-INCLUDE path="${path}"/>` }]),
  ];
  for (const root of roots) await t.rejects(designed(root), { name: 'ContentError', message: /mj-include/ });
  // Properties that the parser of MJML's XML form adds have no effect here.
  const marked = { ...text('seen'), absoluteFilePath: path, file: path, includedIn: [{ file: path, line: 1 }] };
  t.notMatch(html(await designed(mjml([marked]))), /root:/);
});

t.test('elements MJML does not have, and font names that are patterns, are refused', async (t) => {
  await t.rejects(designed(mjml([{ tagName: 'mj-nope' }])), { name: 'ContentError', message: /mj-nope/ });
  for (const tagName of ['__proto__', 'constructor', 'div']) {
    await t.rejects(designed(mjml([{ tagName }])), { name: 'ContentError', message: tagName });
  }
  const font = { tagName: 'mj-font', attributes: { name: '(a+)+$', href: 'https://example.com/font.css' } };
  await t.rejects(designed(mjml([text('x')], [font])), { name: 'ContentError', message: /font/ });
});

t.test('the preheader comes first in the body, hidden, and takes the place of mj-preview', async (t) => {
  const content = await page('<html><head><title>x</title></head><body class="b">Hello</body></html>', {
    preheader: 'Now <new> ((city|a & b))',
  });
  t.match(html(content), /<body class="b"><div style="display:none[^"]*">Now &lt;new&gt; Berlin &lt;b&gt;<\/div>Hello/);
  t.equal(mergeHtml(content.html, {}).includes('Now &lt;new&gt; a &amp; b<'), true);
  t.equal(plain(content), 'Hello\n', 'the text part does not repeat it');
  const preview = mjml([text('Hello')], [{ tagName: 'mj-preview', content: 'Old preview' }]);
  t.match(html(await designed(preview)), 'Old preview');
  t.notMatch(html(await designed(preview, { preheader: 'New' })), 'Old preview');
});

t.test('a mail without preference link or postal address gets both', async (t) => {
  const footed = async (template: string) =>
    html(await page(template, { footer: true })).includes('Unsubscribe or change');
  t.equal(await footed(`<p>${complete}</p>`), false);
  t.equal(await footed('<p>((sender_address|x)) <a href=((unsubscribe_preferences))>p</a></p>'), false);
  t.equal(await footed('<p>((sender_address)), ((unsubscribe_preferences))</p>'), false);
  t.equal(await footed('<p>Hi</p>'), true);
  t.equal(await footed('<p>((sender_address))</p>'), true);
  t.equal(await footed('<a href="((unsubscribe_preferences))">x</a>'), true);
  t.equal(await footed(`<!-- ${complete} -->`), true, 'not seen in a comment');
  t.equal(await footed(`<!--[if mso]>${complete}<![endif]-->`), true, 'seen by few');
  t.equal(await footed('<head><title>((sender_address)) ((unsubscribe_preferences))</title></head>x'), true);
  t.equal(await footed('<p title="((sender_address))"><img src="((unsubscribe_preferences))"></p>'), true);
  const content = await page('<html><body>Hi</body></html>', { footer: true });
  t.match(
    html(content),
    /Street 1, City<br><a href="https:\/\/mail\.example\.com\/p\?t=1&amp;u=2"[^>]*>.*<\/a><\/div><\/body>/,
  );
  t.match(plain(content), 'Street 1, City\nUnsubscribe or change preferences (https://mail.example.com/p?t=1&u=2)');
});

t.test('the appended footer is legible on every background colour', async (t) => {
  const bodies: [string, string][] = [
    ['<body>', '#ffffff'],
    ['<body style="margin:0;background-color:#0b0d10;color:#eee">', '#0b0d10'],
    ['<body style="background: #222222 url(x.png)">', '#222222'],
    ['<body bgcolor="#808080">', '#808080'],
    ['<body style="BACKGROUND-COLOR:#fff3d6">', '#fff3d6'],
    ['<body style="background-color:black">', '#ffffff'],
    ['<body style="background-color:#12">', '#ffffff'],
    ['<body style="background-color:#c2185b">', '#c2185b'],
  ];
  for (const [body, ground] of bodies) {
    const merged = html(await page(`<html>${body}Hi</body></html>`, { footer: true }));
    const footer = merged.slice(merged.indexOf('<div style="padding:16px'));
    const colours = textColours(`<body>${footer}`, 'light').filter(({ text }) => /Street|Unsubscribe/.test(text));
    t.equal(colours.length, 2);
    for (const { background, ratio } of colours) {
      t.equal(background, ground, body);
      t.ok(ratio >= 4.5, `${body}: ${ratio}`);
    }
  }
});

t.test('the URL of the web copy replaces its placeholder, and does not count as a click', async (t) => {
  const content = await page('<a href="((web_copy))">View in browser</a> ((web_copy))', { tracking: true });
  t.strictSame(content.links, []);
  t.ok(content.placeholders.includes('web_copy'));
});

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
  t.match(plain(content), '1 (https://mail.example.com/c/token/0) 2 (https://mail.example.com/c/token/0)');
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

t.test('HTML that is nested too deeply is refused, even if elements close each other', async (t) => {
  for (const tag of ['<b>', '<div>', '<li><td>'])
    await t.rejects(page(tag.repeat(300_000)), { name: 'ContentError', message: /more than 1000 levels/ }, tag);
  for (const tag of ['<p>', '<li>', '<br>', '<img src="x">'])
    t.ok((await page(`x${tag.repeat(2000)}`)).html.length > 0, tag);
});

t.test('an address with thousands of placeholders costs linear work', async (t) => {
  const slots = scan(`https://((x))${'((x))'.repeat(100_000)}`, 'url');
  t.equal(slots.length, 100_002);
});

t.test('an open is counted by one pixel at the end of the body', async (t) => {
  const merged = html(await page('<body>x</body>', { tracking: true }));
  t.match(merged, /x<img src="https:\/\/mail\.example\.com\/o\/token"[^>]*><\/body>\n$/);
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

t.test('placeholders are found in text and attributes, and their defaults are decoded as HTML', async (t) => {
  const content = await page(
    '<p title="((x|a &amp; &quot;b&quot;))">((x|c &lt; d))</p><style>.a{color:((x|red))}</style><td background=((x))><a href="((x|https://example.com/?a&amp;b))">y</a>',
  );
  t.equal(
    html(content),
    '<p title="a &amp; &quot;b&quot;">c &lt; d</p><style>.a{color:red}</style><td background=""><a href="https://example.com/?a&amp;b">y</a>\n',
  );
});

t.test('no value breaks out of its attribute, whichever it is', async (t) => {
  const content = await page(
    `<p title=((x)) class='((x))' id="((x))">((x))</p><a href=((x))>a</a><a href='q?((x))'>b</a>`,
  );
  const merged = mergeHtml(content.html, { x: `"><script>'onload=x javascript:` });
  t.notMatch(merged, /<script|["'] ?onload/);
  t.match(merged, `<a href="">a</a><a href='q?%22%3E%3Cscript%3E&#39;onload%3Dx%20javascript%3A'>b</a>`);
  t.equal(merged.match(/&quot;&gt;&lt;script&gt;&#39;onload=x javascript:/g)?.length, 4);
});

t.test('indentation is dropped unless the page may show it', async (t) => {
  t.equal(html(await page('<p>\n\t  a\r\n\n  b</p>')), '<p>\na\nb</p>\n');
  t.equal(html(await page('<pre>\n  a</pre>')), '<pre>\n  a</pre>\n');
  t.equal(html(await page('<p style="white-space: pre">\n  a</p>')), '<p style="white-space: pre">\n  a</p>\n');
});

t.test('the text part is readable as plain text', async (t) => {
  const content =
    await page(`<html><head><title>T</title><style>p{}</style></head><body><h1>Title of ((first_name))</h1>
    <div style="display:none">hidden</div><div style="display: none;">hidden</div>
    <p>One &amp; <b>two</b><br>three</p><ul><li>a</li><li>b</li></ul>
    <table><tr><th>Head</th><td>Cell</td></tr></table>
    <a href="https://example.com"><img src="i.png" alt="Picture"></a> <a href="https://example.com/x"><img src="i.png"></a>
    <a href="https://example.com/y">https://example.com/y</a></body></html>`);
  t.equal(
    plain(content),
    'Title of Zoë & Co\n\nOne & two\nthree\n\n- a\n- b\n\nHead\nCell\n\nPicture (https://example.com) https://example.com/x https://example.com/y\n',
  );
});

t.test('an empty template is refused with its own message', async (t) => {
  for (const template_html of [null, '', ' \n'])
    await t.rejects(buildContent({ ...nothing, template_html }), { name: 'ContentError', message: /no content/ });
});

t.test('what the compiling thread cannot handle is reported as a problem of the template', async (t) => {
  const deep = '<div>'.repeat(100_000);
  await t.rejects(compileContent({ ...nothing, template_html: deep }), {
    name: 'ContentError',
    message: /nested too deeply/,
  });
  const long = '<p>((first_name))</p>'.repeat(50_000);
  await t.rejects(compileContent({ ...nothing, template_html: long }, 1), {
    name: 'ContentError',
    message: /too complicated/,
  });
});

t.test('hostile templates cost linear time', async (t) => {
  const fill = (piece: string) => piece.repeat(Math.ceil(131_072 / piece.length));
  const pieces = [
    '<',
    '<a',
    '<a href=',
    '<a href="',
    '<!--',
    '<!--[if a]>',
    '<![endif]-->',
    '<style>',
    '</',
    '&',
    '&#',
    '((',
    '((a|',
    '<br>',
    '"',
    '\n ',
    ' ',
  ];
  for (const piece of pieces) await page(`x${fill(piece)}`, { tracking: true, footer: true, preheader: fill(piece) });
  t.pass();
});
