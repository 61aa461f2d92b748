/**
 * Keeps parts of a page up to date: while the user types into a search form, or at intervals while records change on the server. The live
 * region and the notice of a failure (components/island.tsx) are outside these parts. Without this script the user submits the form or
 * reloads the page.
 */
import { announcer } from './parts/announcer.ts';
import { isInUse, readPage, showFailure } from './parts/read-page.ts';

interface Settings {
  /**
   * A selector of the parts that are replaced, each by the part with the same id. The attribute `data-news` of the first part is announced;
   * `data-active` is `yes` while the first part can still change by itself.
   */
  results: string;
  /** The selector of the search form; absent if there is none. */
  search?: string;
  /** The URL that answers a search with only the parts; the URL of the form by default. */
  source?: string;
  /** The milliseconds between two updates; 0 or absent: no regular updates. */
  every?: number;
}

/** The result of an update. `shown`: all parts are up to date. `in use`: a part was not replaced, because the user is using it. */
type Outcome = 'shown' | 'in use';

/** How long after a keystroke the search begins. */
const TYPING_MS = 150;
/** How long an update may take before its parts are marked as busy. */
const BUSY_MS = 150;
/** How often screen readers announce counts while these change. */
const NEWS_MS = 4000;
/** The longest wait between two updates after failures. */
const MAX_WAIT_MS = 30_000;

for (const island of document.querySelectorAll<HTMLElement>('[data-island="live"]')) {
  const settings: Settings = JSON.parse(island.dataset.props ?? '{}');
  const announce = announcer(() => island.querySelector('[data-live="news"]'), NEWS_MS);
  if (settings.search !== undefined) searchWhileTyping(island, settings.search, settings, announce);
  void completeParts(island);
  if (settings.every) updateRegularly(island, settings.every, settings, announce);
}

type Announce = ReturnType<typeof announcer>;

function searchWhileTyping(
  island: HTMLElement,
  selector: string,
  { results, source }: Settings,
  announce: Announce,
): void {
  const form = document.querySelector<HTMLFormElement>(selector);
  if (form === null) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let latest = new AbortController();
  const search = async () => {
    latest.abort();
    latest = new AbortController();
    const { signal } = latest;
    const query = queryOf(form);
    const url = `${form.action}${query}`;
    const waiting = setTimeout(() => setBusy(results, true), BUSY_MS);
    const page = await readPage(source === undefined ? url : `${source}${query}`, signal);
    clearTimeout(waiting);
    // If the user has typed more, a later search shows its own results or failure.
    if (signal.aborted) return;
    setBusy(results, false);
    if (page instanceof Document) {
      if (isAnyInUse(results)) form.querySelector<HTMLElement>('input[type="search"]')?.focus();
      const { outcome, news } = show(page, results, url);
      if (outcome === 'shown') history.replaceState(history.state, '', url);
      void completeParts(island);
      announce(news);
    }
    showFailure(island, page instanceof Document ? null : page, () => void search(), url);
  };
  form.addEventListener('input', (event) => {
    if (event.target instanceof HTMLInputElement && event.target.type === 'search') {
      clearTimeout(timer);
      timer = setTimeout(search, TYPING_MS);
    }
  });
  // The user may have typed before this script ran.
  const field = form.querySelector<HTMLInputElement>('input[type="search"]');
  if (field !== null && field.value !== field.defaultValue) void search();
}

/** Returns the non-empty fields of the form as a query string. */
function queryOf(form: HTMLFormElement): string {
  const pairs = [...new FormData(form)].flatMap(([name, value]) => (value === '' ? [] : [[name, String(value)]]));
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}

/** Updates the parts at intervals until they can no longer change or the user is signed out. Waits longer after each failure. */
function updateRegularly(island: HTMLElement, every: number, { results }: Settings, announce: Announce): void {
  let wait = every;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const update = async () => {
    clearTimeout(timer);
    if (document.visibilityState === 'hidden') {
      timer = setTimeout(update, every);
      return;
    }
    const page = await readPage(location.href);
    const result = page instanceof Document ? show(page, results, location.href) : null;
    if (result !== null) announce(result.news, !result.isActive);
    showFailure(island, page instanceof Document ? null : page, () => void update(), location.href);
    wait = result === null ? Math.min(2 * wait, MAX_WAIT_MS) : every;
    const isOver = result === null ? page === 'signed-out' : !result.isActive && result.outcome === 'shown';
    clearTimeout(timer);
    if (!isOver) timer = setTimeout(update, wait);
  };
  timer = setTimeout(update, every);
}

/** Replaces the parts that have changed. If the new page has none of the parts, the browser opens the page at `url`. */
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

/** Completes parts that take the server too long for a page, such as a count. The attribute `data-rest` is the URL of the complete part. */
async function completeParts(island: HTMLElement): Promise<void> {
  for (;;) {
    const part = island.querySelector<HTMLElement>('[data-rest]');
    const url = part?.dataset.rest;
    if (part === null || url === undefined) return;
    const page = await readPage(url);
    // The part stays incomplete if its completion cannot be read, or if another search has replaced the part.
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
