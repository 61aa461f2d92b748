/**
 * Makes pictures of the mails of the built-in templates, light and dark, 390 and 700 pixels wide: each as it is, in German, and for a contact
 * who does not see its second section. The page test/output/renderings/index.html shows them all. Where a picture differs from the one
 * of the last run, such as that before a change, the page shows both and the pixels that differ.
 *
 *   npm run renderings
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { type BuiltIn, listTemplates, templateFile } from '../src/database/reference-data.ts';
import { builtInTemplate } from '../src/database/template-texts.ts';
import { SHOW_TO } from '../src/delivery/content/block-attributes.ts';
import { escapeHtml, mergeHtml } from '../src/delivery/content/merge.ts';
import { type MjmlNode, parseMjml } from '../src/delivery/content/mjml.ts';
import { buildContent } from '../src/delivery/mime/build.ts';
import { inBrowser, screenshot } from './browser.ts';

const OUTPUT = new URL('../test/output/renderings/', import.meta.url);
const WIDTHS = [390, 700];
const SCHEMES = ['light', 'dark'] as const;
const VALUES = {
  first_name: 'Maria',
  sender_name: 'Alder & Co',
  sender_address: '14 Mill Lane, Bath BA1 2QT, United Kingdom',
  unsubscribe_preferences: 'https://example.com/preferences',
  web_copy: 'https://example.com/copy',
};

/** A picture by the name of its file, with the part of its pixels that differ from the last run: 0: none; null: there was no last run. */
interface Picture {
  name: string;
  width: number;
  changed: number | null;
}

/** Runs in a tab of the browser. Differences of up to `least` in a channel are ignored. */
const COMPARE = `async (urls) => {
  const least = 8;
  const images = await Promise.all(urls.map(async (src) => {
    const image = Object.assign(new Image(), { src });
    await image.decode();
    return image;
  }));
  const largest = (of) => Math.max(...images.map((image) => image[of]));
  const canvas = Object.assign(document.createElement('canvas'), { width: largest('width'), height: largest('height') });
  const context = canvas.getContext('2d', { willReadFrequently: true });
  const [before, after] = images.map((image) => {
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, canvas.width, canvas.height);
  });
  let count = 0;
  for (let at = 0; at < after.data.length; at += 4) {
    let differs = false;
    for (let part = at; part < at + 4; part++) differs ||= Math.abs(before.data[part] - after.data[part]) > least;
    if (differs) count++;
    const grey = 224 + (after.data[at] + after.data[at + 1] + after.data[at + 2]) / 25;
    after.data.set(differs ? [208, 0, 0, 255] : [grey, grey, grey, 255], at);
  }
  context.putImageData(after, 0, 0);
  return { part: count / (canvas.width * canvas.height), url: canvas.toDataURL('image/png') };
}`;

const pictures: Picture[] = [];
await inBrowser(async (browser) => {
  mkdirSync(OUTPUT, { recursive: true });
  for (const template of listTemplates().filter(({ is_blank }) => is_blank === 0))
    for (const [variant, html] of await mailsOf(template))
      for (const width of WIDTHS)
        for (const colorScheme of SCHEMES) {
          const name = `${template.preview_image.replace('.png', '')}-${variant}-${width}-${colorScheme}`;
          const png = await screenshot(browser, html, { viewport: { width, height: 600 }, colorScheme }, true);
          pictures.push({ name, width, changed: await stored(browser, name, png) });
        }
});
writeFileSync(new URL('index.html', OUTPUT), page(pictures));
const changed = pictures.filter((picture) => picture.changed);
for (const { name, changed: part } of changed)
  console.log(`${name}: ${(100 * (part ?? 0)).toFixed(2)} % of the pixels`);
console.log(
  `${pictures.length} pictures, ${changed.length} differ from the last run: ${fileURLToPath(OUTPUT)}index.html`,
);

/** The mails that are made from a template, each with its name in the names of its pictures. */
async function mailsOf(template: BuiltIn): Promise<[string, string][]> {
  const english = {
    json_code: readFileSync(templateFile(template, 'json'), 'utf8'),
    html_code: readFileSync(templateFile(template, 'html'), 'utf8'),
  };
  const mail = async (template_json: string) => {
    const source = { template_json, template_html: null, subject: '', preheader: '', tracking: false, footer: true };
    return mergeHtml((await buildContent(source)).html, VALUES);
  };
  return [
    ['whole', await mail(english.json_code)],
    ['german', await mail(builtInTemplate(english, 'de').json_code)],
    ['hidden', await mail(JSON.stringify(withHiddenSection(parseMjml(english.json_code))))],
  ];
}

/** A design whose second section is for contacts with a value that the contact of the pictures does not have. */
function withHiddenSection(design: MjmlNode): MjmlNode {
  let sections = 0;
  const inPart = ({ children, ...part }: MjmlNode): MjmlNode => {
    const isHidden = part.tagName === 'mj-section' && ++sections === 2;
    const attributes = isHidden ? { ...part.attributes, [SHOW_TO]: 'plan = "pro"' } : part.attributes;
    return { ...part, attributes, ...(children && { children: children.map(inPart) }) };
  };
  return inPart(design);
}

/** Stores a picture. If it differs from that of the last run, this one and the pixels that differ are stored beside it. */
async function stored(browser: Browser, name: string, png: Buffer): Promise<number | null> {
  const file = (more: string) => new URL(`${name}${more}.png`, OUTPUT);
  for (const more of ['-before', '-difference']) rmSync(file(more), { force: true });
  const before = existsSync(file('')) ? readFileSync(file('')) : null;
  writeFileSync(file(''), png);
  if (before === null || before.equals(png)) return before && 0;
  const { part, difference } = await compared(browser, before, png);
  writeFileSync(file('-before'), before);
  writeFileSync(file('-difference'), difference);
  return part;
}

/** The part of the pixels that differ between two pictures, and a picture of the second one in pale grey with these pixels in red. */
async function compared(
  browser: Browser,
  before: Buffer,
  after: Buffer,
): Promise<{ part: number; difference: Buffer }> {
  const tab = await browser.newPage({ offline: true });
  const urls = [before, after].map((png) => `data:image/png;base64,${png.toString('base64')}`);
  const compare = tab.evaluate<{ part: number; url: string }>(`(${COMPARE})(${JSON.stringify(urls)})`);
  const { part, url } = await compare.finally(() => tab.close());
  return { part, difference: Buffer.from(url.replace(/^.*,/, ''), 'base64') };
}

/** The page of the pictures, those that differ first. */
function page(all: readonly Picture[]): string {
  const figure = (name: string, width: number, caption: string) =>
    `<figure><a href="${name}.png"><img src="${name}.png" width="${Math.round(width / 2)}" loading="lazy" alt=""></a><figcaption>${escapeHtml(caption)}</figcaption></figure>`;
  const section = (title: string, figures: readonly string[]) =>
    figures.length === 0 ? '' : `<h2>${escapeHtml(title)}</h2><div>${figures.join('')}</div>`;
  const differences = all.filter(({ changed }) => changed);
  const templates = Map.groupBy(all, ({ name }) => name.replace(/-.*/, ''));
  return [
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Renderings</title>',
    '<style>body{font:14px system-ui;margin:16px}div{display:flex;flex-wrap:wrap;gap:16px;align-items:flex-start}figure{margin:0}img{border:1px solid #888}</style>',
    section(
      `${differences.length} of ${all.length} pictures differ from the last run`,
      differences.flatMap(({ name, width, changed }) => [
        figure(`${name}-before`, width, `${name}, before`),
        figure(name, width, `${name}, now`),
        figure(`${name}-difference`, width, `${(100 * (changed ?? 0)).toFixed(2)} % of the pixels`),
      ]),
    ),
    ...[...templates].map(([template, of]) =>
      section(
        template,
        of.map(({ name, width }) => figure(name, width, name)),
      ),
    ),
    '</html>\n',
  ].join('\n');
}
