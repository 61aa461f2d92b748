/** Chromium for pictures of mails: it contacts nothing, and no script of a page runs. */
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core';
import { CHROMIUM, FLAGS } from '../fixtures/chromium.ts';

/** Starts Chromium for `work` and ends it afterwards. */
export async function inBrowser(work: (browser: Browser) => Promise<void>): Promise<void> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
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
