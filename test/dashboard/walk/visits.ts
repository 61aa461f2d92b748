/** Visits of screens one after the other in the same tab: opening a tab takes the browser far longer than a screen in it. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { Test } from 'tap';
import { openTab, type Tab } from '../../support/dashboard/browser.ts';
import { accountOf, type Screen } from './screens.ts';
import type { WalkedService } from './walked-service.ts';

/** A screen that is shown, and what went wrong with it so far. */
export interface Visit extends Pick<Tab, 'page' | 'outside' | 'complaints'> {
  /** Bytes received since the visit began, as compressed on the wire. */
  received(): number;
}

/**
 * Gives what opens a screen in the tab of its account; tabs have these options, and are closed with the test. Nothing
 * moves in them, so that a change of the colour scheme is done at once. With `isFirst` the browser has kept nothing of
 * visits before.
 */
export function visitsOf(
  t: Test,
  browser: Browser,
  service: WalkedService,
  {
    isFirst,
    ...options
  }: BrowserContextOptions & {
    viewport: NonNullable<BrowserContextOptions['viewport']>;
    isFirst?: boolean;
  },
): (screen: Screen) => Promise<Visit> {
  const tabs = new Map<Screen['account'], Promise<Tab>>();
  return async (screen) => {
    const account = accountOf(screen);
    const cookie = account === 'none' ? {} : { cookie: service.cookies[account] };
    const opening =
      tabs.get(account) ?? openTab(t, browser, service.origin, { ...options, ...cookie, reducedMotion: 'reduce' });
    tabs.set(account, opening);
    const { page, outside, complaints, received } = await opening;
    if (isFirst === true) await forget(page);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize(options.viewport);
    outside.length = 0;
    complaints.length = 0;
    const before = received();
    await page.goto(service.addressOf(screen), { waitUntil: screen.isLive ? 'load' : 'networkidle' });
    return { page, outside, complaints, received: () => received() - before };
  };
}

/** Lets the browser forget what it has kept of pages. */
async function forget(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.clearBrowserCache');
  await session.detach();
}
