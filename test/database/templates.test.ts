/** The built-in templates: what each must hold so that an owner can send it as it is, and how they reach the database. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { migrate } from 'drizzle-orm/better-sqlite3/migrator';
import mjml2html from 'mjml';
import t, { type Test } from 'tap';
import { type BuiltIn, listTemplates, seedTemplates, templateFile } from '../../src/database/built-in-templates.ts';
import { connect } from '../../src/database/open.ts';
import { mergeText } from '../../src/delivery/content/merge.ts';
import { parseMjml, renderMjml } from '../../src/delivery/content/mjml.ts';
import { placeholderNames, scan } from '../../src/delivery/content/placeholders.ts';
import { buildContent } from '../../src/delivery/mime/build.ts';
import { textColours } from '../support/mails/contrast.ts';

const KNOWN: string[] = JSON.parse(readFileSync(new URL('../../data/dynamic-content.json', import.meta.url), 'utf8'));
/** Gmail cuts a mail that is longer. */
const GMAIL_CLIPS_AT = 102_000;
/** What the design page's editor gives back unharmed; it loses the cells of mj-table and the defaults of mj-attributes. */
const ELEMENTS = new Set(
  'mjml mj-head mj-title mj-raw mj-style mj-body mj-wrapper mj-section mj-group mj-column mj-text mj-button mj-divider mj-spacer'.split(
    ' ',
  ),
);

const templates = listTemplates();
const json = (template: BuiltIn) => readFileSync(templateFile(template, 'json'), 'utf8');
const html = (template: BuiltIn) => readFileSync(templateFile(template, 'html'), 'utf8');
const rows = (client: Database.Database) =>
  client.prepare<[], Record<string, unknown>>('SELECT * FROM design_templates ORDER BY id').all();

/** A rule that every template follows. */
function every(rule: string, check: (t: Test, template: BuiltIn) => void | Promise<void>): void {
  t.test(rule, async (t) => {
    for (const template of templates) await t.test(template.template_name, (t) => Promise.resolve(check(t, template)));
  });
}

t.test('the blank template is number 1, the others follow, one for each thing a business writes', async (t) => {
  t.strictSame(
    templates.map(({ id, preview_image, is_blank }) => [id, preview_image, is_blank]),
    [
      [1, 'blank.png', 1],
      [2, 'newsletter.png', 0],
      [3, 'announcement.png', 0],
      [4, 'welcome.png', 0],
      [5, 'product.png', 0],
      [6, 'event.png', 0],
      [7, 'promotion.png', 0],
      [8, 'notice.png', 0],
      [9, 'letter.png', 0],
    ],
  );
  t.equal(new Set(templates.map(({ template_name }) => template_name)).size, templates.length);
});

every('compiles without an MJML error to exactly the HTML beside it', async (t, template) => {
  const { errors } = await mjml2html(JSON.parse(json(template)), { fonts: {}, validationLevel: 'strict' });
  t.strictSame(errors, []);
  t.equal(await renderMjml(parseMjml(json(template)), true), html(template), 'run scripts/build-templates.ts');
});

every(
  'carries an unsubscribe link, the postal address and a link to its web copy, and only names that exist',
  (t, template) => {
    const names = placeholderNames([scan(html(template))]);
    t.match(html(template), /<a href="\(\(unsubscribe_preferences\)\)"[^>]*>Unsubscribe/);
    t.ok(['sender_address', 'sender_name', 'web_copy'].every((name) => names.includes(name)));
    t.strictSame(
      names.filter((name) => ![...KNOWN, 'web_copy'].includes(name)),
      [],
    );
  },
);

every('is complete as a mail: nothing is appended, the text part reads without the HTML', async (t, template) => {
  const source = { template_json: null, subject: 'A subject', preheader: 'A preheader', tracking: true };
  const given = { ...source, template_html: html(template) };
  const [withFooter, without] = await Promise.all([true, false].map((footer) => buildContent({ ...given, footer })));
  t.strictSame(withFooter, without);
  const values = { unsubscribe_preferences: 'https://example.com/u', sender_address: 'Mill Lane' };
  const text = mergeText(withFooter?.text ?? [], values);
  t.match(text, 'https://example.com/u');
  t.match(text, 'Mill Lane');
  t.notMatch(text, /\(\(|<\w|undefined/);
});

every('contacts nothing: no image, font or style sheet from elsewhere, links to example.com alone', (t, template) => {
  const code = html(template).replace(/ xmlns(:\w+)?="[^"]*"/g, '');
  t.notMatch(code, /<img|<link|<script|<iframe|@import|@font-face|url\(|src=|background="/i);
  const hosts = [...code.matchAll(/(?:https?:)?\/\/([^/"'\s>]*)/g)].map(([, host]) => host);
  t.strictSame(
    [...new Set(hosts)].filter((host) => host !== 'example.com'),
    [],
  );
});

every('has a contrast of at least 4.5 everywhere, in light and in dark', (t, template) => {
  for (const scheme of ['light', 'dark'] as const) {
    const colours = textColours(html(template), scheme);
    t.ok(colours.length >= 4, 'text was found');
    t.strictSame(
      colours.filter(({ ratio }) => ratio < 4.5),
      [],
      scheme,
    );
  }
  const page = (scheme: 'light' | 'dark') => textColours(html(template), scheme).at(-1)?.background;
  t.not(page('light'), page('dark'), 'the page turns dark');
  t.match(html(template), '<meta name="color-scheme" content="light dark" />');
});

every('can be read aloud: a language, headings in order, tables that are data or presentation', (t, template) => {
  t.match(html(template), /<html lang="en" dir="ltr"/);
  t.match(html(template), /<title>[^<]*\(\(sender_name\)\)<\/title>/);
  const levels = [...html(template).matchAll(/<h([1-6])/g)].map(([, level]) => Number(level));
  const wordsOnly = ['blank.png', 'letter.png'].includes(template.preview_image);
  t.equal(levels.filter((level) => level === 1).length, wordsOnly ? 0 : 1);
  t.ok(
    levels.every((level, at) => level - (levels[at - 1] ?? 0) <= 1),
    `no level is skipped: ${levels}`,
  );
  const plain = [...html(template).matchAll(/<table(?![^>]*role="presentation")[^>]*>.*?<\/table>/gs)];
  for (const [table] of plain) t.match(table, /<th scope="row"/);
});

every('stays below the length at which Gmail cuts mails', (t, template) => {
  t.ok(Buffer.byteLength(html(template)) < GMAIL_CLIPS_AT);
});

every('survives the design page: elements it knows, styles and content that are well-formed XML', (t, template) => {
  for (const { tagName, content = '' } of nodes(JSON.parse(json(template)))) {
    t.ok(ELEMENTS.has(tagName), tagName);
    if (tagName === 'mj-style') t.notMatch(content, /[<>&]/, 'comes back escaped');
    else t.strictSame(unbalanced(content), [], content.slice(0, 60));
  }
});

every('has a preview of 600 × 800 pixels and at most 60 kB', (t, template) => {
  const png = readFileSync(templateFile(template, 'png'));
  t.equal(png.toString('latin1', 0, 16), '\x89PNG\r\n\x1a\n\0\0\0\rIHDR');
  t.strictSame([png.readUInt32BE(16), png.readUInt32BE(20)], [600, 800]);
  t.ok(png.length <= 60_000, `${png.length} bytes`);
});

t.test('seeding fills the table, and writes nothing the second time', async (t) => {
  const client = emptyDatabase(t);
  seedTemplates(client);
  const [first] = templates;
  if (!first) throw new Error('no templates');
  t.strictSame(
    rows(client).map(({ id, template_name, preview_image, is_blank }) => ({
      id,
      template_name,
      preview_image,
      is_blank,
    })),
    templates,
  );
  t.match(rows(client)[0], { html_code: html(first), created_at: null, updated_at: null });
  t.strictSame(JSON.parse(String(rows(client)[0]?.json_code)), JSON.parse(json(first)));

  const before = client.prepare('SELECT total_changes()').pluck().get();
  seedTemplates(client);
  t.equal(client.prepare('SELECT total_changes()').pluck().get(), before);
});

t.test('an upgrade replaces what an older release had, under the same id', async (t) => {
  const client = emptyDatabase(t);
  seedTemplates(client);
  const wanted = rows(client);
  client.exec("UPDATE design_templates SET template_name = 'Old', html_code = '<p>Old</p>' WHERE id = 3");
  client.exec('DELETE FROM design_templates WHERE id = 9');
  seedTemplates(client);
  t.strictSame(rows(client), wanted);
});

function emptyDatabase(t: Test): Database.Database {
  const db = connect(join(t.testdir({}), 'empty.db'));
  t.teardown(() => db.$client.close());
  migrate(db, { migrationsFolder: new URL('../../drizzle', import.meta.url).pathname });
  return db.$client;
}

interface Node {
  tagName: string;
  content?: string;
  children?: Node[];
}

function nodes(node: Node): Node[] {
  return [node, ...(node.children ?? []).flatMap(nodes)];
}

/** The tags of some content that do not pair up, and ampersands that begin no numeric reference. */
function unbalanced(content: string): string[] {
  const open: string[] = [];
  const wrong: string[] = content.match(/&(?!amp;|#\d+;)\S*/g) ?? [];
  for (const [tag, closing, name = '', selfClosing] of content.matchAll(
    /<(\/?)(\w+)(?:\s+[\w-]+="[^"<]*")*\s*(\/?)>/g,
  )) {
    if (selfClosing) continue;
    if (!closing) open.push(name);
    else if (open.pop() !== name) wrong.push(tag);
  }
  return [...wrong, ...open];
}
