/** Walks through screens of the dashboard in a real browser, in English and in German. */
import type { Test } from 'tap';
import { launch } from '../../support/dashboard/browser.ts';
import { HOSTILE_NAMES } from '../../support/dashboard/filled-account.ts';
import { DESK, PHONE } from '../../support/walked-pages.ts';
import { lookAt } from './look.ts';
import type { Screen } from './screens.ts';
import { visitsOf } from './visits.ts';
import { walkInGerman } from './walk-german.ts';
import { startWalked } from './walked-service.ts';

/** Walks through these screens of an account whose names are hostile. */
export async function walk(t: Test, screens: readonly Screen[]): Promise<void> {
  const browser = await launch(t);
  const service = await startWalked(t, HOSTILE_NAMES);
  const visit = visitsOf(t, browser, service, { viewport: DESK });
  const visitInGerman = visitsOf(t, browser, service, { viewport: PHONE, locale: 'de-DE' });
  for (const screen of screens) {
    t.test(
      `${screen.name} is accessible, fits, and stays within its budget, in each size and colour scheme`,
      async (t) => lookAt(t, screen, await visit(screen)),
    );
    // The gallery's own texts are English.
    if (screen.name.startsWith('gallery')) continue;
    t.test(`${screen.name} is German for Germans, and works by keyboard alone`, async (t) =>
      walkInGerman(t, screen, await visitInGerman(screen)),
    );
  }
}
