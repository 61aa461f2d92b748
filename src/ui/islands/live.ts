/**
 * Keeps parts of a page up to date with the server: while the user types into a search form, or at intervals while something
 * changes. The live region and the notice of a failure (components/island.tsx) are outside these parts. Without this script the
 * user submits the form or reloads the page.
 */
import { announcer } from './parts/announcer.ts';
import { isInUse, type NoPage, readPage } from './parts/read-page.ts';

interface Settings {
  /**
   * A selector of the parts that are replaced, each by the part with the same id. The first part has the announcement in
   * `data-news`, and in `data-active` whether it will change by itself.
   */
  results: string;
  /** The search form. */
  search?: string;
  /** The URL that answers a search with only the parts; by default the form's own. */
  source?: string;
  /** Milliseconds between two updates; 0: no regular updates. */
  every?: number;
}

/** The result of an update: all parts are up to date, a part in use was not replaced, or there was no page. */
type Outcome = 'shown' | 'in use' | NoPage;

const TYPING_MS = 150;
/** The busy state is shown if an update takes longer than this. */
const BUSY_MS = 150;
/** How often counts are announced while they change. */
const NEWS_MS = 4000;
const MAX_WAIT_MS = 30_000;

for (const island of document.querySelectorAll<HTMLElement>('[data-island="live"]')) {
  const settings: Settings = JSON.parse(island.dataset.props ?? '{}');
  const announce = announcer(() => island.querySelector('[data-live="news"]'), NEWS_MS);
  if (settings.search !== undefined) searchAsTyped(island, settings.search, settings, announce);
  void completeParts(island);
  if (settings.every) watch(island, settings.every, settings, announce);
}

type Announce = ReturnType<typeof announcer>;

function searchAsTyped(island: HTMLElement, selector: string, { results, source }: Settings, announce: Announce): void {
  const form = document.querySelector<HTMLFormElement>(selector);
  if (form === null) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let latest = new AbortController();
  const look = async () => {
    latest.abort();
    latest = new AbortController();
    const { signal } = latest;
    const query = queryOf(form);
    const url = `${form.action}${query}`;
    const waiting = setTimeout(() => setBusy(results, true), BUSY_MS);
    const page = await readPage(source === undefined ? url : `${source}${query}`, signal);
    clearTimeout(waiting);
    // A later search shows its own results or failure.
    if (signal.aborted) return;
    setBusy(results, false);
    if (page instanceof Document) {
      if (isAnyInUse(results)) form.querySelector<HTMLElement>('input[type="search"]')?.focus();
      const { outcome, news } = show(page, results, url);
      if (outcome === 'shown') history.replaceState(history.state, '', url);
      void completeParts(island);
      announce(news);
    }
    showFailure(island, page instanceof Document ? null : page, url, () => void look());
  };
  form.addEventListener('input', (event) => {
    if (event.target instanceof HTMLInputElement && event.target.type === 'search') {
      clearTimeout(timer);
      timer = setTimeout(look, TYPING_MS);
    }
  });
}

/** Returns the non-empty fields of the form as a query string. */
function queryOf(form: HTMLFormElement): string {
  const pairs = [...new FormData(form)].flatMap(([name, value]) => (value === '' ? [] : [[name, String(value)]]));
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}

function watch(island: HTMLElement, every: number, { results }: Settings, announce: Announce): void {
  let wait = every;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = async () => {
    clearTimeout(timer);
    if (document.visibilityState === 'hidden') {
      timer = setTimeout(look, every);
      return;
    }
    const page = await readPage(location.href);
    const seen = page instanceof Document ? show(page, results, location.href) : null;
    if (seen !== null) announce(seen.news, !seen.isActive);
    showFailure(island, page instanceof Document ? null : page, location.href, () => void look());
    wait = seen === null ? Math.min(2 * wait, MAX_WAIT_MS) : every;
    const isOver = seen === null ? page === 'signed-out' : !seen.isActive && seen.outcome === 'shown';
    clearTimeout(timer);
    if (!isOver) timer = setTimeout(look, wait);
  };
  timer = setTimeout(look, every);
}

/** Replaces the parts that changed. If the page has none of them any more, the browser opens it as a whole. */
function show(page: Document, results: string, url: string): { outcome: Outcome; news: string; isActive: boolean } {
  const first = page.querySelector<HTMLElement>(results);
  if (first === null) location.assign(url);
  let outcome: Outcome = 'shown';
  for (const shown of document.querySelectorAll(results)) {
    const fresh = page.getElementById(shown.id);
    if (fresh === null || fresh.isEqualNode(shown)) continue;
    if (isInUse(shown)) outcome = 'in use';
    else shown.replaceWith(document.adoptNode(fresh));
  }
  return { outcome, news: first?.dataset.news ?? '', isActive: first?.dataset.active === 'yes' };
}

/** Asks for what takes the server longer than a page may, such as a count, at the address in `data-rest`, and puts it in its place. */
async function completeParts(island: HTMLElement): Promise<void> {
  for (;;) {
    const part = island.querySelector<HTMLElement>('[data-rest]');
    const rest = part?.dataset.rest;
    if (part === null || rest === undefined) return;
    const page = await readPage(rest);
    // Another search has replaced it, or the number stays as it was.
    if (!(page instanceof Document) || !part.isConnected) return;
    for (const fresh of page.querySelectorAll('[id]'))
      document.getElementById(fresh.id)?.replaceWith(document.adoptNode(fresh));
  }
}

function isAnyInUse(results: string): boolean {
  return [...document.querySelectorAll(results)].some(isInUse);
}

function setBusy(results: string, isBusy: boolean): void {
  for (const part of document.querySelectorAll(results)) {
    if (isBusy) part.setAttribute('aria-busy', 'true');
    else part.removeAttribute('aria-busy');
  }
}

/** Shows why there is no page at `url`, with a way to try again; null removes the notice. */
function showFailure(island: HTMLElement, failure: NoPage | null, url: string, again: () => void): void {
  const place = island.querySelector('[data-live="failure"]');
  if (place === null) return;
  const template =
    failure === null ? null : island.querySelector<HTMLTemplateElement>(`template[data-live="${failure}"]`);
  if (template === null && place.contains(document.activeElement)) {
    document.querySelector<HTMLElement>('#main')?.focus({ preventScroll: true });
  }
  place.replaceChildren(...(template === null ? [] : [template.content.cloneNode(true)]));
  place.querySelector('button')?.addEventListener('click', again);
  place.querySelector('a')?.setAttribute('href', url);
}
