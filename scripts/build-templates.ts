/**
 * Makes data/templates/*.html, *.png and *.webp from the MJML sources beside them, and screenshots to look at in test/output/templates.
 * `node scripts/build-templates.ts` needs Debian's chromium, pngquant, fonts-liberation and fonts-crosextra-caladea.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core';
import { type BuiltIn, listTemplates, templateFile } from '../src/database/reference-data.ts';
import { builtInTemplate } from '../src/database/template-texts.ts';
import { mergeHtml, scan } from '../src/delivery/content/merge.ts';
import { parseMjml, renderMjml } from '../src/delivery/content/mjml.ts';
import { PAGE_LANGUAGES } from '../src/languages.ts';

const OUTPUT = new URL('../test/output/templates/', import.meta.url);
/** Nothing external is contacted, by the browser itself neither. */
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const SAMPLE = {
  first_name: 'Maria',
  sender_name: 'Alder & Co',
  sender_address: '14 Mill Lane, Bath BA1 2QT, United Kingdom',
  unsubscribe_preferences: 'https://example.com/preferences',
  web_copy: 'https://example.com/copy',
};
/** The top of the mail as a card of 600 × 800 pixels, with a little of the page on both sides. */
const CARD = { viewport: { width: 675, height: 900 }, deviceScaleFactor: 600 / 675 };
/** The card as small as it is shown, for the dashboard, whose page of templates shows all of them at once. */
const SMALL = { width: 240, height: 320 };
const SMALL_QUALITY = 30;
const DESK = { viewport: { width: 700, height: 600 } };
const PHONE = { viewport: { width: 360, height: 640 } };

async function main(): Promise<void> {
  mkdirSync(OUTPUT, { recursive: true });
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: QUIET,
  });
  try {
    for (const template of listTemplates()) await build(browser, template);
  } finally {
    await browser.close();
  }
}

async function build(browser: Browser, template: BuiltIn): Promise<void> {
  const html = await renderMjml(parseMjml(readFileSync(templateFile(template, 'json'), 'utf8')), true);
  writeFileSync(templateFile(template, 'html'), html);

  const shown = mergeHtml(scan(html), SAMPLE);
  const card = await screenshot(browser, shown, CARD, false);
  const preview = execFileSync('pngquant', ['--strip', '--speed', '1', '64', '-'], { input: card });
  writeFileSync(templateFile(template, 'png'), preview);

  writeFileSync(templateFile(template, 'webp'), await smaller(browser, preview));

  for (const [width, size] of Object.entries({ desk: DESK, phone: PHONE })) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const name = template.preview_image.replace('.png', `-${width}-${colorScheme}.png`);
      writeFileSync(new URL(name, OUTPUT), await screenshot(browser, shown, { ...size, colorScheme }, true));
    }
  }
  // The same in the other languages, whose words are longer.
  const codes = { json_code: readFileSync(templateFile(template, 'json'), 'utf8'), html_code: html };
  for (const language of PAGE_LANGUAGES) {
    const translated = mergeHtml(scan(builtInTemplate(codes, language).html_code), SAMPLE);
    for (const [width, size] of Object.entries({ desk: DESK, phone: PHONE })) {
      const name = template.preview_image.replace('.png', `-${language}-${width}.png`);
      writeFileSync(new URL(name, OUTPUT), await screenshot(browser, translated, size, true));
    }
  }
  console.log(`${template.template_name}: HTML ${kilobytes(html.length)}, preview ${kilobytes(preview.length)}`);
}

async function screenshot(browser: Browser, html: string, options: BrowserContextOptions, fullPage: boolean) {
  const page = await browser.newPage({ ...options, javaScriptEnabled: false, offline: true });
  try {
    await page.setContent(html);
    return await page.screenshot({ fullPage });
  } finally {
    await page.close();
  }
}

/** The picture as a small WebP. */
async function smaller(browser: Browser, png: Buffer): Promise<Buffer> {
  const page = await browser.newPage({ viewport: SMALL, offline: true });
  try {
    const image = `<img src="data:image/png;base64,${png.toString('base64')}" style="width: 100%">`;
    await page.setContent(`<body style="margin: 0">${image}`);
    const session = await page.context().newCDPSession(page);
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: SMALL_QUALITY });
    return Buffer.from(data, 'base64');
  } finally {
    await page.close();
  }
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}

await main();
