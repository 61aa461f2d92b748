/** The designer around the mail, in a browser: its room, its header, its panel and its colours. */
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { launch, openTab } from '../support/dashboard/browser.ts';
import { addPerson, cookieOf } from '../support/people.ts';
import { readyToSend } from '../support/single-sends.ts';
import { skipWithout } from '../support/tools.ts';

/** The designer of a draft made from a template, within the dashboard, in a window of 1440 × 900. */
async function openDraft(t: Test) {
  const { app } = await readyToSend(t);
  const browser = await launch(t);
  await app.fastify.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.fastify.server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const { page } = await openTab(t, browser, origin, { cookie: cookieOf(app, addPerson(app, 'editor')) });
  await page.setViewportSize({ width: 1440, height: 900 });
  const made = await app.one.call('POST', '/single/send/draft', { form: { single_send_name: 'Spring' } });
  const { utr } = made.body.message;
  await app.one.call('POST', '/single/send/save', { form: { utr, template_id: 9, subject: 'News '.repeat(12) } });
  await page.goto(`${origin}/campaigns/${utr}/edit/design`);
  const designer = page.frameLocator('iframe.designer');
  await designer.locator('body[data-ready=yes]').waitFor();
  const mail = designer.frameLocator('iframe.gjs-frame');
  return { page, designer, mail };
}

t.test('in the browser', { skip: skipWithout('chromium') }, async (t) => {
  t.test('a mail has at least 700 pixels in a window of 1440, and does not move when it is changed', async (t) => {
    const { page, designer } = await openDraft(t);
    const canvas = designer.locator('.gjs-cv-canvas');
    const before = await canvas.boundingBox();
    t.ok(before !== null && before.width >= 700, `it has ${before?.width}`);
    await designer.getByRole('button', { name: 'Add: Text' }).press('Enter');
    await designer.getByText('Not saved yet').waitFor();
    t.strictSame(await canvas.boundingBox(), before);
    t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'nothing sticks out');
  });

  t.test(
    'beside the designer the navigation is a strip of icons, and above its mail is how an inbox shows it',
    async (t) => {
      const { page, designer } = await openDraft(t);
      for (const link of await page.locator('.sidebar :is(.find-link, li a):visible').all()) {
        const { width, height } = (await link.boundingBox()) ?? { width: 0, height: 0 };
        t.ok(width <= 60 && height <= 48, `${await link.innerText()}: ${width} × ${height}`);
      }
      const head = designer.locator('header .what');
      t.match(await head.innerText(), /News.*\nNo preview text yet/s);
      t.notMatch(await head.innerText(), '((');
    },
  );

  t.test('the panel shows the style of a part that is clicked in the mail', async (t) => {
    const { designer, mail } = await openDraft(t);
    const chosen = designer.locator('.gjs-pn-views .gjs-pn-active');
    t.equal(await chosen.innerText(), 'Blocks');
    await mail.locator('[data-gjs-type="mj-text"]').first().click();
    await designer.locator('.gjs-pn-views .gjs-pn-active', { hasText: '' }).waitFor();
    t.ok(await designer.locator('.gjs-sm-sectors').isVisible());
  });

  t.test('a mail has the same colours where the page around it is dark', async (t) => {
    const { page, designer, mail } = await openDraft(t);
    const colours = async (colorScheme: 'light' | 'dark') => {
      await page.emulateMedia({ colorScheme });
      const text = mail.locator('[data-gjs-type="mj-text"]').first();
      return [
        await text.evaluate((part) => getComputedStyle(part).color),
        await mail.locator('body').evaluate((body) => getComputedStyle(body).backgroundColor),
        await designer.locator('iframe.gjs-frame').evaluate((frame) => getComputedStyle(frame).backgroundColor),
      ];
    };
    const light = await colours('light');
    t.equal(light[2], 'rgb(255, 255, 255)');
    t.strictSame(await colours('dark'), light);
  });
});
