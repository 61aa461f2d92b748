/** `npm run screenshots`: makes the pictures of docs/screenshots from an account that is filled in the same way each time. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import t from 'tap';
import { launch, openTab } from '../../support/dashboard/browser.ts';
import { DESK, PHONE } from '../../support/walked-pages.ts';
import { SCREENS } from './screens.ts';
import { startWalked } from './walked-service.ts';

const FOLDER = new URL('../../../docs/screenshots/', import.meta.url);
/** Sharp letters at a third of a PNG's size. */
const WEBP_QUALITY = 82;

/** What the window shows, as WebP. */
async function webp(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: WEBP_QUALITY });
  return Buffer.from(data, 'base64');
}

t.setTimeout(10 * 60_000);
const service = await startWalked(t, (plain) => plain);
const browser = await launch(t);
mkdirSync(FOLDER, { recursive: true });
for (const name of readdirSync(FOLDER)) rmSync(new URL(name, FOLDER));
let bytes = 0;
for (const screen of SCREENS) {
  const { name, picture, isLive = false, account = 'filled' } = screen;
  if (picture === undefined) continue;
  for (const [size, viewport] of [
    ['desk', DESK],
    ['phone', PHONE],
  ] as const) {
    const { page } = await openTab(t, browser, service.origin, {
      viewport,
      isMobile: viewport === PHONE,
      ...(account !== 'none' && { cookie: service.cookies[account] }),
    });
    await page.goto(service.addressOf(screen), { waitUntil: isLive ? 'load' : 'networkidle' });
    for (const colorScheme of picture === 'both' ? (['light', 'dark'] as const) : (['light'] as const)) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const content = await webp(page);
      bytes += content.length;
      writeFileSync(new URL(`${name}-${size}${colorScheme === 'dark' ? '-dark' : ''}.webp`, FOLDER), content);
    }
    await page.context().close();
  }
}
t.comment(`${readdirSync(FOLDER).length} pictures, ${Math.round(bytes / 1000)} kB`);
t.end();
