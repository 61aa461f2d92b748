/**
 * Shows when the last backup was made, as soon as the one that is being downloaded is made. Without this script the
 * user reloads the page.
 */
import { readPage } from './parts/read-page.ts';

const EVERY_MS = 2000;
/** A backup of a large database takes minutes to make. */
const LONGEST_MS = 30 * 60_000;
const LAST = '#last-backup';

let timer: ReturnType<typeof setTimeout> | undefined;
document.querySelector('[data-island="last-backup"] form')?.addEventListener('submit', () => {
  clearTimeout(timer);
  const until = Date.now() + LONGEST_MS;
  const look = async () => {
    const page = await readPage(location.href);
    const [shown, fresh] = [document, page instanceof Document ? page : null].map((from) => from?.querySelector(LAST));
    const isNew = madeAt(fresh) !== undefined && madeAt(fresh) !== madeAt(shown);
    if (isNew) shown?.replaceChildren(...(fresh?.childNodes ?? []));
    else if (page !== 'signed-out' && Date.now() < until) timer = setTimeout(look, EVERY_MS);
  };
  timer = setTimeout(look, EVERY_MS);
});

/** The time in the page's text, which itself changes as time passes. */
function madeAt(last: Element | null | undefined): string | undefined {
  return last?.querySelector('time')?.dateTime;
}
