/**
 * Looks at screens of the dashboard in a real browser: light and dark, on a phone and on a desk. A picture of what fails is left in
 * test/output.
 */
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import {
  cutBadges,
  excessWidth,
  findBarriers,
  picture,
  RULES_OF_COLOURS,
  RULES_OF_PLACES,
  smallTargets,
} from '../../support/dashboard/browser.ts';
import { DESK, PHONE } from '../../support/walked-pages.ts';
import type { Screen } from './screens.ts';
import type { Visit } from './visits.ts';

const KILOBYTE = 1000;
/** What a first visit may load, compressed, without the typeface. */
const BUDGET = 70 * KILOBYTE;

/** The narrowest window in which nothing may need scrolling sideways (WCAG 2.2, 1.4.10), and a wide screen. Both are low, since painting takes CPU time. */
const NARROWEST = { width: 320, height: 200 };
const WIDEST = { width: 3840, height: 200 };

/**
 * The bytes of the page and of all that it loads, as compressed on the wire, with 300 for the header of each answer. What the browser has
 * kept of earlier pages counts, too; the mail in a frame does not.
 */
const LOADED = `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .filter(({ name, initiatorType }) => !name.endsWith('.woff2') && initiatorType !== 'iframe')
  .reduce((sum, { encodedBodySize }) => sum + encodedBodySize + 300, 0)`;

/**
 * Tests that a screen which was opened on a desk is accessible, fits, and stays within its budget, in each size and colour scheme. A desk
 * shows more pictures at once than a phone, so it loads more.
 *
 * axe looks at the whole screen twice: with all rules in light colours on a desk, and on a phone in dark ones with those that colours and
 * places can break. What only one of the sizes shows is looked at there in the other colours, too. `seen` keeps what was looked at, so that
 * the navigation, and what only one size shows, is looked at once if it is the same on many screens.
 */
export async function lookAt(t: Test, screen: Screen, visit: Visit, seen: Set<string>): Promise<void> {
  const { name } = screen;
  const { page, outside, complaints } = visit;
  const loaded = Number(await page.evaluate(LOADED));
  t.ok(loaded <= BUDGET, `${name}: ${loaded} bytes of at most ${BUDGET}`);

  t.strictSame(
    await findBarriers(page, undefined, await withoutSeenNavigation(page, 'desk light', seen)),
    [],
    `${name} desk light: axe finds nothing`,
  );
  await testSize(t, page, `${name} desk`);
  await page.evaluate(`window.onDesk = ${SHOWN}`);
  await testWidth(t, page, name, WIDEST);

  await page.setViewportSize(PHONE);
  await page.evaluate(`window.onPhone = ${SHOWN}`);
  t.strictSame(await barriersOfOne(page, ['onPhone', 'onDesk'], seen), [], `${name} phone light: axe finds nothing`);
  await page.emulateMedia({ colorScheme: 'dark' });
  t.strictSame(
    await findBarriers(
      page,
      [...RULES_OF_COLOURS, ...RULES_OF_PLACES],
      await withoutSeenNavigation(page, 'phone dark', seen),
    ),
    [],
    `${name} phone dark: axe finds nothing`,
  );
  await testSize(t, page, `${name} phone`);
  await testWidth(t, page, name, NARROWEST);

  await page.setViewportSize(DESK);
  t.strictSame(
    await barriersOfOne(page, ['onDesk', 'onPhone'], seen, RULES_OF_COLOURS),
    [],
    `${name} desk dark: axe finds nothing`,
  );
  t.strictSame([outside, complaints], [[], []], `${name}: nothing from elsewhere, nothing on the console`);
  if (!t.passing()) await picture(page, name);
}

async function testSize(t: Test, page: Page, where: string): Promise<void> {
  t.ok((await excessWidth(page)) <= 0, `${where}: nothing sticks out`);
  t.strictSame(await smallTargets(page), [], `${where}: every control is at least 24 pixels wide and high`);
  t.strictSame(await cutBadges(page), [], `${where}: every status is read in whole`);
}

async function testWidth(t: Test, page: Page, name: string, viewport: typeof WIDEST): Promise<void> {
  await page.setViewportSize(viewport);
  t.ok((await excessWidth(page)) <= 0, `${name} at ${viewport.width} pixels: nothing sticks out`);
  t.strictSame(await cutBadges(page), [], `${name} at ${viewport.width} pixels: every status is read in whole`);
}

/** Code that gives what axe looks at: the document, without its navigation if exactly the same one was `seen` in this look. */
async function withoutSeenNavigation(page: Page, look: string, seen: Set<string>): Promise<string> {
  const navigation: string = await page.evaluate("document.querySelector('nav.sidebar')?.outerHTML ?? ''");
  const key = `${look} ${navigation}`;
  const isSeen = navigation !== '' && seen.has(key);
  seen.add(key);
  return isSeen ? "{ include: ['html'], exclude: ['nav.sidebar'] }" : 'document';
}

/** The elements that are shown. */
const SHOWN =
  "new Set([...document.body.querySelectorAll('*')].filter((e) => e.checkVisibility({ visibilityProperty: true })))";

/** What axe finds in the elements that one size shows and the other does not, the outermost of them, unless they were `seen`. */
async function barriersOfOne(
  page: Page,
  [one, other]: ['onPhone', 'onDesk'] | ['onDesk', 'onPhone'],
  seen: Set<string>,
  rules?: string[],
): Promise<string[]> {
  const found: string[] = await page.evaluate(
    `{ const isOfOne = (e) => window.${one}.has(e) && !window.${other}.has(e);
      window.ofOne = [...window.${one}].filter((e) => isOfOne(e) && !isOfOne(e.parentElement));
      window.ofOne.map((e) => e.outerHTML); }`,
  );
  const isNew = (html: string) => !seen.has(`${one} ${html}`);
  const places = found.flatMap((html, at) => (isNew(html) ? [at] : []));
  for (const html of found) seen.add(`${one} ${html}`);
  return places.length === 0
    ? []
    : findBarriers(page, rules, `window.ofOne.filter((_, at) => [${places}].includes(at))`);
}
