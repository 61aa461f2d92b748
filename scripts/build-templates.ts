/**
 * `node scripts/build-templates.ts` makes data/templates/*.html, *.png and *.webp from the MJML sources in the same folder. It needs Debian's
 * chromium-headless-shell or chromium, pngquant, fonts-liberation and fonts-crosextra-caladea. For pictures of the whole mails, see
 * `npm run renderings`.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { type BuiltIn, listTemplates, templateFile } from '../src/database/built-in-templates.ts';
import { mergeHtml } from '../src/delivery/content/merge.ts';
import { parseMjml, renderMjml } from '../src/delivery/content/mjml.ts';
import { scan } from '../src/delivery/content/placeholders.ts';
import { inBrowser, screenshot } from './browser.ts';

const SAMPLE = {
  first_name: 'Maria',
  sender_name: 'Alder & Co',
  sender_address: '14 Mill Lane, Bath BA1 2QT, United Kingdom',
  unsubscribe_preferences: 'https://example.com/preferences',
  web_copy: 'https://example.com/copy',
};
/** The window of a preview: it shows the top of the mail and a margin on both sides, as a picture of 600 × 800 pixels. */
const PREVIEW = { viewport: { width: 675, height: 900 }, deviceScaleFactor: 600 / 675 };
/** The size in pixels of the dashboard's previews. They are small because the page of templates shows all of them at once. */
const SMALL_PREVIEW = { width: 240, height: 320 };
/** The WebP quality of the small previews, from 0 to 100. */
const SMALL_QUALITY = 30;

async function build(browser: Browser, template: BuiltIn): Promise<void> {
  const html = await renderMjml(parseMjml(readFileSync(templateFile(template, 'json'), 'utf8')), true);
  writeFileSync(templateFile(template, 'html'), html);

  const mail = mergeHtml(scan(html), SAMPLE);
  const picture = await screenshot(browser, mail, PREVIEW, false);
  const preview = execFileSync('pngquant', ['--strip', '--speed', '1', '64', '-'], { input: picture });
  writeFileSync(templateFile(template, 'png'), preview);

  writeFileSync(templateFile(template, 'webp'), await smallPreview(browser, preview));
  console.log(`${template.template_name}: HTML ${kilobytes(html.length)}, preview ${kilobytes(preview.length)}`);
}

/** Returns a small WebP of a preview. */
async function smallPreview(browser: Browser, png: Buffer): Promise<Buffer> {
  const page = await browser.newPage({ viewport: SMALL_PREVIEW, offline: true });
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
