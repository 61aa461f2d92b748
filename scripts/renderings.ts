/**
 * Makes pictures of the mails of the built-in templates, light and dark, 390 and 700 pixels wide. Each mail is shown in English, in German,
 * and for a contact who does not see its second section. The page test/output/renderings/index.html shows all pictures. If a picture differs
 * from that of the last run, for example because of a change of the code, the page shows both and the pixels that differ.
 *
 *   npm run renderings
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { type BuiltIn, listTemplates, templateFile } from '../src/database/built-in-templates.ts';
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

interface Picture {
  /** The name of the file without its ending. */
  name: string;
  /** In pixels. */
  width: number;
  /** The share of the pixels that differ from the picture of the last run, from 0 to 1; null: the last run did not make this picture. */
  changed: number | null;
}

/**
 * JavaScript for a tab of the browser: a function that compares the pictures of two URLs. It returns the share of the pixels that differ,
 * and the URL of a picture that shows them. Differences of up to `tolerance` in a channel are ignored.
 */
const COMPARE = `async (urls) => {
  const tolerance = 8;
  const images = await Promise.all(urls.map(async (src) => {
    const image = Object.assign(new Image(), { src });
    await image.decode();
    return image;
  }));
  const largest = (side) => Math.max(...images.map((image) => image[side]));
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
    for (let channel = at; channel < at + 4; channel++)
      differs ||= Math.abs(before.data[channel] - after.data[channel]) > tolerance;
    if (differs) count++;
    const grey = 224 + (after.data[at] + after.data[at + 1] + after.data[at + 2]) / 25;
    after.data.set(differs ? [208, 0, 0, 255] : [grey, grey, grey, 255], at);
  }
  context.putImageData(after, 0, 0);
  return { share: count / (canvas.width * canvas.height), url: canvas.toDataURL('image/png') };
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
          pictures.push({ name, width, changed: await storePicture(browser, name, png) });
        }
});
writeFileSync(new URL('index.html', OUTPUT), page(pictures));
const changed = pictures.filter((picture) => picture.changed);
for (const { name, changed: share } of changed)
  console.log(`${name}: ${(100 * (share ?? 0)).toFixed(2)} % of the pixels`);
console.log(
  `${pictures.length} pictures, ${changed.length} differ from the last run: ${fileURLToPath(OUTPUT)}index.html`,
);

/** The HTML of the mails that are made from a template, each with the word for it in the names of its pictures. */
async function mailsOf(template: BuiltIn): Promise<[string, string][]> {
  const english = {
    json_code: readFileSync(templateFile(template, 'json'), 'utf8'),
    html_code: readFileSync(templateFile(template, 'html'), 'utf8'),
  };
  const buildMail = async (template_json: string) => {
    const source = { template_json, template_html: null, subject: '', preheader: '', tracking: false, footer: true };
    return mergeHtml((await buildContent(source)).html, VALUES);
  };
  return [
    ['whole', await buildMail(english.json_code)],
    ['german', await buildMail(builtInTemplate(english, 'de').json_code)],
    ['hidden', await buildMail(JSON.stringify(withHiddenSection(parseMjml(english.json_code))))],
  ];
}

/** Hides the second section of a design from the contact of the pictures, who has no value of the field `plan`. */
function withHiddenSection(design: MjmlNode): MjmlNode {
  let sections = 0;
  const hideIn = ({ children, ...node }: MjmlNode): MjmlNode => {
    const isHidden = node.tagName === 'mj-section' && ++sections === 2;
    const attributes = isHidden ? { ...node.attributes, [SHOW_TO]: 'plan = "pro"' } : node.attributes;
    return { ...node, attributes, ...(children && { children: children.map(hideIn) }) };
  };
  return hideIn(design);
}

/**
 * Stores a picture. If it differs from that of the last run, stores the earlier picture and one of the differences too. Returns the share of
 * the pixels that differ; null if the last run did not make this picture.
 */
async function storePicture(browser: Browser, name: string, png: Buffer): Promise<number | null> {
  const file = (suffix: string) => new URL(`${name}${suffix}.png`, OUTPUT);
  for (const suffix of ['-before', '-difference']) rmSync(file(suffix), { force: true });
  const before = existsSync(file('')) ? readFileSync(file('')) : null;
  writeFileSync(file(''), png);
  if (before === null) return null;
  if (before.equals(png)) return 0;
  const { share, difference } = await comparePictures(browser, before, png);
  writeFileSync(file('-before'), before);
  writeFileSync(file('-difference'), difference);
  return share;
}

/** Returns the share of the pixels that differ, and the second picture in pale grey with these pixels in red. */
async function comparePictures(
  browser: Browser,
  before: Buffer,
  after: Buffer,
): Promise<{ share: number; difference: Buffer }> {
  const tab = await browser.newPage({ offline: true });
  const urls = [before, after].map((png) => `data:image/png;base64,${png.toString('base64')}`);
  const comparing = tab.evaluate<{ share: number; url: string }>(`(${COMPARE})(${JSON.stringify(urls)})`);
  const { share, url } = await comparing.finally(() => tab.close());
  return { share, difference: Buffer.from(url.replace(/^.*,/, ''), 'base64') };
}

/** The HTML of the page with all pictures, which begins with those that differ. */
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
    ...[...templates].map(([template, itsPictures]) =>
      section(
        template,
        itsPictures.map(({ name, width }) => figure(name, width, name)),
      ),
    ),
    '</html>\n',
  ].join('\n');
}
