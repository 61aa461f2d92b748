/** Opens screens of the dashboard in a real browser: light and dark, on a phone and on a desk. Pictures are left in test/output. */
import type { Test } from 'tap';
import { excessWidth, findBarriers, launch, openTab, picture, smallTargets } from '../../support/dashboard/browser.ts';
import { HOSTILE_NAMES } from '../../support/dashboard/filled-account.ts';
import { DESK, PHONE } from '../../support/walked-pages.ts';
import type { Screen } from './screens.ts';
import { startWalked } from './walked-service.ts';

const KILOBYTE = 1000;
/** What a first visit may load, compressed. */
const BUDGET = { plain: 60 * KILOBYTE, withChart: 100 * KILOBYTE, withPictures: 200 * KILOBYTE };

/** The narrowest window in which nothing may need scrolling sideways (WCAG 2.2, 1.4.10), and a wide screen. */
const NARROWEST = { width: 320, height: 640 };
const WIDEST = { width: 3840, height: 2160 };

/** Tests these screens, of an account whose names are hostile. */
export async function walkScreens(t: Test, screens: readonly Screen[]): Promise<void> {
  const browser = await launch(t);
  const { origin, cookies, addressOf } = await startWalked(t, HOSTILE_NAMES);
  for (const screen of screens) {
    const { name, hasChart = false, hasPictures = false, isLive = false, account = 'filled' } = screen;
    t.test(`${name} is accessible, fits, and stays within its budget, in each size and colour scheme`, async (t) => {
      for (const [size, viewport, farther] of [
        ['phone', PHONE, NARROWEST],
        ['desk', DESK, WIDEST],
      ] as const) {
        const { page, outside, complaints, received } = await openTab(t, browser, origin, {
          viewport,
          ...(account !== 'none' && { cookie: cookies[account] }),
        });
        await page.goto(addressOf(screen), { waitUntil: isLive ? 'load' : 'networkidle' });
        const budget = hasPictures ? BUDGET.withPictures : hasChart ? BUDGET.withChart : BUDGET.plain;
        t.ok(received() <= budget, `${name} ${size}: ${received()} bytes of at most ${budget}`);
        for (const colorScheme of ['light', 'dark'] as const) {
          const what = `${name} ${size} ${colorScheme}`;
          await page.emulateMedia({ colorScheme });
          await picture(page, `${name}-${size}-${colorScheme}`);
          t.strictSame(await findBarriers(page), [], `${what}: axe finds nothing`);
        }
        t.ok((await excessWidth(page)) <= 0, `${name} ${size}: nothing sticks out`);
        t.strictSame(
          await smallTargets(page),
          [],
          `${name} ${size}: every control is at least 24 pixels wide and high`,
        );
        await page.setViewportSize(farther);
        t.ok((await excessWidth(page)) <= 0, `${name} at ${farther.width} pixels: nothing sticks out`);
        t.strictSame(
          [outside, complaints],
          [[], []],
          `${name} ${size}: nothing from elsewhere, nothing on the console`,
        );
        await page.context().close();
      }
    });
  }
}
