/**
 * Updates the time of the last backup on the page, once the backup that the user downloads is made. Without this script the user reloads
 * the page.
 */

import { MINUTE_MS } from '../../units.ts';
import { readPage } from './parts/read-page.ts';

const CHECK_EVERY_MS = 2000;
/** How long the script waits for the backup. A backup of a large database takes minutes. */
const MAX_WAIT_MS = 30 * MINUTE_MS;
/** The selector of the element with the time of the last backup. */
const LAST_BACKUP = '#last-backup';

let timer: ReturnType<typeof setTimeout> | undefined;
document.querySelector('[data-island="last-backup"] form')?.addEventListener('submit', () => {
  clearTimeout(timer);
  const deadline = Date.now() + MAX_WAIT_MS;
  const check = async () => {
    const page = await readPage(location.href);
    const shown = document.querySelector(LAST_BACKUP);
    const fresh = page instanceof Document ? page.querySelector(LAST_BACKUP) : null;
    const isNew = madeAt(fresh) !== undefined && madeAt(fresh) !== madeAt(shown);
    if (isNew) shown?.replaceChildren(...(fresh?.childNodes ?? []));
    else if (page !== 'signed-out' && Date.now() < deadline) timer = setTimeout(check, CHECK_EVERY_MS);
  };
  timer = setTimeout(check, CHECK_EVERY_MS);
});

/** Returns when the last backup was made. The text of the element cannot be compared, because it says how long ago that was. */
function madeAt(element: Element | null): string | undefined {
  return element?.querySelector('time')?.dateTime;
}
