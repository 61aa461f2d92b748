/** Pages in a real browser: what a test looks at on each of them. */
import type { AddressInfo } from 'node:net';
import type { Writable } from 'node:stream';
import type { Browser, Page } from 'playwright-core';
import type { Test } from 'tap';
import { startApp } from './app.ts';

export const PHONE = { width: 375, height: 760 };
export const DESK = { width: 1280, height: 860 };
/** The folder of the pictures of what fails. */
export const OUTPUT = new URL('../output/', import.meta.url);

/** The text of WCAG 2 contrast: the least ratio of any visible text on the page to its ground. */
const LEAST_CONTRAST = `(() => {
  const channel = (c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const parts = (text) => text.match(/[\\d.]+/g).map(Number);
  const groundOf = (e) => { for (; e; e = e.parentElement) { const p = parts(getComputedStyle(e).backgroundColor); if (p.length < 4 || p[3] > 0) return p; } return [255, 255, 255]; };
  let least = [99, ''];
  for (const e of document.body.querySelectorAll('*')) {
    if (!e.checkVisibility() || e.disabled || e.matches('option,script,noscript')) continue;
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim() !== '')) continue;
    const [a, b] = [light(parts(getComputedStyle(e).color)), light(groundOf(e))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < least[0]) least = [ratio, e.textContent.trim().slice(0, 40)];
  }
  return least;
})()`;

/** What can be operated on the page and has no name, or cannot be reached with the keyboard. */
export const NAMELESS = `[...document.querySelectorAll('a[href],button,input,select,textarea,iframe,dialog,[role=button],.gjs-pn-btn,.gjs-block')]
  .filter((e) => e.checkVisibility())
  .filter((e) => !(e.getAttribute('aria-label') || e.title || e.labels?.[0]?.innerText || e.innerText?.trim()) || (e.tabIndex < 0 && e.tagName !== 'DIALOG'))
  .map((e) => e.outerHTML.slice(0, 120))`;

/** Chromium, one page at a time; every request beside our origin and every complaint of the browser is kept. */
export async function browse(t: Test, browser: Browser, origin: string, options: object = {}) {
  const context = await browser.newContext({ viewport: DESK, javaScriptEnabled: false, ...options });
  const page = await context.newPage();
  const outside: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !/^(data|blob|about):/.test(request.url())) outside.push(request.url());
  });
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  t.teardown(() => context.close());
  return { page, context, outside, complaints };
}

/**
 * Looks at a page at both widths, light and dark: nothing may stick out sideways, all text must be legible. A picture
 * of what fails is kept.
 */
export async function look(t: Test, page: Page, name: string): Promise<void> {
  for (const [width, viewport] of [
    ['phone', PHONE],
    ['desk', DESK],
  ] as const) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const [ratio, text] = (await page.evaluate(LEAST_CONTRAST)) as [number, string];
      t.ok(ratio >= 4.5, `${name} ${width} ${colorScheme}: “${text}” has a contrast of ${ratio.toFixed(2)}`);
      const excess = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      t.ok(Number(excess) <= 0, `${name} ${width}: nothing sticks out`);
      if (ratio >= 4.5 && Number(excess) <= 0) continue;
      await page.screenshot({ path: new URL(`${name}-${width}-${colorScheme}.png`, OUTPUT).pathname, fullPage: true });
    }
  }
}

/** A listening application and its origin. */
export async function serve(t: Test, logTo?: Writable) {
  const app = await startApp(t, {}, undefined, logTo);
  await app.fastify.listen({ host: '127.0.0.1', port: 0 });
  return { app, origin: `http://127.0.0.1:${(app.fastify.server.address() as AddressInfo).port}` };
}
