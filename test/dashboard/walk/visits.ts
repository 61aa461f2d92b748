/** Visits of screens one after the other in the same tab: opening a tab takes the browser far longer than a screen in it. */
import type { Browser, BrowserContextOptions } from 'playwright-core';
import type { Test } from 'tap';
import { openTab, type Tab } from '../../support/dashboard/browser.ts';
import { accountOf, type Screen } from './screens.ts';
import type { WalkedService } from './walked-service.ts';

/** A screen that is shown, and what went wrong with it so far. */
export type Visit = Pick<Tab, 'page' | 'outside' | 'complaints'>;

/**
 * Gives what opens a screen in the tab of its account; tabs have these options, and are closed with the test. Nothing
 * moves in them, so that a change of the colour scheme is done at once.
 */
export function visitsOf(
  t: Test,
  browser: Browser,
  service: WalkedService,
  options: BrowserContextOptions & { viewport: NonNullable<BrowserContextOptions['viewport']> },
): (screen: Screen) => Promise<Visit> {
  const tabs = new Map<Screen['account'], Promise<Tab>>();
  return async (screen) => {
    const account = accountOf(screen);
    const cookie = account === 'none' ? {} : { cookie: service.cookies[account] };
    const opening =
      tabs.get(account) ?? openTab(t, browser, service.origin, { ...options, ...cookie, reducedMotion: 'reduce' });
    tabs.set(account, opening);
    const { page, outside, complaints } = await opening;
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize(options.viewport);
    outside.length = 0;
    complaints.length = 0;
    await page.goto(service.addressOf(screen), { waitUntil: screen.isLive ? 'load' : 'networkidle' });
    return { page, outside, complaints };
  };
}
