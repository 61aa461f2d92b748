/** Chromium for pictures of mails: it contacts nothing, and no script of a page runs. */
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core';
import { CHROMIUM } from '../fixtures/chromium.ts';

/** Nothing external is contacted, not even by the browser itself. */
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts Chromium for `work` and ends it afterwards. */
export async function inBrowser(work: (browser: Browser) => Promise<void>): Promise<void> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET });
  await work(browser).finally(() => browser.close());
}

/** Returns the picture of a mail as PNG: what the window shows, or the whole mail. */
export async function screenshot(
  browser: Browser,
  html: string,
  options: BrowserContextOptions,
  fullPage: boolean,
): Promise<Buffer> {
  const page = await browser.newPage({ ...options, javaScriptEnabled: false, offline: true });
  try {
    await page.setContent(html);
    return await page.screenshot({ fullPage });
  } finally {
    await page.close();
  }
}
