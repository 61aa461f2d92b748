/** Chromium for the dashboard's tests: opens a page as a person does and keeps everything the browser complains of. */
import { mkdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  type Browser,
  type BrowserContextOptions,
  type CDPSession,
  chromium,
  type Page,
  type Request,
  type Route,
} from 'playwright-core';
import type { Test } from 'tap';
import { FLAGS } from '../../../fixtures/chromium.ts';
import { toolPath } from '../tools.ts';
import { DESK, OUTPUT } from '../walked-pages.ts';

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** Those of axe's rules that see colours: all that a colour scheme can break, once the page is accessible in the other one. */
export const RULES_OF_COLOURS = ['color-contrast', 'link-in-text-block'];
/** Those of axe's rules that see where things stand: what another size can break, besides what only this size shows. */
export const RULES_OF_PLACES = ['scrollable-region-focusable', 'target-size'];

/** The code of axe. Its whole source is twice as large, and a page compiles it in twice the time. */
const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Starts Chromium for a test, with these flags besides those of every test. */
export async function launch(t: Test, flags: readonly string[] = []): Promise<Browser> {
  mkdirSync(OUTPUT, { recursive: true });
  const browser = await chromium.launch({ executablePath: toolPath('chromium'), args: [...FLAGS, ...flags] });
  t.teardown(() => browser.close());
  return browser;
}

/** A tab and what went wrong in it. */
export interface Tab {
  page: Page;
  /** Addresses outside our origin that were asked for. */
  outside: string[];
  /** Errors and warnings on the console, and exceptions. */
  complaints: string[];
  /** Bytes received, as compressed on the wire. */
  received(): number;
}

/** Opens a tab for pages of `origin`. */
export async function openTab(
  t: Test,
  browser: Browser,
  origin: string,
  { cookie, ...options }: BrowserContextOptions & { cookie?: string } = {},
): Promise<Tab> {
  const context = await browser.newContext({
    viewport: DESK,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    ...options,
  });
  t.teardown(() => context.close());
  if (cookie !== undefined) {
    const [name = '', value = ''] = cookie.split('=');
    await context.addCookies([{ name, value, url: origin }]);
  }
  const page = await context.newPage();
  const outside: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !/^(data|blob|about):/.test(request.url())) outside.push(request.url());
  });
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  const received = await countBytes(await context.newCDPSession(page));
  return { page, outside, complaints, received };
}

/**
 * Holds the answers to the page's requests for these addresses until `release` is called, all of them or those that `isHeld` chooses. The
 * service answers at once, so a held answer becomes out of date. `asked` has the held requests so far.
 */
export async function holdAnswers(
  page: Page,
  url: string,
  isHeld: (request: Request) => boolean = () => true,
): Promise<{ asked: Request[]; release: () => Promise<void> }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const asked: Request[] = [];
  const answered: Promise<void>[] = [];
  const answerLate = async (route: Route) => {
    const response = await route.fetch({ maxRedirects: 0 });
    await promise;
    // The page may have given the request up.
    await route.fulfill({ response }).catch(() => undefined);
  };
  await page.route(url, (route) => {
    if (!isHeld(route.request())) return route.continue();
    asked.push(route.request());
    const late = answerLate(route);
    answered.push(late);
    return late;
  });
  const release = async () => {
    resolve();
    await Promise.all(answered);
  };
  return { asked, release };
}

/** Waits until the page has done what it does with an answer that was held, unless that needs other requests. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
}

/**
 * Counts what the page itself loads, without its typeface, which a browser keeps for a year. Chromium reports what the
 * frames of mails load only where they share the page's process.
 */
async function countBytes(session: CDPSession): Promise<() => number> {
  let bytes = 0;
  const notCounted = new Set<string>();
  const { frameTree } = await session.send('Page.getFrameTree');
  session.on('Network.requestWillBeSent', ({ requestId, frameId, type }) => {
    const isOfFrame = frameId !== undefined && frameId !== frameTree.frame.id;
    if (isOfFrame || type === 'Font') notCounted.add(requestId);
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (!notCounted.has(requestId)) bytes += encodedDataLength;
  });
  await session.send('Network.enable');
  return () => bytes;
}

/**
 * What axe finds against WCAG 2.2 AA and good practice, or these rules, as one line for each rule and element: on the page, or in the
 * elements that the code `within` gives.
 */
export async function findBarriers(page: Page, rules = RULES, within = 'document'): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE);
  // Without iframes, axe does not wait for one that has no axe in it; without other results, it writes down violations alone.
  const options = { runOnly: rules, resultTypes: ['violations'], iframes: false };
  return page.evaluate(
    `axe.run(${within}, ${JSON.stringify(options)}).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map((node) => id + ': ' + node.html.slice(0, 160) + ' ' + (node.any[0]?.message ?? ''))))`,
  );
}

/** By how many pixels the page is wider than the window. */
export function excessWidth(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - innerWidth');
}

/** Controls that are smaller than 24 by 24 pixels, except links within text (WCAG 2.2, 2.5.8). */
export function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('button, .button, input, select, summary, nav a')]
    .filter((e) => e.checkVisibility() && e.type !== 'hidden')
    .map((e) => [e.closest('label') ?? e, e])
    .map(([box, e]) => [box.getBoundingClientRect(), e])
    .filter(([{ width, height }]) => width < 24 || height < 24)
    .map(([{ width, height }, e]) => e.outerHTML.slice(0, 100) + ' ' + Math.round(width) + '×' + Math.round(height))`);
}

/** Badges, such as a status, whose text does not fit into them or into their cell. */
export function cutBadges(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('.badge')]
    .filter((e) => e.checkVisibility())
    .map((e) => [e, e.closest('td, th') ?? e])
    .filter(([e, cell]) => e.scrollWidth > e.clientWidth || e.getBoundingClientRect().right > cell.getBoundingClientRect().right + 1
      || e.getBoundingClientRect().bottom > (cell.closest('tr, .card, main') ?? document.body).getBoundingClientRect().bottom + 1)
    .map(([e]) => e.textContent)`);
}

/** Leaves a picture of the page in test/output. */
export async function picture(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: new URL(`dashboard-${name}.png`, OUTPUT).pathname, fullPage: true });
}
