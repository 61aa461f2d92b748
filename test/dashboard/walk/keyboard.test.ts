/** What a keyboard does in the dashboard, in a real browser. */
import t from 'tap';
import { findBarriers, launch, openTab } from '../../support/dashboard/browser.ts';
import { HOSTILE_NAMES } from '../../support/dashboard/filled-account.ts';
import { skipWithout } from '../../support/tools.ts';
import { startWalked } from './walked-service.ts';

t.test('the dashboard by keyboard', { skip: skipWithout('chromium') }, async (t) => {
  const browser = await launch(t);
  const { origin, cookies } = await startWalked(t, HOSTILE_NAMES);

  t.test('the keys show their list, search, and lead to screens, but not while somebody types', async (t) => {
    const { page } = await openTab(t, browser, origin, { cookie: cookies.filled });
    await page.goto(`${origin}/gallery`);
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await help.waitFor();
    t.strictSame(await findBarriers(page), []);
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
