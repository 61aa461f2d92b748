/** What a new user of the dashboard once stumbled over, each looked at in a browser. */
import type { Page } from 'playwright-core';
import t from 'tap';
import { launch, openTab } from '../../support/dashboard/browser.ts';
import { skipWithout } from '../../support/tools.ts';
import { PHONE } from '../../support/walked-pages.ts';
import { startWalked } from './walked-service.ts';

/** The lower edges of what a selector finds, in whole pixels, each once. */
const lowerEdges = async (page: Page, selector: string): Promise<number[]> => {
  const edges = await page
    .locator(selector)
    .evaluateAll((found) => found.map((element) => Math.round(element.getBoundingClientRect().bottom)));
  return [...new Set(edges)];
};

t.test('in the browser', { skip: skipWithout('chromium') }, async (t) => {
  const service = await startWalked(t, (plain) => plain);
  const browser = await launch(t);
  const open = async (
    t: import('tap').Test,
    path: string,
    options: { viewport?: typeof PHONE; locale?: string } = {},
  ) => {
    const { page } = await openTab(t, browser, service.origin, { cookie: service.cookies.filled, ...options });
    await page.goto(service.addressOf({ path }));
    return page;
  };

  t.test('the page of backups names the last one once it was downloaded, without being reloaded', async (t) => {
    const page = await open(t, '/settings/backup');
    t.equal(await page.locator('#last-backup').innerText(), 'None');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download backup' }).click();
    await (await download).cancel();
    await page.locator('#last-backup time').waitFor();
    t.not(await page.locator('#last-backup').innerText(), 'None');
  });

  t.test(
    'a refused form has the focus in the field that is wrong, so that the keyboard needs no way there',
    async (t) => {
      const page = await open(t, '/contacts/new');
      await page.getByLabel('E-mail', { exact: true }).fill('nobody@localhost');
      await page.keyboard.press('Enter');
      await page.locator('[name=email][aria-invalid]:focus').waitFor();
      const { page: login } = await openTab(t, browser, service.origin);
      await login.goto(`${service.origin}/login`);
      await login.getByLabel('E-mail address').fill('ada@example.org');
      await login.getByLabel('Password').fill('not this password');
      await login.keyboard.press('Enter');
      await login.locator('.notice.bad').waitFor();
      await login.locator('[name=password]:focus').waitFor();
    },
  );

  t.test('loading a page again that shows a secret once makes no second one', async (t) => {
    const page = await open(t, '/settings/keys');
    const rows = page.locator('main table tbody tr');
    const before = await rows.count();
    await page.getByLabel('Name').fill('Online shop');
    await page.getByRole('button', { name: 'Create API key' }).click();
    await page.getByText('SecretKey', { exact: true }).waitFor();
    await page.reload();
    t.equal(await rows.count(), before + 1);
    await page.goto(`${service.origin}/settings/webhooks/new`);
    await page.getByLabel('Address').fill('https://shop.example/hook');
    await page.getByLabel(/A contact was added/).check();
    await page.getByRole('button', { name: 'Add webhook' }).click();
    await page.getByText('This is the secret of the webhook.').waitFor();
    await page.reload();
    t.match(page.url(), /\/settings\/webhooks\/\d+$/, 'it becomes the page of the new webhook');
    t.notMatch(await page.locator('main').innerText(), 'whsec_');
  });

  t.test('a merge tag is chosen by what it stands for', async (t) => {
    const page = await open(t, '/campaigns/:draft/edit/content');
    await page.getByText('Merge tags', { exact: true }).click();
    await page.getByRole('button', { name: 'Insert First name' }).click();
    t.match(await page.getByLabel('Subject').inputValue(), '((first_name))');
    const names = await page.locator('.placeholders button > bdi').allInnerTexts();
    t.notOk(
      names.some((name) => name.includes('_')),
      names.join(', '),
    );
  });

  t.test('the reason in a rule about a mail that did not arrive is German for Germans', async (t) => {
    const page = await open(t, '/campaigns/:opened/recipients?state=suppressed&reason=:unsubscribed_all', {
      locale: 'de-DE',
    });
    await page.getByRole('button', { name: 'Als Segment speichern' }).click();
    await page.locator('main a[href$="/edit"]').click();
    await page.waitForURL(/\/edit$/);
    t.match(await page.locator('main').innerText(), '„Von allen Mails abgemeldet“');
    const reason = page.getByLabel('Grund', { exact: true });
    t.equal(await reason.locator('option:checked').innerText(), 'Von allen Mails abgemeldet');
    t.equal(await reason.inputValue(), ':unsubscribed_all');
  });

  t.test('on a phone the figures of a mail, and the steps of a campaign, stand in one row', async (t) => {
    const flow = await open(t, '/automations/:automation', { viewport: PHONE });
    t.equal((await lowerEdges(flow, '.flow > li:nth-child(2) .inline-figures dd')).length, 1);
    for (const locale of ['en-GB', 'de-DE']) {
      const steps = await open(t, '/campaigns/:draft/edit/check', { viewport: PHONE, locale });
      t.equal((await lowerEdges(steps, '.stepper a')).length, 1, locale);
    }
  });

  t.test('no label covers its number on a phone, and a wide window cuts no status, in German either', async (t) => {
    const path = '/automations/:automation/replay?opens=30&clicks=3&run=1';
    const replay = await open(t, path, { viewport: { width: 320, height: 800 }, locale: 'de-DE' });
    const cells = replay.locator('td[data-label^="Warteten auf"]');
    await cells.first().waitFor();
    for (const cell of await cells.all())
      t.ok(await cell.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth));
    for (const width of [360, 412]) {
      const narrow = await open(t, '/campaigns', { viewport: { width, height: 800 }, locale: 'de-DE' });
      const overlaps = await narrow.locator('.campaigns tbody tr').evaluateAll(
        (rows) =>
          rows.filter((row) => {
            const ends = [...row.querySelectorAll('.state, .start, .rate, .menu')].map((cell) =>
              cell.getBoundingClientRect(),
            );
            const seen = ends.filter((box) => box.width > 0);
            return seen.some((box, at) =>
              seen
                .slice(0, at)
                .some((other) => box.left < other.right && box.top < other.bottom - 1 && other.top < box.bottom - 1),
            );
          }).length,
      );
      t.equal(overlaps, 0, `in a window of ${width} pixels`);
    }
    const list = await open(t, '/campaigns', { viewport: { width: 1920, height: 900 }, locale: 'de-DE' });
    const cut = await list
      .locator('.campaigns .badge')
      .evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent));
    t.strictSame(cut, []);
  });

  t.test('the controls of one row stand on one line, with a hint below one of them or not', async (t) => {
    const page = await open(t, '/campaigns/:draft/edit/check');
    t.equal((await lowerEdges(page, '.search :is(input, select, button)')).length, 1);
  });

  t.test('the timeline of a contact shows subjects as they read, without codes', async (t) => {
    const page = await open(t, '/contacts/13');
    const text = await page.locator('main').innerText();
    t.match(text, 'Winter opening hours');
    t.notMatch(text, '((');
  });
});
