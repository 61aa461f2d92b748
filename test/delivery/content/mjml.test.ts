/** MJML: compiled apart from everything else, without foreign fonts and files. */
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { compileContent, renderTemplate, templateProblem } from '../../../src/delivery/compiling/compile.ts';
import { PREFERENCES } from '../../../src/delivery/content/placeholders.ts';
import { buildContent } from '../../../src/delivery/mime/build.ts';
import { Sentence } from '../../../src/errors/sentences.ts';
import { designed, html, mjml, type Node, nothing, plain, text } from './templates.ts';

t.test('MJML is compiled to HTML and a text part in a separate thread', async (t) => {
  const root = mjml([
    text('<h1>Hello ((first_name|you))</h1>'),
    { tagName: 'mj-button', attributes: { href: 'https://example.com/?a=1&b=((city))' }, content: 'Buy' },
  ]);
  const content = await compileContent(1, {
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
    'Hello Zoë & Co\n\nBuy (https://example.com/?a=1&b=Berlin%20%3Cb%3E)\n\nStreet 1, City\nUnsubscribe or change preferences (https://mail.example.com/p?t=1&u=2)\n',
  );
  t.strictSame(JSON.parse(JSON.stringify(content)), content, 'it survives JSON');
});

t.test('quotes in attributes, such as in the text in place of a picture, end nothing in the HTML', async (t) => {
  const attributes = { src: 'https://x.example/a.png', alt: 'A "red" boat', href: 'https://x.example/?q="x"&b=1' };
  const column = { tagName: 'mj-column', attributes: {}, children: [{ tagName: 'mj-image', attributes }] };
  const section = { tagName: 'mj-section', attributes: {}, children: [column] };
  const body = { tagName: 'mj-body', attributes: {}, children: [section] };
  const html = await renderTemplate(1, JSON.stringify({ tagName: 'mjml', attributes: {}, children: [body] }));
  t.match(html, /alt="A &quot;red&quot; boat"/);
  t.match(html, /href="https:\/\/x\.example\/\?q=&quot;x&quot;&b=1"/);
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
      const found = templateProblem(json);
      t.match(String(found), problem);
      t.ok(found instanceof Sentence, 'it has a code, so that pages show it in their language');
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

t.test('what the compiling thread cannot handle is reported as a problem of the template', async (t) => {
  const deep = '<div>'.repeat(100_000);
  await t.rejects(compileContent(1, { ...nothing, template_html: deep }), {
    name: 'ContentError',
    message: /nested too deeply/,
  });
  const long = '<p>((first_name))</p>'.repeat(50_000);
  await t.rejects(compileContent(1, { ...nothing, template_html: long }, 1), {
    name: 'ContentError',
    message: /too complicated/,
  });
});

t.test('a template waits for one template of each other account, however many these have', async (t) => {
  const slow = { ...nothing, template_html: '<p>((first_name))</p>'.repeat(3000) };
  const done: number[] = [];
  const compile = async (accountId: number) => {
    await compileContent(accountId, slow);
    done.push(accountId);
  };
  await Promise.all([compile(1), compile(1), compile(1), compile(1), compile(2), compile(3), compile(2)]);
  t.strictSame(done, [1, 1, 2, 3, 1, 2, 1]);
});

t.test('what fails because the thread ended may be tried again, and is no problem of the template', async (t) => {
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function () {
    Worker.prototype.postMessage = postMessage;
    void this.terminate();
  };
  t.teardown(() => {
    Worker.prototype.postMessage = postMessage;
  });
  const source = { ...nothing, template_html: '<p>Hello</p>' };
  await t.rejects(compileContent(1, source), { status: 503, cause: /ended without an answer/ });
  t.match(html(await compileContent(1, source)), 'Hello');
});

t.test('styles to inline are bounded by the number of elements', (t) => {
  const problemOf = (rules: number, elements: number) => {
    const content = '.a td,.b td{color:red}'.repeat(rules);
    const style = { tagName: 'mj-style', attributes: { inline: 'inline' }, content };
    const root = mjml(Array(elements).fill(text('a')), [style]);
    return templateProblem(JSON.stringify(root));
  };
  t.equal(problemOf(500, 300), null);
  t.match(problemOf(500, 3000), { code: 'mjml_styles' });
  t.match(problemOf(50_000, 10), { code: 'mjml_styles' });
  t.end();
});
