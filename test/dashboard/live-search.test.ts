/** The search on People and the progress of actions and imports as a browser keeps them up to date. */
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { importContacts } from '../../src/audience/import/import.ts';
import { startApp } from '../support/app.ts';
import { findBarriers, holdAnswers, launch, openTab } from '../support/dashboard/browser.ts';
import { addPerson, cookieOf } from '../support/people.ts';
import { skipWithout } from '../support/tools.ts';
import { DESK, PHONE } from '../support/walked-pages.ts';

const NAMES = ['anna', 'annabel', 'bea'];
/** Where the script asks for what changes with the search. */
const FOUND = '**/contacts/found?*';

/** A listening service with three people, and the page of an owner. */
async function service(t: Test) {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  for (const name of NAMES) {
    await app.one.call('POST', '/contacts/add', {
      form: { contact_type_id: 1, email: `${name}@example.org`, country: 1 },
    });
  }
  await app.background();
  await app.fastify.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.fastify.server.address() as AddressInfo;
  return { app, origin: `http://127.0.0.1:${port}`, cookie: cookieOf(app, addPerson(app)) };
}

/** Types a text at once, because between two keystrokes of a slow machine the page searches. */
const searchFor = (page: Page, text: string) => page.getByRole('searchbox', { name: 'Search' }).fill(text);
const link = (page: Page, name: string) => page.getByRole('link', { name: `${name}@example.org`, exact: true });

t.test('what a page keeps up to date', { skip: skipWithout('chromium') }, async (t) => {
  const browser = await launch(t);

  t.test(
    'a slow search is marked as busy without moving anything, and the number it found is read aloud',
    async (t) => {
      const { origin, cookie } = await service(t);
      const { page, complaints } = await openTab(t, browser, origin, { cookie });
      await page.goto(`${origin}/contacts`);
      let go = () => {};
      const held = new Promise<void>((resolve) => {
        go = resolve;
      });
      await page.route(FOUND, async (route) => {
        await held;
        await route.continue();
      });
      const region = await page.locator('[data-live=news]').elementHandle();
      await page.evaluate(() => document.fonts.ready.then(() => undefined));
      const before = await page.locator('#people-found').boundingBox();
      await searchFor(page, 'bea');
      await page.locator('#people-found[aria-busy=true]').waitFor();
      t.strictSame(await page.locator('#people-found').boundingBox(), before);
      go();
      await link(page, 'anna').waitFor({ state: 'detached' });
      t.ok(await link(page, 'bea').isVisible());
      t.equal(await page.locator('[aria-busy]').count(), 0);
      await page.locator('[role=status]', { hasText: '1 contact' }).waitFor({ state: 'attached' });
      t.equal(await region?.textContent(), '1 contact', 'the region is the one that was there before');
      t.match(page.url(), /search=bea/);
      t.ok(await page.getByText('All that match: 1 contact').isVisible());
      t.strictSame(await findBarriers(page), []);
      t.strictSame(complaints, []);
    },
  );

  t.test('what an older keystroke found never comes after what a newer one found', async (t) => {
    const { origin, cookie } = await service(t);
    const { page } = await openTab(t, browser, origin, { cookie });
    await page.goto(`${origin}/contacts`);
    let go = () => {};
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    const asked: string[] = [];
    await page.route(FOUND, async (route) => {
      const search = new URL(route.request().url()).searchParams.get('search') ?? '';
      asked.push(search);
      if (search === 'bea') await held;
      await route.continue().catch(() => undefined);
    });
    const first = page.waitForRequest(FOUND);
    await searchFor(page, 'bea');
    await first;
    await searchFor(page, 'annab');
    await link(page, 'bea').waitFor({ state: 'detached' });
    go();
    await page.waitForLoadState('networkidle');
    t.strictSame(asked, ['bea', 'annab']);
    t.ok(await link(page, 'annabel').isVisible());
    t.notOk(await link(page, 'bea').isVisible());
    t.match(page.url(), /search=annab$/);
  });

  t.test('what is typed before the script is there is searched for', async (t) => {
    const { origin, cookie } = await service(t);
    const { page } = await openTab(t, browser, origin, { cookie });
    const script = await holdAnswers(page, '**/assets/live-*.js');
    await page.goto(`${origin}/contacts`, { waitUntil: 'commit' });
    await searchFor(page, 'bea');
    await script.release();
    await link(page, 'anna').waitFor({ state: 'detached' });
    await link(page, 'bea').waitFor();
  });

  t.test('a search that fails says so and can be tried again, also where the session has ended', async (t) => {
    const { app, origin, cookie } = await service(t);
    const { page } = await openTab(t, browser, origin, { cookie });
    await page.goto(`${origin}/contacts`);
    let isBroken = true;
    await page.route(FOUND, (route) => (isBroken ? route.abort() : route.continue()));
    await searchFor(page, 'bea');
    const notice = page.getByRole('alert');
    await notice.getByText('This could not be updated').waitFor();
    t.equal(await page.locator('[aria-busy]').count(), 0);
    t.ok(await link(page, 'anna').isVisible(), 'what was there stays');
    t.strictSame(await findBarriers(page), []);
    isBroken = false;
    await notice.getByRole('button', { name: 'Try again' }).click();
    await link(page, 'anna').waitFor({ state: 'detached' });
    t.equal(await notice.innerText(), '');
    app.db.exec('DELETE FROM sessions');
    await page.getByRole('searchbox', { name: 'Search' }).fill('anna');
    const again = notice.getByRole('link', { name: 'Sign in again' });
    await again.waitFor();
    t.match(await again.getAttribute('href'), /\/contacts\?search=anna$/);
    t.ok(await link(page, 'bea').isVisible());
  });

  t.test(
    'with 20 000 contacts the list is two screens high, its actions are at hand, and their number is exact',
    async (t) => {
      const { app, origin, cookie } = await service(t);
      const path = join(t.testdir(), 'people.csv');
      const rows = Array.from({ length: 20_000 }, (_, at) => `p${at}@example.org,${at % 2 === 0 ? 'Zoë' : 'Ada'}`);
      writeFileSync(path, ['email,first_name', ...rows].join('\n'));
      const job = { databasePath: app.path, accountId: 1, typeId: 1, path, fileName: 'people.csv' };
      await importContacts(app.drizzle, job, app.clock);
      const { page, complaints } = await openTab(t, browser, origin, { cookie });
      await page.goto(`${origin}/contacts?mail_state=mailable`);
      await page.getByText('20,003 contacts', { exact: true }).waitFor();
      t.ok(await page.getByText('All that match: 20,003 contacts').isVisible(), 'where the actions are, too');
      await page.goto(`${origin}/contacts`);
      const isInSight = (selector: string) =>
        page.locator(selector).evaluate((element) => {
          const { top, bottom } = element.getBoundingClientRect();
          return top >= 0 && bottom <= innerHeight;
        });
      t.ok(await isInSight('.action-bar'), 'without scrolling');
      const height = Number(await page.evaluate('document.documentElement.scrollHeight'));
      t.ok(height <= 2 * DESK.height, `${height} px`);
      const row = await page.locator('.people-list tbody tr').first().boundingBox();
      t.ok(row !== null && Math.abs(row.height - 44) <= 1, `a row has ${row?.height} px`);
      await page.setViewportSize(PHONE);
      const onPhone = Number(await page.evaluate('document.documentElement.scrollHeight'));
      t.ok(onPhone <= 2 * PHONE.height, `${onPhone} px on a phone`);
      await page.setViewportSize(DESK);
      await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
      t.equal(await page.locator('.people-list tbody input:checked').count(), 20);
      await page.setViewportSize(PHONE);
      t.ok(await isInSight('.action-bar'), 'in a narrow window, once somebody is chosen');
      t.strictSame(await findBarriers(page), []);
      t.strictSame(complaints, []);
    },
  );

  t.test('the settings are found as one types, by what they are about, without asking the server', async (t) => {
    const { origin, cookie } = await service(t);
    const { page, complaints } = await openTab(t, browser, origin, { cookie });
    await page.goto(`${origin}/settings`);
    let requests = 0;
    page.on('request', () => requests++);
    const shown = () => page.locator('.settings-groups a:visible').allTextContents();
    t.equal((await shown()).length, 18);
    const box = page.getByRole('searchbox', { name: 'Find a setting' });
    await box.fill('dkim');
    t.strictSame(await shown(), ['Senders']);
    await box.fill('nothing like this');
    t.strictSame(await shown(), []);
    t.ok(await page.getByText('No setting matches.').isVisible());
    t.strictSame(await findBarriers(page), []);
    await box.fill('Developers');
    t.equal((await shown()).length, 2, 'by the group');
    t.equal(requests, 0);
    await box.press('Enter');
    await page.waitForURL(`${origin}/settings/keys`);
    t.strictSame(complaints, []);
  });

  t.test('nobody found hides the actions, and somebody found brings them back', async (t) => {
    const { origin, cookie } = await service(t);
    const { page } = await openTab(t, browser, origin, { cookie });
    await page.goto(`${origin}/contacts?search=xyz`);
    await page.getByRole('heading', { name: 'No contact matches' }).waitFor();
    t.notOk(await page.getByRole('button', { name: 'Continue' }).isVisible());
    await page.getByRole('searchbox', { name: 'Search' }).fill('anna');
    await link(page, 'annabel').waitFor();
    await page.getByText('All that match: 2 contacts').click();
    await page.getByRole('combobox', { name: 'Action' }).selectOption('Delete');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'Delete 2 contacts?' }).waitFor();
  });

  t.test(
    'the actions are in sight from the first chosen person on, count the chosen, and none is chosen before',
    async (t) => {
      const { app, origin, cookie } = await service(t);
      for (let at = 0; at < 40; at += 1) {
        await app.one.call('POST', '/contacts/add', {
          form: { contact_type_id: 1, email: `reader${at}@example.org`, country: 1 },
        });
      }
      const { page } = await openTab(t, browser, origin, { cookie });
      for (const viewport of [DESK, PHONE]) {
        await page.setViewportSize(viewport);
        await page.goto(`${origin}/contacts`);
        const next = page.getByRole('button', { name: 'Continue' });
        const isInSight = async () => {
          // In a narrow window it is not there before.
          if ((await next.count()) === 0) return false;
          const { y, height } = (await next.boundingBox()) ?? { y: -1, height: 0 };
          return y >= 0 && y + height <= viewport.height;
        };
        const widthOfCount = async () => (await page.getByText('Selected contacts').boundingBox())?.width ?? 0;
        const without = await widthOfCount();
        t.equal(await isInSight(), viewport === DESK, 'where it is one line, also before anybody is chosen');
        for (const name of ['reader39', 'reader38']) await page.getByLabel(`Select ${name}@example.org`).check();
        t.ok(await isInSight());
        t.ok((await widthOfCount()) > without, 'their number stands beside the words');
        await next.click();
        t.equal(await page.evaluate('document.activeElement.id'), 'action', 'an action is asked for');
        t.match(page.url(), /\/contacts$/);
        // Whoever goes on with the keyboard sees what has the focus above the bar.
        await page.getByLabel('Select reader39@example.org').focus();
        for (let at = 0; at < 20; at += 1) await page.keyboard.press('Tab');
        const isCovered = await page.evaluate(`(() => {
        const { left, top, bottom } = document.activeElement.getBoundingClientRect();
        return document.activeElement !== document.elementFromPoint(left + 4, (top + bottom) / 2);
      })()`);
        t.equal(isCovered, false);
      }
    },
  );

  t.test('the progress of an action is read from a region that stays, and its end at once', async (t) => {
    const { app, origin, cookie } = await service(t);
    await app.one.call('POST', '/contacts/jobs/start', { form: { action: 'delete', strIds: [1, 2] } });
    const { page } = await openTab(t, browser, origin, { cookie });
    await page.goto(`${origin}/contacts/actions/1`);
    const region = await page.locator('[data-live=news]').elementHandle();
    t.equal(await page.locator('#people-job [role=status], #people-job [aria-live]').count(), 0);
    await page.getByRole('button', { name: 'Stop' }).focus();
    app.db.exec("UPDATE contact_jobs SET state = 'running', whole = 2, done = 1");
    await page.locator('#people-job', { hasText: 'Running' }).waitFor();
    t.equal(await page.evaluate('document.activeElement.textContent'), 'Stop', 'a button that is the same stays');
    await page.getByRole('button', { name: 'Stop' }).blur();
    app.db.exec("UPDATE contact_jobs SET state = 'done', done = 2, finished_at = '2026-01-15T09:00:00.000000Z'");
    await page.locator('[role=status]', { hasText: 'Done. 2 of 2' }).waitFor({ state: 'attached' });
    t.equal(await region?.textContent(), 'Done. 2 of 2');
    await page.getByRole('button', { name: 'Undo' }).waitFor();
  });
});

t.test('typing reads only what it shows', async (t) => {
  const { app, cookie } = await service(t);
  app.db.exec('ALTER TABLE segments RENAME TO missing; ALTER TABLE unsubscribe_groups RENAME TO missing_too');
  const { status, text } = await app.page('GET', '/contacts/found?search=bea', { headers: { cookie } });
  t.equal(status, 200);
  t.match(text, /^<div id="people-found"/);
  t.match(text, 'Readers', 'the name of the contact type');
  t.equal((await app.page('GET', '/contacts', { headers: { cookie } })).status, 500, 'the whole page reads more');
});
