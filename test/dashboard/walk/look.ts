/**
 * Looks at screens of the dashboard in a real browser: light and dark, on a phone and on a desk. A picture of what fails is left in
 * test/output.
 */
import type { Test } from 'tap';
import { excessWidth, findBarriers, picture, RULES_OF_COLOURS, smallTargets } from '../../support/dashboard/browser.ts';
import { DESK, PHONE } from '../../support/walked-pages.ts';
import type { Screen } from './screens.ts';
import type { Visit } from './visits.ts';

const KILOBYTE = 1000;
/** What a first visit may load, compressed, without the typeface. */
const BUDGET = 70 * KILOBYTE;

/**
 * The narrowest window in which nothing may need scrolling sideways (WCAG 2.2, 1.4.10), and a wide screen, low since
 * painting takes CPU time.
 */
const NARROWEST = { width: 320, height: 640 };
const WIDEST = { width: 3840, height: 640 };

/** Tests that a visit of a screen has loaded no more than its budget. */
function testBudget(t: Test, { name }: Screen, { received }: Visit): void {
  t.ok(received() <= BUDGET, `${name}: ${received()} bytes of at most ${BUDGET}`);
}

/**
 * Tests that a screen which was opened on a desk is accessible, fits, and stays within its budget, in each size and colour scheme. A desk
 * shows more pictures at once than a phone, so it loads more.
 */
export async function lookAt(t: Test, screen: Screen, visit: Visit): Promise<void> {
  const { name } = screen;
  const { page, outside, complaints } = visit;
  testBudget(t, screen, visit);
  for (const [size, viewport, farther] of [
    ['desk', DESK, WIDEST],
    ['phone', PHONE, NARROWEST],
  ] as const) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme: 'light' });
    t.strictSame(await findBarriers(page), [], `${name} ${size} light: axe finds nothing`);
    await page.emulateMedia({ colorScheme: 'dark' });
    t.strictSame(await findBarriers(page, RULES_OF_COLOURS), [], `${name} ${size} dark: axe finds nothing`);
    t.ok((await excessWidth(page)) <= 0, `${name} ${size}: nothing sticks out`);
    t.strictSame(await smallTargets(page), [], `${name} ${size}: every control is at least 24 pixels wide and high`);
    await page.setViewportSize(farther);
    t.ok((await excessWidth(page)) <= 0, `${name} at ${farther.width} pixels: nothing sticks out`);
  }
  t.strictSame([outside, complaints], [[], []], `${name}: nothing from elsewhere, nothing on the console`);
  if (!t.passing()) await picture(page, name);
}
