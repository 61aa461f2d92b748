/** Every screen of the dashboard in a real browser: light and dark, on a phone and on a desk. Pictures are left in test/output. */
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { startApp } from '../support/app.ts';
import { addPerson, cookieOf } from '../support/people.ts';
import { skipWithout } from '../support/tools.ts';
import { DESK, PHONE } from '../support/walked-pages.ts';
import { excessWidth, findBarriers, launch, openTab, picture, smallTargets } from './browser.ts';
import { fillAccount } from './filled-account.ts';
import { fillMailings } from './filled-mailings.ts';
import { gallery } from './gallery.tsx';
import { SCREENS } from './screens.ts';

const KILOBYTE = 1000;
/** What a first visit may load, compressed. */
const BUDGET = { plain: 60 * KILOBYTE, withChart: 100 * KILOBYTE };

/** A service with a filled and an empty account, the cookies of their owners, and the components' gallery. */
async function start(t: Test) {
  const app = await startApp(t);
  await app.fastify.register(gallery);
  const utrs = { utr: await fillAccount(t, app), ...(await fillMailings(t, app)) };
  const cookies = {
    filled: cookieOf(app, addPerson(app, 'owner', { name: 'Ada' })),
    empty: cookieOf(app, addPerson(app, 'owner', { name: 'Grace', accountId: 2 })),
  };
  await app.fastify.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.fastify.server.address() as AddressInfo;
  return { utrs, cookies, origin: `http://127.0.0.1:${port}` };
}

t.test('the dashboard in the browser', { skip: skipWithout('chromium') }, async (t) => {
  const browser = await launch(t);
  const { origin, cookies, utrs } = await start(t);

  for (const { name, path, hasChart = false, isLive = false, account = 'filled' } of SCREENS) {
    t.test(`${name} is accessible, fits, and stays within its budget, in each size and colour scheme`, async (t) => {
      for (const [size, viewport] of [
        ['phone', PHONE],
        ['desk', DESK],
      ] as const) {
        for (const colorScheme of ['light', 'dark'] as const) {
          const { page, outside, complaints, received } = await openTab(t, browser, origin, {
            viewport,
            colorScheme,
            cookie: cookies[account],
          });
          const address = path.replace(/:(utr|opened|sending|held)/, (_, which: keyof typeof utrs) => utrs[which]);
          await page.goto(origin + address, { waitUntil: isLive ? 'load' : 'networkidle' });
          const what = `${name} ${size} ${colorScheme}`;
          await picture(page, `${name}-${size}-${colorScheme}`);
          const budget = hasChart ? BUDGET.withChart : BUDGET.plain;
          t.ok(received() <= budget, `${what}: ${received()} bytes of at most ${budget}`);
          t.strictSame(await findBarriers(page), [], `${what}: axe finds nothing`);
          t.ok((await excessWidth(page)) <= 0, `${what}: nothing sticks out`);
          t.strictSame(await smallTargets(page), [], `${what}: every control is at least 24 pixels wide and high`);
          t.strictSame([outside, complaints], [[], []], `${what}: nothing from elsewhere, nothing on the console`);
          await page.context().close();
        }
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
