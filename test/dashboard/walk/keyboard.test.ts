/** What a keyboard does in the dashboard, in a real browser. */
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { startApp } from '../../support/app.ts';
import { findBarriers, launch, openTab } from '../../support/dashboard/browser.ts';
import { gallery } from '../../support/dashboard/gallery.tsx';
import { addPerson, cookieOf } from '../../support/people.ts';
import { skipWithout } from '../../support/tools.ts';

t.test('the dashboard by keyboard', { skip: skipWithout('chromium') }, async (t) => {
  const browser = await launch(t);
  const app = await startApp(t);
  await app.fastify.register(gallery);
  await app.fastify.listen({ host: '127.0.0.1', port: 0 });
  const origin = `http://127.0.0.1:${(app.fastify.server.address() as AddressInfo).port}`;

  t.test('the keys show their list, search, and lead to screens, but not while somebody types', async (t) => {
    const { page } = await openTab(t, browser, origin, { cookie: cookieOf(app, addPerson(app)) });
    await page.goto(`${origin}/gallery`);
    // One of its fields has a problem, and so the focus.
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await help.waitFor();
    t.strictSame(await findBarriers(page), []);
    await page.keyboard.press('Tab');
    t.ok(await page.evaluate('document.activeElement.closest("dialog") !== null'), 'the focus stays above the page');
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'hidden' });
    const name = page.getByRole('textbox', { name: 'Name' });
    await name.fill('');
    await name.pressSequentially('gm?');
    t.equal(await name.inputValue(), 'gm?');
    t.notOk(await help.isVisible());
    await name.blur();
    // Together, because the second key counts only soon after the first.
    await Promise.all(['g', 'c'].map((key) => page.keyboard.press(key)));
    await page.waitForURL('**/campaigns');
  });

  t.test('what cannot be taken back asks first, by keyboard too', async (t) => {
    const { page } = await openTab(t, browser, origin);
    await page.goto(`${origin}/gallery`);
    // The menu is loaded before, so that it would be there at once.
    await page.keyboard.press('Control+k');
    const menu = page.locator('#finder');
    await menu.waitFor();
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Delete 12,431 contacts' }).last().press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Delete 12,431 contacts?' });
    await dialog.waitFor();
    t.strictSame(await findBarriers(page), []);
    await page.keyboard.press('Control+k');
    await page.keyboard.press('?');
    await page.evaluate(() => new Promise(requestAnimationFrame));
    t.ok(await dialog.isVisible(), 'neither the command menu nor the list of shortcuts closes the question');
    t.notOk(await menu.isVisible());
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Delete 12,431 contacts' }).last().press('Enter');
    await dialog.getByRole('button', { name: 'Delete 12,431 contacts' }).press('Enter');
    await page.getByText('You have 1,200 contacts.').waitFor();
  });

  t.test('the arrow keys read out a chart’s values, and the table beside it has the same', async (t) => {
    const { page } = await openTab(t, browser, origin);
    await page.goto(`${origin}/gallery`);
    const chart = page.getByRole('application', { name: 'Audience in the last 30 days' });
    const readout = page.locator('.readout[aria-live=polite]');
    // The first keys come before the chart is drawn.
    await chart.evaluate((element) => {
      element.focus();
      for (const key of ['End', 'ArrowLeft']) element.dispatchEvent(new KeyboardEvent('keydown', { key }));
    });
    await chart.locator('canvas').waitFor();
    t.equal(await readout.innerText(), '29 Jan: Joined 83, Left -10');
    await page.keyboard.press('ArrowRight');
    t.match(await readout.innerText(), /^30 Jan: /);
    await page.getByText('Show the numbers as a table').first().click();
    t.match(await page.getByRole('row', { name: '29 Jan' }).innerText(), /29 Jan\s+83\s+-10/);
  });

  t.test(
    'a chart with bars starts at zero, so that a third as many clicks stand at a third of the height',
    async (t) => {
      const { page } = await openTab(t, browser, origin);
      await page.goto(`${origin}/gallery`);
      const chart = page.getByRole('application', { name: 'Results of one hour' });
      t.equal(await chart.locator('canvas').count(), 0, 'below the window, it is not drawn yet');
      await chart.scrollIntoViewIfNeeded();
      await chart.locator('canvas').waitFor();
      const tops = await chart.locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
        const { width, height } = canvas;
        const { data } = canvas.getContext('2d')?.getImageData(0, 0, width, height) ?? { data: [] };
        const coloured = (series: number) => {
          const probe = document.createElement('i');
          probe.className = `colour series-${series}`;
          canvas.after(probe);
          const colour = getComputedStyle(probe).color.match(/\d+/g)?.slice(0, 3).map(Number) ?? [];
          probe.remove();
          const rows = Array.from({ length: height }, (_, row) => row).filter((row) =>
            Array.from({ length: width }, (_, at) => 4 * (row * width + at)).some((at) =>
              colour.every((value, part) => data[at + part] === value),
            ),
          );
          return { first: rows[0] ?? -1, last: rows.at(-1) ?? -1 };
        };
        return { opens: coloured(1), clicks: coloured(2) };
      });
      const { opens, clicks } = tops;
      const share = (opens.last - (clicks.first + clicks.last) / 2) / (opens.last - opens.first);
      t.ok(
        Math.abs(share - 0.333) < 0.03,
        `the point of the clicks stands at ${share.toFixed(2)} of the bar of the opens`,
      );
    },
  );
});
