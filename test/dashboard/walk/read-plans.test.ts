/**
 * How SQLite goes about each page of the dashboard and all that it links to. A statement that reads a large table from end to end, or
 * sorts all that an owner has, gets slower with each month.
 */
import t, { type Test } from 'tap';
import { planned, sortsOfAll, wholeReads } from '../../support/query-plans.ts';
import { accountOf, SCREENS } from './screens.ts';
import { startWalked } from './walked-service.ts';

let isReading = false;

/** Opens each screen, and each link on it that leads to another page or with other parameters. */
async function openPages(t: Test): Promise<void> {
  const { app, addressOf, origin, cookies } = await startWalked(t, (name) => name);
  const screens = SCREENS.filter((screen) => accountOf(screen) === 'filled');
  const waiting = screens.map((screen) => addressOf(screen).slice(origin.length));
  const opened = new Set<string>();
  isReading = true;
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const kind = path
      .replace(/[0-9a-f]{8}-[-0-9a-f]{27}/g, ':utr')
      .replace(/\d+/g, ':id')
      .replace(/=[^&]*/g, '=');
    if (opened.has(kind)) continue;
    opened.add(kind);
    const { status, text } = await app.page('GET', path, { headers: { cookie: cookies.filled } });
    t.ok(status < 400, `${path} was answered ${status}`);
    for (const [, href = ''] of text.matchAll(/<a [^>]*href="(\/[^"#]*)/g)) waiting.push(href.replaceAll('&amp;', '&'));
  }
  isReading = false;
  t.ok(opened.size > 60, `${opened.size} kinds of pages`);
}

t.test('no page reads a large table from end to end, or sorts all rows of an owner', async (t) => {
  const plans = await planned(
    () => openPages(t),
    () => isReading,
  );
  t.ok(plans.length > 80, `${plans.length} statements`);
  for (const plan of plans) {
    t.strictSame(wholeReads(plan), [], `it reads the whole: ${plan.text}`);
    t.strictSame(sortsOfAll(plan), [], `it sorts all: ${plan.text}`);
  }
});
