/** A mailing that is followed in the browser while it is under way. */
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { startApp } from '../support/app.ts';
import { sendCampaign } from '../support/campaign.ts';
import { findBarriers, launch, openTab } from '../support/dashboard/browser.ts';
import { addPerson, cookieOf } from '../support/people.ts';
import { skipWithout } from '../support/tools.ts';

/** A mailing to 1 000 contacts of whom 100 have had it, its page, and what lets it go on. */
async function underWay(t: Test) {
  const app = await startApp(t);
  const { utr } = await sendCampaign(t, app);
  const change = (sql: string) => app.db.exec(`UPDATE mailings SET ${sql} WHERE owner_kind = 'single'`);
  change("state = 'sending', finished_at = NULL, recipients = 1000, delivered = 100");
  // A relay took the mail that the outbox has.
  app.db.exec('UPDATE single_sends SET status = 2; DELETE FROM delivery_reasons');
  await app.fastify.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.fastify.server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const cookie = cookieOf(app, addPerson(app));
  return { app, change, origin, cookie, url: `${origin}/campaigns/${utr}` };
}

t.test('a mailing under way in the browser', { skip: skipWithout('chromium') }, async (t) => {
  const browser = await launch(t);

  t.test('shows progress, rate and time left as they change, and what can be done when its state does', async (t) => {
    const { app, change, origin, cookie, url } = await underWay(t);
    const { page, complaints } = await openTab(t, browser, origin, { cookie });
    const live = page.waitForResponse('**/api/live?*');
    await page.goto(url);
    await live;
    await page
      .locator('p', { hasText: /^100 of 1,000 contacts$/ })
      .first()
      .waitFor();
    app.clock.advance(10_000);
    change('delivered = 300');
    await page.locator('[data-live=pace]', { hasText: '20 a second, about 35 secs left' }).waitFor();
    t.equal(await page.getByRole('progressbar').getAttribute('value'), '300');
    t.equal(await page.getByRole('progressbar').getAttribute('aria-label'), '300 of 1,000 contacts');
    t.match(await page.getByRole('status').textContent(), /of 1,000 contacts/);
    t.strictSame(await findBarriers(page), []);
    change("state = 'paused'");
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    await page.locator('.badge', { hasText: 'Paused' }).waitFor();
    change("delivered = 1000, state = 'done', finished_at = 1");
    app.db.exec('UPDATE single_sends SET status = 3');
    await page.locator('.badge', { hasText: 'Sent' }).waitFor();
    t.match(await page.locator('#mailing-results').innerText(), /Delivered\s+1,000\s+100% of recipients/);
    t.equal(await page.getByRole('progressbar').count(), 0);
    t.equal(await page.getByRole('button', { name: 'Pause' }).count(), 0);
    t.strictSame(complaints, []);
  });

  t.test('the lark flies once as it leaves, said aloud, and not at all where motion is unwanted', async (t) => {
    for (const reducedMotion of ['no-preference', 'reduce'] as const) {
      const { app, change, origin, cookie, url } = await underWay(t);
      const start = app.clock.now().getTime() + 5000;
      app.db.exec(
        `UPDATE single_sends SET status = 1, starts_at = ${start}; UPDATE mailings SET owner_id = owner_id + 1000 WHERE owner_kind = 'single'`,
      );
      const { page, complaints } = await openTab(t, browser, origin, { cookie, reducedMotion });
      const live = page.waitForResponse('**/api/live?*');
      await page.goto(url);
      await live;
      await page.locator('.badge', { hasText: 'Scheduled' }).waitFor();
      await page.evaluate(`window.flights = []; new MutationObserver((changes) => {
        for (const { addedNodes } of changes) for (const node of addedNodes)
          if (node.className === 'leaving') flights.push(node.getAnimations()[0].effect.getTiming().duration);
      }).observe(document.body, { childList: true })`);
      app.db.exec(
        "UPDATE mailings SET owner_id = owner_id - 1000 WHERE owner_kind = 'single'; UPDATE single_sends SET status = 2",
      );
      await page.locator('.badge', { hasText: 'Sending' }).waitFor();
      await page.getByRole('status').filter({ hasText: 'Your campaign is on its way.' }).waitFor({ state: 'attached' });
      await page.locator('body > .leaving').waitFor({ state: 'detached' });
      change("state = 'paused'");
      await page.locator('.badge', { hasText: 'Paused' }).waitFor();
      t.strictSame(await page.evaluate('flights'), reducedMotion === 'reduce' ? [] : [600]);
      t.strictSame(complaints, []);
    }
  });

  t.test('is taken up again after the connection broke, and no more once it is over', async (t) => {
    const { change, origin, cookie, url } = await underWay(t);
    const { page } = await openTab(t, browser, origin, { cookie });
    let asked = 0;
    await page.route('**/api/live?*', (route) => {
      asked++;
      return asked < 3 ? route.abort() : route.continue();
    });
    await page.goto(url);
    change('delivered = 400');
    await page
      .locator('p', { hasText: /^400 of 1,000 contacts/ })
      .first()
      .waitFor();
    t.equal(asked, 3);
    change("delivered = 1000, state = 'done', finished_at = 1");
    await page.locator('.badge', { hasText: 'Sent' }).waitFor();
    await page.waitForTimeout(1500);
    t.equal(asked, 3);
  });

  t.test('shows the end that came while the page was loaded, even where it fails to load next', async (t) => {
    const { app, change, origin, cookie, url } = await underWay(t);
    const { page } = await openTab(t, browser, origin, { cookie });
    const live = page.waitForResponse('**/api/live?*');
    let looks = 0;
    await page.route(url, async (route) => {
      if (route.request().isNavigationRequest()) return route.continue();
      looks++;
      if (looks === 2) return route.abort();
      const response = await route.fetch();
      if (looks === 1) {
        change("delivered = 1000, state = 'done', finished_at = 1");
        app.db.exec('UPDATE single_sends SET status = 3');
        // The events come once a second.
        await page.waitForTimeout(2500);
      }
      return route.fulfill({ response });
    });
    await page.goto(url);
    await live;
    change("state = 'paused'");
    await page.locator('.badge', { hasText: 'Sent' }).waitFor();
    t.equal(looks, 3);
    t.match(await page.locator('#mailing-results').innerText(), /Delivered\s+1,000/);
  });

  t.test('does not close a dialog that somebody reads', async (t) => {
    const { change, origin, cookie, url } = await underWay(t);
    const { page } = await openTab(t, browser, origin, { cookie });
    await page.goto(url);
    await page.getByRole('button', { name: 'Cancel for 900 contacts' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Cancel this campaign for 900 contacts?' });
    await dialog.waitFor();
    change("state = 'paused'");
    await page.locator('.badge', { hasText: 'Paused' }).waitFor();
    t.ok(await dialog.isVisible());
    await page.keyboard.press('Escape');
    await page.locator('#main').click();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
  });

  t.test('is told without scripts, too', async (t) => {
    const { origin, cookie, url } = await underWay(t);
    const { page } = await openTab(t, browser, origin, { cookie, javaScriptEnabled: false });
    await page.goto(url);
    t.match(await page.locator('#mailing-now').innerText(), '100 of 1,000 contacts');
  });

  t.test('moves on Home, too', async (t) => {
    const { change, origin, cookie } = await underWay(t);
    const { page } = await openTab(t, browser, origin, { cookie });
    await page.goto(origin);
    await page
      .locator('p', { hasText: /^100 of 1,000 contacts$/ })
      .first()
      .waitFor();
    change('delivered = 700');
    await page
      .locator('p', { hasText: /^700 of 1,000 contacts/ })
      .first()
      .waitFor();
  });
});
