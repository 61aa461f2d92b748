/** Adding pictures in a real browser: several at once, chosen, dropped or pasted, and scaled down before they are sent. */
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import t from 'tap';
import { startApp } from '../support/app.ts';
import { holdAnswers, launch, openTab, settled } from '../support/dashboard/browser.ts';
import { addPerson, cookieOf } from '../support/people.ts';
import { png } from '../support/pictures.ts';
import { skipWithout } from '../support/tools.ts';
import { until } from '../support/until.ts';

/** Drops or pastes pictures of these widths, drawn by the browser in this format, and a text file. */
function give(page: Page, how: 'drop' | 'paste', type: string, widths: readonly number[]): Promise<void> {
  return page.evaluate(
    async ([how, type, widths]) => {
      const data = new DataTransfer();
      for (const width of widths) {
        const canvas = document.createElement('canvas');
        canvas.width = width;
        canvas.height = 40;
        canvas.getContext('2d')?.fillRect(0, 0, width / 2, 40);
        const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, type));
        if (blob !== null) data.items.add(new File([blob], `${how} ${width}`, { type }));
      }
      data.items.add(new File(['text'], 'notes.txt', { type: 'text/plain' }));
      const options = { bubbles: true, cancelable: true };
      const event =
        how === 'drop'
          ? new DragEvent('drop', { ...options, dataTransfer: data })
          : new ClipboardEvent('paste', { ...options, clipboardData: data });
      document.body.dispatchEvent(event);
    },
    [how, type, widths] as const,
  );
}

t.test('in the browser', { skip: skipWithout('chromium') }, async (t) => {
  const browser = await launch(t);
  const app = await startApp(t);
  const cookie = cookieOf(app, addPerson(app));
  await app.fastify.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.fastify.server.address() as AddressInfo;
  const address = `http://127.0.0.1:${port}/images`;
  const stored = () => app.db.prepare('SELECT name, kind, width, height FROM pictures ORDER BY id').raw().all();

  t.test('several files are added at once, with the reason beside each that is not', async (t) => {
    const { page, complaints } = await openTab(t, browser, address, { cookie });
    await page.goto(address, { waitUntil: 'networkidle' });
    t.equal(
      await page.getByRole('button', { name: 'Add', exact: true }).count(),
      0,
      'what is chosen is sent without a button',
    );
    await page.setInputFiles('#file', [
      { name: 'one.png', mimeType: 'image/png', buffer: png(30, 20) },
      { name: 'broken.png', mimeType: 'image/png', buffer: png(30, 21).subarray(0, -3) },
      { name: 'two.png', mimeType: 'image/png', buffer: png(40, 20) },
    ]);
    await page.getByRole('link', { name: 'two' }).waitFor();
    t.strictSame(stored(), [
      ['one', 'png', 30, 20],
      ['two', 'png', 40, 20],
    ]);
    t.strictSame(await page.locator('.uploads li').allInnerTexts(), [
      'broken.png\nThe image is cut off: its end is missing.',
    ]);
    t.match(await page.locator('[data-pictures="news"]').textContent(), 'Not all images were added');
    t.strictSame(complaints, []);
  });

  t.test('wide pictures are scaled down in their own format, dropped or pasted', async (t) => {
    const { page } = await openTab(t, browser, address, { cookie });
    await page.goto(address, { waitUntil: 'networkidle' });
    await give(page, 'drop', 'image/png', [3200, 1600]);
    await page.getByRole('link', { name: 'drop 1600' }).waitFor();
    await page.locator('.uploads .problem').waitFor();
    await give(page, 'paste', 'image/jpeg', [2000]);
    await page.getByRole('link', { name: 'paste 2000' }).waitFor();
    t.strictSame(stored().slice(2), [
      ['drop 3200', 'png', 1600, 20],
      ['drop 1600', 'png', 1600, 40],
      ['paste 2000', 'jpeg', 1600, 32],
    ]);
    t.match(await page.locator('.uploads li').first().innerText(), /notes\.txt\s+The file must be an image/);
  });

  t.test('what the library had before the last picture was added does not replace what it has now', async (t) => {
    const { page } = await openTab(t, browser, address, { cookie });
    await page.goto(address, { waitUntil: 'networkidle' });
    const late = await holdAnswers(page, address, () => late.asked.length === 0);
    const add = (name: string, height: number) =>
      page.setInputFiles('#file', { name: `${name}.png`, mimeType: 'image/png', buffer: png(50, height) });
    await add('harbour', 20);
    await until(() => late.asked.length === 1);
    await add('market', 21);
    await page.getByRole('link', { name: 'market' }).waitFor();
    await late.release();
    await settled(page);
    t.equal(await page.getByRole('link', { name: 'market' }).count(), 1);
  });

  t.test('the address of a picture is copied with one button', async (t) => {
    const { page } = await openTab(t, browser, address, { cookie });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(`${address}/1`, { waitUntil: 'networkidle' });
    await page.getByRole('button', { name: 'Copy address' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    t.match(copied, /^http:\/\/mail\.example\.com\/pictures\/[0-9a-f]{32}\/one\.png$/);
  });
});
