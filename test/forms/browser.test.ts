/** The page of a form in a real browser: with and without scripts, on a phone and in the dark, and on another website. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { startApp } from '../support/app.ts';
import { mustSucceed } from '../support/campaign.ts';
import { findBarriers, launch, openTab } from '../support/dashboard/browser.ts';
import { addReadyForm, askedMails, TYPING_MS } from '../support/forms.ts';
import { skipWithout } from '../support/tools.ts';
import { until } from '../support/until.ts';

async function service(t: Test) {
  const app = await startApp(t);
  await mustSucceed(t, app.one)('/unsubscribes-groups/save', { group_name: 'News', description: 'n', is_display: 1 });
  const form = await addReadyForm(t, app, {
    fields: ['first_name'],
    group_ids: ['1'],
    intro: 'Once a month.',
    privacy_url: 'https://example.com/privacy',
  });
  await app.fastify.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.fastify.server.address() as AddressInfo;
  const { snippet } = (await app.one.call('GET', '/forms/details', { query: { id: form.id } })).body.message;
  const origin = `http://127.0.0.1:${port}`;
  return { app, form, origin, snippet: String(snippet).replaceAll('http://mail.example.com', origin) };
}

/** A website that shows this HTML; gives its origin. */
async function website(t: Test, html: string): Promise<string> {
  const server = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html; charset=utf-8').end(`<!doctype html><title>Shop</title>${html}`),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function fill(page: Page, email: string): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('I would like to get').check();
}

const press = (page: Page) => page.getByRole('button', { name: 'Subscribe' }).click();
const seen = (page: Page, text: string) => page.getByText(text).first().waitFor();

t.test('the page of a form in a browser', { skip: skipWithout('chromium') }, async (t) => {
  const browser = await launch(t);

  t.test('its script solves the challenge, and nobody meets a barrier', async (t) => {
    const { app, form, origin } = await service(t);
    for (const [colorScheme, width] of [
      ['light', 320],
      ['dark', 1280],
    ] as const) {
      const viewport = { width, height: 800 };
      const { page, complaints, outside } = await openTab(t, browser, origin, { colorScheme, viewport });
      await page.goto(origin + form.path);
      t.strictSame(await findBarriers(page), [], colorScheme);
      t.notOk(
        await page.evaluate('document.documentElement.scrollWidth > innerWidth'),
        'nothing is wider than the window',
      );
      await fill(page, `${colorScheme}@example.org`);
      app.clock.advance(TYPING_MS);
      await press(page);
      await seen(page, 'Please look into your inbox');
      t.strictSame(await findBarriers(page), []);
      const mail = (await askedMails(app)).at(-1);
      await page.goto(origin + mail?.path);
      t.strictSame(await findBarriers(page), []);
      await page.getByRole('button', { name: 'Yes, subscribe me' }).click();
      await seen(page, 'You are subscribed');
      t.strictSame(complaints, []);
      t.strictSame(outside, []);
      app.clock.advance(1000);
    }
    const proven = app.db.prepare('SELECT is_proven FROM form_requests').pluck().all();
    t.strictSame(proven, [1, 1]);
  });

  t.test('without scripts it works, and says beside each field what is wrong', async (t) => {
    const { app, form, origin } = await service(t);
    const { page } = await openTab(t, browser, origin, { javaScriptEnabled: false });
    await page.goto(origin + form.path);
    await fill(page, 'anna@localhost');
    app.clock.advance(TYPING_MS);
    await press(page);
    await seen(page, 'Please enter a valid e-mail address');
    await page.getByLabel('E-mail address').fill('anna@example.org');
    app.clock.advance(TYPING_MS);
    await press(page);
    await seen(page, 'Please look into your inbox');
    t.equal((await askedMails(app)).length, 1);
  });

  t.test('another website shows it: by its script in one step, without in two', async (t) => {
    const { app, snippet } = await service(t);
    const shop = await website(t, snippet);
    const withScript = await openTab(t, browser, shop);
    await withScript.page.goto(shop);
    // The challenge is fetched with the first focus.
    const fetched = withScript.page.waitForResponse((response) => response.url().endsWith('/challenge'));
    await fill(withScript.page, 'anna@example.org');
    await fetched;
    app.clock.advance(TYPING_MS);
    await press(withScript.page);
    await seen(withScript.page, 'Please look into your inbox');
    t.strictSame(await withScript.page.context().cookies(), []);

    const without = await openTab(t, browser, shop, { javaScriptEnabled: false });
    await without.page.goto(shop);
    await fill(without.page, 'ben@example.org');
    await press(without.page);
    await seen(without.page, 'One more step');
    app.clock.advance(TYPING_MS);
    await press(without.page);
    await seen(without.page, 'Please look into your inbox');
    t.strictSame(
      (await askedMails(app)).map(({ to }) => to),
      ['anna@example.org', 'ben@example.org'],
    );
  });

  t.test('what a browser fills in at once waits from when the challenge came, and is sent once', async (t) => {
    const { app, snippet } = await service(t);
    const shop = await website(t, snippet);
    const { page } = await openTab(t, browser, shop);
    // The time of the page stands still, and the wait before sending ends when told.
    await page.addInitScript(`{
      performance.now = () => 60_000;
      const wait = setTimeout;
      window.setTimeout = (done, ms) => (ms > 0 ? void (window.held = { done, ms }) : wait(done, ms));
    }`);
    await page.goto(shop);
    await page.evaluate('performance.now = () => 120_000');
    const sent: string[] = [];
    page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));
    await page.evaluate(`{
      const form = document.querySelector('form');
      form.elements.email.value = 'anna@example.org';
      form.elements.consent.checked = true;
      form.requestSubmit();
      form.requestSubmit();
    }`);
    await until(() => page.evaluate('window.held?.ms !== undefined'));
    t.equal(await page.evaluate('window.held.ms'), 2500);
    t.strictSame(sent, []);
    app.clock.advance(TYPING_MS);
    await page.evaluate('held.done()');
    await seen(page, 'Please look into your inbox');
    t.equal(sent.length, 1);
  });
});
