/** The designer around the mail, in a browser: its room, its header, its panel and its colours. */
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { launch, openTab } from '../support/dashboard/browser.ts';
import { addPerson, cookieOf } from '../support/people.ts';
import { png, uploadPicture } from '../support/pictures.ts';
import { readyToSend } from '../support/single-sends.ts';
import { skipWithout } from '../support/tools.ts';

/**
 * An account and a browser. Returns a function that opens the designer of a new draft made from a template, within the dashboard, in a window
 * of 1440 × 900. All drafts are opened in the same tab, because a new tab compiles the designer's scripts anew, which takes half a second.
 */
async function startDesigning(t: Test) {
  const { app } = await readyToSend(t);
  const browser = await launch(t);
  await app.fastify.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.fastify.server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const cookie = cookieOf(app, addPerson(app, 'editor'));
  const { page } = await openTab(t, browser, origin, { cookie });
  return async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ colorScheme: 'light' });
    const made = await app.one.call('POST', '/single/send/draft', { form: { single_send_name: 'Spring' } });
    const { utr } = made.body.message;
    await app.one.call('POST', '/single/send/save', { form: { utr, template_id: 9, subject: 'News '.repeat(12) } });
    await page.goto(`${origin}/campaigns/${utr}/edit/design`);
    const designer = page.frameLocator('iframe.designer');
    await designer.locator('body[data-ready=yes]').waitFor();
    const mail = designer.frameLocator('iframe.gjs-frame');
    return { app, utr, page, designer, mail };
  };
}

t.test('in the browser', { skip: skipWithout('chromium') }, async (t) => {
  const openDraft = await startDesigning(t);

  t.test('a mail has at least 700 pixels in a window of 1440, and does not move when it is changed', async (t) => {
    const { page, designer } = await openDraft();
    const canvas = designer.locator('.gjs-cv-canvas');
    await designer.locator('body').evaluate(() => document.fonts.ready.then(() => undefined));
    const before = await canvas.boundingBox();
    t.ok(before !== null && before.width >= 700, `it has ${before?.width}`);
    await designer.getByRole('button', { name: 'Add: Text' }).press('Enter');
    await designer.locator('#state:not(:empty)').waitFor();
    t.strictSame(await canvas.boundingBox(), before);
    t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'nothing sticks out');
    for (const [width, least] of [
      [1100, 450],
      [375, 250],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      const subject = await designer.getByLabel('Subject').boundingBox();
      t.ok(subject !== null && subject.width >= least, `the subject has ${subject?.width} of ${width}`);
    }
  });

  t.test(
    'beside the designer the navigation is a strip of icons, and above its mail is how an inbox shows it',
    async (t) => {
      const { page, designer } = await openDraft();
      for (const link of await page.locator('.sidebar :is(.find-link, li a):visible').all()) {
        const { width, height } = (await link.boundingBox()) ?? { width: 0, height: 0 };
        t.ok(width <= 60 && height <= 48, `${await link.innerText()}: ${width} × ${height}`);
      }
      const head = designer.locator('header .what');
      t.equal(await head.getByLabel('Subject').inputValue(), 'News '.repeat(12).trim());
      t.equal(await head.getByLabel('Preview text').getAttribute('placeholder'), 'Preview text');
    },
  );

  t.test('subject and preview text are edited above the mail, and saved with it', async (t) => {
    const { app, utr, designer } = await openDraft();
    await designer.getByLabel('Subject').fill('Spring is here');
    await designer.getByLabel('Preview text').fill('  With flowers ');
    await designer.getByRole('button', { name: 'Save', exact: true }).click();
    await designer.getByText('Saved', { exact: true }).waitFor();
    const stored = () => app.db.prepare('SELECT subject, preheader FROM single_sends WHERE utr = ?').raw().all(utr);
    t.strictSame(stored(), [['Spring is here', 'With flowers']]);
    app.db.prepare("UPDATE single_sends SET subject = 'Changed elsewhere' WHERE utr = ?").run(utr);
    await designer.getByLabel('Preview text').fill('Other flowers');
    await designer.getByRole('button', { name: 'Save', exact: true }).click();
    await designer.getByText('Saved', { exact: true }).waitFor();
    t.strictSame(stored(), [['Changed elsewhere', 'Other flowers']], 'only what was changed here');
  });

  t.test('a click restores what an earlier session saved, and what it replaces can be restored, too', async (t) => {
    const { app, page, designer, mail } = await openDraft();
    const reopen = async () => {
      app.clock.advance(10 * 60_000);
      await page.reload();
      await designer.locator('body[data-ready=yes]').waitFor();
    };
    const blocks = () => mail.getByText('Write what you want to say here.').count();
    const add = async () => {
      const before = await blocks();
      await designer.getByRole('button', { name: 'Add: Text' }).press('Enter');
      await designer.getByRole('button', { name: 'Save', exact: true }).click();
      await designer.getByText('Saved', { exact: true }).waitFor();
      return before;
    };
    const first = await add();
    await reopen();
    await add();
    await reopen();
    t.equal(await blocks(), first + 2);
    const restore = async () => {
      await designer.getByRole('button', { name: 'Earlier versions' }).click();
      const reloaded = page.waitForResponse((response) => /\/design\/[^/]+$/.test(new URL(response.url()).pathname));
      await designer.locator('.earlier button').first().click();
      await (await reloaded).finished();
      await designer.locator('body[data-ready=yes]').waitFor();
    };
    await restore();
    t.equal(await blocks(), first + 1, 'as the first session left it');
    await restore();
    t.equal(await blocks(), first + 2, 'and back again');
  });

  t.test('images of the library are beside the mail: a click adds one, or replaces the selected one', async (t) => {
    const { app, designer, page, mail } = await openDraft();
    for (const [width, name] of [
      [30, 'Harbour'],
      [40, 'Market'],
    ] as const) {
      await uploadPicture(app.one, png(width, 20));
      app.db.prepare('UPDATE pictures SET name = ?, alt = ? WHERE width = ?').run(name, `${name} in spring`, width);
    }
    await designer.locator('#images summary').click();
    const images = mail.locator('[data-gjs-type="mj-image"]');
    const before = await images.count();
    await designer.getByRole('button', { name: 'Add: Harbour' }).click();
    t.equal(await images.count(), before + 1);
    await designer.getByRole('button', { name: 'Add: Market' }).click();
    t.equal(await images.count(), before + 1, 'the one that was added is selected');
    const frame = page.frames().find((one) => one.url().includes('/design/'));
    const mjml = await frame?.evaluate(() => window.editor.getHtml());
    t.match(mjml, 'alt="Market in spring"');
    t.notMatch(mjml, 'Harbour in spring');
    await frame?.evaluate(() => void window.editor.getSelected()?.addAttributes({ 'data-decoration': 'yes' }));
    await designer.getByRole('button', { name: 'Add: Harbour' }).click();
    const again = await frame?.evaluate(() => window.editor.getHtml());
    t.match(again, 'alt="Harbour in spring"');
    t.notMatch(again, 'data-decoration', 'an image with a text in place of a decoration is read aloud');
    await frame?.evaluate(() => void window.editor.UndoManager.undo());
    t.match(
      await frame?.evaluate(() => window.editor.getHtml()),
      'data-decoration="yes"',
      'one undo brings the old one back',
    );
  });

  t.test('the panel shows the style of a part that is clicked in the mail', async (t) => {
    const { designer, mail } = await openDraft();
    const chosen = designer.locator('.gjs-pn-views .gjs-pn-active');
    t.equal(await chosen.innerText(), 'Blocks');
    await mail.locator('[data-gjs-type="mj-text"]').first().click();
    await designer.locator('.gjs-sm-sectors').waitFor();
  });

  t.test('a mail has the same colours where the page around it is dark', async (t) => {
    const { page, designer, mail } = await openDraft();
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
