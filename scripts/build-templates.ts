/**
 * Makes data/templates/*.html, *.png and *.webp from the MJML sources beside them; `npm run renderings` makes pictures to look at.
 * `node scripts/build-templates.ts` needs Debian's chromium-headless-shell or chromium, pngquant, fonts-liberation and fonts-crosextra-caladea.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { type BuiltIn, listTemplates, templateFile } from '../src/database/reference-data.ts';
import { mergeHtml, scan } from '../src/delivery/content/merge.ts';
import { parseMjml, renderMjml } from '../src/delivery/content/mjml.ts';
import { inBrowser, screenshot } from './browser.ts';

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

async function build(browser: Browser, template: BuiltIn): Promise<void> {
  const html = await renderMjml(parseMjml(readFileSync(templateFile(template, 'json'), 'utf8')), true);
  writeFileSync(templateFile(template, 'html'), html);

  const shown = mergeHtml(scan(html), SAMPLE);
  const card = await screenshot(browser, shown, CARD, false);
  const preview = execFileSync('pngquant', ['--strip', '--speed', '1', '64', '-'], { input: card });
  writeFileSync(templateFile(template, 'png'), preview);

  writeFileSync(templateFile(template, 'webp'), await smaller(browser, preview));
  console.log(`${template.template_name}: HTML ${kilobytes(html.length)}, preview ${kilobytes(preview.length)}`);
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

await inBrowser(async (browser) => {
  for (const template of listTemplates()) await build(browser, template);
});
