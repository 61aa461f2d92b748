/** Makes pictures of mails with Chromium. The mails are shown offline, and their scripts do not run. */
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core';
import { CHROMIUM, FLAGS } from '../fixtures/chromium.ts';

/** Runs `work` with a new Chromium, which is closed afterwards. */
export async function inBrowser(work: (browser: Browser) => Promise<void>): Promise<void> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  await work(browser).finally(() => browser.close());
}

/** Returns a PNG of a mail. With `fullPage` it shows the whole mail, otherwise only the part that fits the window. */
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
