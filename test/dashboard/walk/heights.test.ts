/** How high the pages of lists are in an account with much in it, on a desk and on a phone, and that nothing in them moves. */
import t from 'tap';
import { excessWidth, launch, openTab } from '../../support/dashboard/browser.ts';
import { skipWithout } from '../../support/tools.ts';
import { startWalked } from './walked-service.ts';

const LISTS = [
  '/settings/lists',
  '/settings/audit',
  '/contacts/segments',
  '/unsubscribes',
  '/unsubscribes/suppressions',
  '/unsubscribes/topics',
  '/outbox',
  '/transactional',
  '/campaigns/:opened/recipients',
  '/forms',
  '/automations',
  '/templates',
  '/images',
];
const WATCH_SHIFTS = `window.moved = 0;
  new PerformanceObserver((list) => { for (const { value } of list.getEntries()) window.moved += value; }).observe({ type: 'layout-shift', buffered: true });`;

/** Pages with the widest tables. */
const WIDE = [
  '/',
  '/campaigns',
  '/contacts',
  '/automations',
  '/campaigns/:opened/recipients',
  '/settings/senders',
  '/settings/audit',
  '/settings/nodes',
];
/** The tables that scroll sideways, and the names of campaigns of which hardly a word is seen. */
const UNSEEN = `[
  ...[...document.querySelectorAll('.table-wrap')].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.getAttribute('aria-label')),
  ...[...document.querySelectorAll('.campaigns tbody th')].filter((e) => e.clientWidth < 120).map((e) => e.textContent),
  ...[...document.querySelectorAll('.campaigns tbody .start time')]
    .filter(({ parentElement: e }) => e.clientWidth < Math.min(e.scrollWidth, 60)).map((e) => e.textContent),
]`;

t.test('lists in the browser', { skip: skipWithout('chromium') }, async (t) => {
  const service = await startWalked(t, (plain) => plain);
  const browser = await launch(t);

  t.test(
    'no table scrolls sideways beside the sidebar of a tablet or on a phone, and campaigns show their name and time',
    async (t) => {
      for (const viewport of [
        { width: 768, height: 1024 },
        { width: 390, height: 844 },
      ]) {
        const { page } = await openTab(t, browser, service.origin, {
          cookie: service.cookies.filled,
          locale: 'de-DE',
          viewport,
        });
        for (const path of WIDE) {
          await page.goto(service.addressOf({ path }));
          t.strictSame(await page.evaluate(UNSEEN), [], `${path} at ${viewport.width} pixels`);
        }
      }
    },
  );

  t.test('each list is at most two screens high, and nothing in it moves', async (t) => {
    const { db } = service.app;
    const many = JSON.stringify(Array.from({ length: 60 }, (_, at) => at));
    const now = service.app.clock.now().toISOString();
    db.prepare(
      "INSERT INTO contact_types (user_id, name, created_at, updated_at) SELECT 1, 'List ' || value, @now, @now FROM json_each(@many)",
    ).run({ many, now });
    for (let at = 0; at < 60; at++)
      await service.app.one.call('POST', '/global-unsubscribes/save', {
        form: { email_address: `gone${at}@example.org` },
      });
    for (const { bytesPerSecond, ...viewport } of [
      { width: 1440, height: 900, bytesPerSecond: -1 },
      // A page is laid out several times while it arrives.
      { width: 390, height: 844, bytesPerSecond: 30_000 },
    ]) {
      const { page, received } = await openTab(t, browser, service.origin, {
        cookie: service.cookies.filled,
        viewport,
      });
      await page.addInitScript(WATCH_SHIFTS);
      const session = await page.context().newCDPSession(page);
      await session.send('Network.emulateNetworkConditions', {
        ...{ offline: false, latency: 0, downloadThroughput: bytesPerSecond, uploadThroughput: -1 },
      });
      for (const path of LISTS) {
        const before = received();
        await page.goto(service.addressOf({ path }), { waitUntil: 'networkidle' });
        const screens = Number(await page.evaluate('document.documentElement.scrollHeight / innerHeight'));
        const where = `${path} at ${viewport.width} pixels`;
        t.ok(screens <= 2, `${where}: ${screens.toFixed(2)} screens`);
        // Browsers name the button for files anew where the script allows several.
        t.ok(Number(await page.evaluate('window.moved')) < 0.001, `${where}: nothing moves`);
        t.ok((await excessWidth(page)) <= 0, `${where}: nothing sticks out`);
        t.ok(received() - before <= 70_000, `${where}: ${received() - before} bytes`);
      }
    }
  });
});
