/** Every screen of the dashboard in a real browser: light and dark, on a phone and on a desk. Pictures are left in test/output. */
import t from 'tap';
import { skipWithout } from '../support/tools.ts';
import { DESK, PHONE } from '../support/walked-pages.ts';
import { excessWidth, findBarriers, launch, openTab, picture, smallTargets } from './browser.ts';
import { HOSTILE_NAMES } from './filled-account.ts';
import { SCREENS } from './screens.ts';
import { startWalked } from './walked-service.ts';

const KILOBYTE = 1000;
/** What a first visit may load, compressed. */
const BUDGET = { plain: 60 * KILOBYTE, withChart: 100 * KILOBYTE };

/** The narrowest window in which nothing may need scrolling sideways (WCAG 2.2, 1.4.10), and a wide screen. */
const NARROWEST = { width: 320, height: 640 };
const WIDEST = { width: 3840, height: 2160 };

t.test('the dashboard in the browser', { skip: skipWithout('chromium') }, async (t) => {
  const browser = await launch(t);
  const { origin, cookies, addressOf } = await startWalked(t, HOSTILE_NAMES);

  for (const screen of SCREENS) {
    const { name, hasChart = false, isLive = false, account = 'filled' } = screen;
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
        const budget = hasChart ? BUDGET.withChart : BUDGET.plain;
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

  t.test('the keys show their list, search, and lead to screens, but not while somebody types', async (t) => {
    const { page } = await openTab(t, browser, origin, { cookie: cookies.filled });
    await page.goto(`${origin}/gallery`);
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await help.waitFor();
    t.strictSame(await findBarriers(page), []);
    await picture(page, 'shortcuts-desk-light');
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'hidden' });
    await page.getByLabel('Name').fill('');
    await page.getByLabel('Name').pressSequentially('gm?');
    t.equal(await page.getByLabel('Name').inputValue(), 'gm?');
    t.notOk(await help.isVisible());
    await page.getByLabel('Name').blur();
    await page.keyboard.press('g');
    await page.keyboard.press('m');
    await page.waitForURL('**/mailings');
  });

  t.test('what cannot be taken back asks first, by keyboard too', async (t) => {
    const { page } = await openTab(t, browser, origin);
    await page.goto(`${origin}/gallery`);
    await page.getByRole('button', { name: 'Delete 12,431 people' }).last().press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Delete 12,431 people?' });
    await dialog.waitFor();
    t.strictSame(await findBarriers(page), []);
    await picture(page, 'confirm-desk-light');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Delete 12,431 people' }).last().press('Enter');
    await dialog.getByRole('button', { name: 'Delete 12,431 people' }).press('Enter');
    await page.getByText('1,200 people are here.').waitFor();
  });

  t.test('the arrow keys read out a chart’s values, and the table beside it has the same', async (t) => {
    const { page } = await openTab(t, browser, origin);
    await page.goto(`${origin}/gallery`);
    const chart = page.getByRole('application', { name: 'Audience in the last 30 days' });
    await chart.focus();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    t.equal(await page.locator('.readout[aria-live=polite]').innerText(), '29 Jan: Joined 83, Left -10');
    await page.getByText('Show the numbers as a table').click();
    t.match(await page.getByRole('row', { name: '29 Jan' }).innerText(), /29 Jan\s+83\s+-10/);
  });
});
