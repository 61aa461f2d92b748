/**
 * Measures how long the dashboard takes from an interaction to the next paint, with the Event Timing API of Debian's Chromium, whose
 * processor is slowed down four times. The number is for how many contacts the account has. An interaction is measured as for
 * Interaction to Next Paint (INP): the events of one press of a key or of the pointer share an interactionId, and the longest of these
 * events counts, from the input to the next frame. An interaction that the browser does not report was painted within 16 ms, the
 * shortest duration that it reports. A click that opens a page is an interaction of the page with the link; for the opened page, the
 * table also shows the time to its first content, which includes the server's time.
 *
 *   npm run bench:interactions -- [contacts]
 */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { CHROMIUM } from '../../fixtures/chromium.ts';
import { largeAccount } from './large-account.ts';
import { inFolder, startService } from './measure.ts';
import { report, type Table } from './report.ts';
import { signIn } from './sign-in.ts';

const contacts = Number(process.argv[2] ?? 100_000);
const GOAL_MS = 100;
/** The shortest duration that the browser reports. */
const SHORTEST_MS = 16;
/** How many times slower the browser's processor is made. */
const SLOWDOWN = 4;
/** How often each interaction is measured. */
const REPETITIONS = 5;
/** How long the bench waits after an interaction; by then the browser has reported it. */
const SETTLE_MS = 400;

interface Interaction {
  /** The page on which it happens. */
  path: string;
  isPhone?: boolean;
  act: (page: Page) => Promise<void>;
}

/**
 * Clicks the first element that matches the selector as a mouse does. Playwright's own click also runs code in the page, which must not be
 * measured.
 */
async function click(page: Page, selector: string): Promise<void> {
  const element = page.locator(selector).first();
  await element.scrollIntoViewIfNeeded();
  const box = await element.boundingBox();
  if (box === null) throw new Error(`${selector} is not visible`);
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
}

const INTERACTIONS: Readonly<Record<string, Interaction>> = {
  'type into the search': {
    path: '/contacts',
    act: async (page) => {
      await page.locator('#search').fill('');
      await page.locator('#search').pressSequentially('person5', { delay: 60 });
    },
  },
  'open the filters': { path: '/contacts', act: (page) => click(page, '#people-filter summary') },
  'choose a filter by keyboard': {
    path: '/contacts',
    act: async (page) => {
      if (!(await page.locator('#mail_state').isVisible())) await click(page, '#people-filter summary');
      await page.locator('#mail_state').press('ArrowDown');
    },
  },
  'check a row': { path: '/contacts', act: (page) => click(page, 'td.choose input') },
  'open the menu on a phone': {
    path: '/campaigns',
    isPhone: true,
    act: (page) => click(page, '.more summary'),
  },
  'open a dialog': { path: '/settings/sessions', act: (page) => click(page, 'button[popovertarget]') },
  'open the command menu': {
    path: '/campaigns',
    act: async (page) => {
      await page.keyboard.press('Control+k');
      await page.locator('#finder [role="option"]').first().waitFor();
      await page.keyboard.press('Escape');
    },
  },
  'type into the command menu': {
    path: '/campaigns',
    act: async (page) => {
      if (!(await page.locator('#finder').isVisible())) await page.keyboard.press('Control+k');
      await page.locator('#finder input').fill('');
      await page.locator('#finder input').pressSequentially('news', { delay: 60 });
    },
  },
  'open the menu of a row': {
    path: '/campaigns',
    act: async (page) => {
      await click(page, 'main .row-menu-button');
      await page.keyboard.press('Escape');
    },
  },
  'show the shortcuts': {
    path: '/campaigns',
    act: async (page) => {
      await page.keyboard.press('?');
      await page.keyboard.press('Escape');
    },
  },
  'read out a chart': {
    path: '/',
    act: async (page) => {
      await page.locator('.chart-area').first().focus();
      for (const key of ['End', 'ArrowLeft', 'ArrowLeft', 'Home']) await page.keyboard.press(key);
    },
  },
  'choose colours by keyboard': {
    path: '/settings/account',
    act: (page) => page.locator('#colour_scheme').press('ArrowDown'),
  },
};

/** Pages that a click on a link opens: where the link is, and its selector. */
const PAGES: Readonly<Record<string, { path: string; link: string }>> = {
  'open the campaigns': { path: '/', link: '.sidebar a[href="/campaigns"]' },
  'open the report of a campaign': { path: '/campaigns', link: 'main tbody a[href^="/campaigns/"][href*="-"]' },
  'open a contact': { path: '/contacts', link: 'main tbody a[href^="/contacts/"]' },
};

/** JavaScript for the opened page: the durations of the interactions with the page before it, in milliseconds. */
const DURATIONS_BEFORE = `JSON.parse(sessionStorage.getItem('longest') ?? '[]')`;

/** JavaScript for the opened page: milliseconds from the beginning of the navigation to the first content. */
const FIRST_CONTENT = `performance.getEntriesByName('first-contentful-paint')[0].startTime`;

/**
 * JavaScript that runs at the beginning of each page: keeps the longest duration of each interaction, and stores the durations for the
 * next page.
 */
const OBSERVE = `{
  const durations = new Map();
  const keep = (entries) => {
    for (const { interactionId: id, duration } of entries) if (id) durations.set(id, Math.max(duration, durations.get(id) ?? 0));
  };
  const observer = new PerformanceObserver((list) => keep(list.getEntries()));
  observer.observe({ type: 'event', durationThreshold: ${SHORTEST_MS}, buffered: true });
  window.longest = () => [...durations.values()];
  addEventListener('pagehide', () => {
    keep(observer.takeRecords());
    sessionStorage.setItem('longest', JSON.stringify(window.longest()));
  });
}`;

/** The row of the table for interactions of these durations, in milliseconds; those that the browser did not report are missing. */
function rowOf(durations: readonly number[]) {
  const longest = Math.max(SHORTEST_MS, ...durations);
  return {
    'longest ms': durations.length === 0 ? `under ${SHORTEST_MS}` : longest,
    'over 16 ms': durations.length,
    goal: longest <= GOAL_MS ? 'met' : 'missed',
  };
}

await inFolder(async (folder) => {
  const file = join(folder, 'bench.db');
  copyFileSync(await largeAccount(contacts), file);
  const cookie = signIn(file);
  const service = await startService(file, { SENDER_VERIFICATION: 'optional' });
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  const [name = '', value = ''] = cookie.split('=');
  const rows: Table = {};
  const openTab = async (isPhone = false) => {
    const context = await browser.newContext({ viewport: { width: isPhone ? 375 : 1280, height: 800 } });
    await context.addCookies([{ name, value, url: service.origin }]);
    await context.addInitScript(OBSERVE);
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
    return page;
  };
  for (const [title, { path, isPhone = false, act }] of Object.entries(INTERACTIONS)) {
    const page = await openTab(isPhone);
    await page.goto(service.origin + path);
    // With the first locator Playwright sends its own code to the page, which must not be measured.
    await page.locator('main').waitFor();
    for (let repetition = 0; repetition < REPETITIONS; repetition++) {
      await act(page);
      await page.waitForTimeout(SETTLE_MS);
    }
    rows[title] = { ...rowOf(await page.evaluate<number[]>('window.longest()')), 'first content ms': '' };
    await page.context().close();
  }
  for (const [title, { path, link }] of Object.entries(PAGES)) {
    const page = await openTab();
    const durations: number[] = [];
    const firstContents: number[] = [];
    for (let repetition = 0; repetition < REPETITIONS; repetition++) {
      await page.goto(service.origin + path);
      await page.waitForTimeout(SETTLE_MS);
      const before = page.url();
      await click(page, link);
      await page.waitForURL((url) => url.href !== before);
      await page.waitForTimeout(SETTLE_MS);
      durations.push(...(await page.evaluate<number[]>(DURATIONS_BEFORE)));
      firstContents.push(Math.round(await page.evaluate<number>(FIRST_CONTENT)));
    }
    rows[title] = { ...rowOf(durations), 'first content ms': Math.max(...firstContents) };
    await page.context().close();
  }
  report(rows, [
    `${REPETITIONS} times each, ${contacts} contacts, a processor ${SLOWDOWN} times slower in the browser; goal: ${GOAL_MS} ms from each interaction to the next paint`,
  ]);
  await browser.close();
  await service.close();
});
