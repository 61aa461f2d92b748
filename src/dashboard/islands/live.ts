/**
 * Keeps a part of a page up to date with what the server renders: while somebody types into a form that searches, or at intervals while
 * something goes on. The page works without it by sending the form, or by being loaded again.
 */
import { isInUse, readPage } from './parts/read-page.ts';

interface Settings {
  /** The element whose content is replaced. */
  results: string;
  /** The form that searches. */
  search?: string;
  /** Milliseconds between two updates; 0: no updates by time. */
  every?: number;
}

const TYPING_MS = 150;

for (const island of document.querySelectorAll<HTMLElement>('[data-island="live"]')) {
  const settings: Settings = JSON.parse(island.dataset.props ?? '{}');
  if (settings.search !== undefined) searchAsTyped(settings.search, settings.results);
  if (settings.every) watch(settings.every, settings.results);
}

function searchAsTyped(form: string, results: string): void {
  const found = document.querySelector<HTMLFormElement>(form);
  if (found === null) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let latest = new AbortController();
  const look = async () => {
    latest.abort();
    latest = new AbortController();
    const pairs = [...new FormData(found)]
      .filter(([, value]) => value !== '')
      .map(([name, value]) => [name, String(value)]);
    const url = `${found.action}?${new URLSearchParams(pairs)}`;
    if (await replace(url, results, latest.signal)) history.replaceState(history.state, '', url);
  };
  found.addEventListener('input', (event) => {
    if (event.target instanceof HTMLInputElement && event.target.type === 'search') {
      clearTimeout(timer);
      timer = setTimeout(look, TYPING_MS);
    }
  });
}

function watch(every: number, results: string): void {
  const look = async () => {
    const shown = document.querySelector(results);
    if (document.visibilityState === 'visible' && shown !== null && !isInUse(shown)) {
      await replace(location.href, results);
    }
    if (document.querySelector<HTMLElement>(results)?.dataset.active === 'yes') setTimeout(look, every);
  };
  setTimeout(look, every);
}

/** Puts the part of the page at `url` in place of the present one; gives whether that was done. */
async function replace(url: string, selector: string, signal?: AbortSignal): Promise<boolean> {
  // Null where a later request replaced this one, or the network failed: the page stays as it is.
  const page = await readPage(url, signal);
  if (page === null) return false;
  const fresh = page.querySelector(selector);
  const present = document.querySelector(selector);
  if (fresh === null || present === null) location.assign(url);
  else present.replaceWith(document.adoptNode(fresh));
  return fresh !== null;
}
