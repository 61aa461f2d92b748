/** From a template to compiled content: preheader, footer, placeholders, text part, hostile templates. */
import t from 'tap';
import { type FooterLanguage, PREFERENCES_LINK } from '../../../src/delivery/content/footer.ts';
import { mergeHtml, mergeText } from '../../../src/delivery/content/merge.ts';
import { FOOTER_LINK, scan } from '../../../src/delivery/content/placeholders.ts';
import { contactFieldsFor, mergeValues } from '../../../src/delivery/content/values.ts';
import { buildContent } from '../../../src/delivery/mime/build.ts';
import { PAGE_LANGUAGES } from '../../../src/languages.ts';
import { textColours } from '../../support/mails/contrast.ts';
import { complete, designed, html, mjml, nothing, page, plain, text } from './templates.ts';

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

t.test('the footer is in the language that the mail declares, and in English without one', async (t) => {
  const footerOf = async (tag: string) => html(await page(`${tag}<body><p>Hi</p></body></html>`, { footer: true }));
  for (const language of PAGE_LANGUAGES)
    t.ok((await footerOf(`<html lang="${language}">`)).includes(`>${PREFERENCES_LINK[language]}</a>`), language);
  t.ok((await footerOf('<html lang=" FR-ca ">')).includes(PREFERENCES_LINK.fr));
  for (const other of ['<html>', '<html lang="sv">', '<html lang="">', '<html lang="constructor">'])
    t.ok((await footerOf(other)).includes(PREFERENCES_LINK.en), other);
  const polish = { ...mjml([text('Hi')]), attributes: { lang: 'pl' } };
  t.ok(html(await designed(polish, { footer: true })).includes(PREFERENCES_LINK.pl));
});

t.test(
  'the footer of a version is in its language, and that of a mail without versions in that of each contact',
  async (t) => {
    const compiled = (tag: string, footerLanguage: FooterLanguage) =>
      page(`${tag}<body><p>Hi</p></body></html>`, { footer: true, footerLanguage });
    const version = html(await compiled('<html lang="de">', { version: 'fr' }));
    t.ok(version.includes(`>${PREFERENCES_LINK.fr}</a>`), 'not in the one that its template declares');
    const unknown = html(await compiled('<html lang="de">', { version: 'sv' }));
    t.ok(unknown.includes(PREFERENCES_LINK.de), 'a language without a footer has that of the template');

    const shared = await compiled('<html>', { otherwise: 'it' });
    t.ok(shared.placeholders.includes(FOOTER_LINK));
    const fields = contactFieldsFor(shared.placeholders, []);
    t.ok(fields.includes('language') && fields.includes('country'), 'so the language of each contact is read');
    for (const [contact, language] of [
      [{ language: 'pl', country: 'France' }, 'pl'],
      [{ country: 'France' }, 'fr'],
      [{ language: 'sv' }, 'it'],
      [{}, 'it'],
    ] as const) {
      const values = { ...mergeValues(contact, [], 'a@example.org'), sender_address: '' };
      t.ok(mergeHtml(shared.html, values).includes(`>${PREFERENCES_LINK[language]}</a>`), language);
      t.ok(mergeText(shared.text, values).includes(PREFERENCES_LINK[language]), 'in the text part too');
    }
    const declared = await compiled('<html lang="es">', { otherwise: 'it' });
    t.ok(mergeHtml(declared.html, {}).includes(PREFERENCES_LINK.es), 'who has no language gets that of the template');
  },
);

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
