/** A mail of the outbox in a real browser: what its recipient could do with it, done by its owner. */
import type { AddressInfo } from 'node:net';
import type { Locator } from 'playwright-core';
import t from 'tap';
import { startApp } from '../support/app.ts';
import { sendCampaign } from '../support/campaign.ts';
import { findBarriers, launch, openTab, smallTargets } from '../support/dashboard/browser.ts';
import { addPerson, cookieOf } from '../support/people.ts';
import { countersOf, flushHits } from '../support/recipient-links.ts';
import { skipWithout } from '../support/tools.ts';

/** What a person's browser says; Chromium without a window says that it is a program. */
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

t.test(
  'an owner opens, clicks and unsubscribes as the recipient of a mail in the outbox, and report and timeline have it',
  { skip: skipWithout('chromium') },
  async (t) => {
    const browser = await launch(t);
    const app = await startApp(t);
    const cookie = cookieOf(app, addPerson(app));
    await app.fastify.listen({ host: '127.0.0.1', port: 0 });
    const origin = `http://127.0.0.1:${(app.fastify.server.address() as AddressInfo).port}`;
    const { utr } = await sendCampaign(t, app, {
      html: `<p>Hello ((first_name)), <a href="${origin}/healthz">news</a> <a href="javascript:alert(1)">bad</a></p>`,
    });
    const mail = app.db.prepare('SELECT max(id) FROM outbox').pluck().get();
    const { page, outside, complaints } = await openTab(t, browser, origin, { cookie, userAgent: FIREFOX });
    const inNewTab = async (link: Locator) => {
      const [tab] = await Promise.all([page.waitForEvent('popup'), link.click()]);
      await tab.waitForLoadState();
      return tab;
    };
    await page.goto(`${origin}/outbox/${mail}`);
    t.strictSame(await findBarriers(page), []);
    t.strictSame(await smallTargets(page), []);
    flushHits(app);
    t.match(countersOf(app), { total_opens: 0 }, 'a preview counts as no open');

    app.clock.advance(60_000);
    const pixel = page.waitForResponse((response) => new URL(response.url()).pathname.startsWith('/o/'));
    await page.getByRole('link', { name: 'Open as the recipient' }).click();
    await page.getByText('This counts as an open').waitFor();
    const frame = page.frameLocator('iframe');
    await frame.getByText('Hello Anna').waitFor();
    await pixel;
    flushHits(app);
    t.match(countersOf(app), { total_opens: 1, unique_opens: 1 });

    app.clock.advance(60_000);
    const clicked = await inNewTab(frame.getByRole('link', { name: 'news' }));
    t.equal(clicked.url(), `${origin}/healthz`, 'the link leads to its destination');
    t.equal(await clicked.evaluate('window.opener'), null);
    t.equal(await frame.getByText('bad').getAttribute('target'), null, 'only links to pages lead anywhere');
    const left = await inNewTab(page.getByRole('link', { name: 'Unsubscribe', exact: true }));
    await left.getByRole('button', { name: 'Unsubscribe from all mail' }).click();
    await left.getByText('You will get no more mail from us.').waitFor();
    flushHits(app);

    await page.getByRole('link', { name: 'Open the report' }).click();
    await page.waitForURL(`${origin}/campaigns/${utr}`);
    for (const figure of ['Opened', 'Clicked', 'Unsubscribed'])
      t.equal(await page.locator('.stat', { hasText: figure }).locator('dd').first().innerText(), '1', figure);
    await page.goto(`${origin}/outbox/${mail}`);
    await page.getByRole('link', { name: 'Open the contact' }).click();
    await page.waitForURL('**/contacts/*');
    for (const event of ['Opened', 'Clicked', 'Unsubscribed'])
      await page.locator('main').getByText(event).first().waitFor();
    t.strictSame([outside, complaints], [[], []]);
  },
);
