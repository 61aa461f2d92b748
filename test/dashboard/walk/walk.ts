/** Walks through screens of the dashboard in a real browser, in English and in German. */
import type { Test } from 'tap';
import { FLAGS_OF_WALKS } from '../../../fixtures/chromium.ts';
import { launch } from '../../support/dashboard/browser.ts';
import { HOSTILE_NAMES } from '../../support/dashboard/filled-account.ts';
import { DESK, PHONE } from '../../support/walked-pages.ts';
import { lookAt } from './look.ts';
import { readAloud } from './read-aloud.ts';
import { accountOf, type Screen } from './screens.ts';
import { visitsOf } from './visits.ts';
import { walkInGerman } from './walk-german.ts';
import { startWalked } from './walked-service.ts';

/**
 * Walks through these screens of accounts whose names are hostile: first all in English, then all in German, account by account. A browser
 * that goes back and forth between tabs starts a process for each visit.
 */
export async function walk(t: Test, screens: readonly Screen[]): Promise<void> {
  const browser = await launch(t, FLAGS_OF_WALKS);
  const service = await startWalked(t, HOSTILE_NAMES);
  const visit = visitsOf(t, browser, service, { viewport: DESK });
  const visitInGerman = visitsOf(t, browser, service, { viewport: PHONE, locale: 'de-DE' });
  const ordered = screens.toSorted((one, other) => accountOf(one).localeCompare(accountOf(other)));
  const seen = new Set<string>();
  for (const screen of ordered) {
    t.test(
      `${screen.name} is accessible, fits, and stays within its budget, in each size and colour scheme`,
      async (t) => {
        const visited = await visit(screen);
        if (screen.isReadAloud === true) await readAloud(t, visited.page);
        await lookAt(t, screen, visited, seen);
      },
    );
  }
  const navigations = new Set<string>();
  for (const screen of ordered) {
    // The gallery's own texts are English.
    if (screen.name.startsWith('gallery')) continue;
    t.test(`${screen.name} is German for Germans, and works by keyboard alone`, async (t) =>
      walkInGerman(t, screen, await visitInGerman(screen), navigations),
    );
  }
}
