/**
 * Shows the progress of a mailing, with its rate and remaining time, from the events of /api/live. When the state of the mailing changes,
 * updates the other parts of the page. Without this script the user reloads the page.
 */
import { announcer } from './parts/announcer.ts';
import { isInUse, readPage } from './parts/read-page.ts';

interface Settings {
  utr: string;
  locale: string;
  /** The text about the progress, with `{finished}` and `{count}`. */
  progress: string;
  /** The text about the rate, with `{rate}` and `{time}`. */
  pace: string;
}

/** An event of /api/live. */
interface Progress {
  state: string;
  recipients: number;
  /** The number of mails that were sent or given up. */
  finished: number;
  /** The number of mails finished per second. */
  rate: number;
  seconds_left: number | null;
}

/** The states after which no events come. */
const FINAL = ['draft', 'cancelled', 'done', 'kept'];
/** The states of a campaign that has started. */
const STARTED = ['preparing', 'sending', 'done', 'kept'];
/** The wait before the next request after a failure. The wait doubles with each failure up to `MAX_WAIT_MS`. */
const MIN_WAIT_MS = 1000;
const MAX_WAIT_MS = 30_000;
/** How often screen readers announce the progress. */
const NEWS_MS = 10_000;
/** How often the figures below the progress are updated while they change. */
const RESULTS_MS = 10_000;
/** If the user is using a part of the page, the script looks again after this time whether it can be replaced. */
const IN_USE_MS = 2000;
// The selectors of the parts of the page that are replaced.
const ACTION = '.page-action';
const NOW = '#mailing-now';
const RESULTS = '#mailing-results';

const SECOND_MS = 1000;
const MINUTE = 60;
/** When each countdown element was first seen, by `performance.now()`. */
const seenAt = new WeakMap<Element, number>();
/** The units of durations, with their lengths in seconds. */
const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

const island = document.querySelector<HTMLElement>('[data-island="live-progress"]');
if (island !== null) void follow(JSON.parse(island.dataset.props ?? '{}'));
startCountdowns();

/** Follows the events until the mailing has ended. When the connection breaks, connects again, after a longer wait each time. */
async function follow(settings: Settings): Promise<void> {
  let wait = MIN_WAIT_MS;
  for (;;) {
    await untilVisible();
    const isOver = await listen(settings, (progress) => {
      wait = MIN_WAIT_MS;
      show(settings, progress);
    });
    if (isOver) return;
    await new Promise((resolve) => setTimeout(resolve, wait));
    wait = Math.min(2 * wait, MAX_WAIT_MS);
  }
}

/** Waits until the page is visible. A hidden page needs no connection, and a browser opens only few connections to one host. */
async function untilVisible(): Promise<void> {
  while (document.visibilityState === 'hidden') {
    await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }));
  }
}

/** Calls `onProgress` with each event of one connection. Returns true if no more events will come. */
async function listen({ utr }: Settings, onProgress: (progress: Progress) => void): Promise<boolean> {
  const ended = new AbortController();
  const endWhenHidden = () => document.visibilityState === 'hidden' && ended.abort();
  document.addEventListener('visibilitychange', endWhenHidden);
  try {
    // EventSource sends no headers, and the API accepts a session only with this header.
    const response = await fetch(`/api/live?${new URLSearchParams({ utr })}`, {
      headers: { 'x-sendlark': 'dashboard' },
      signal: ended.signal,
    });
    if (response.status === 401) location.reload();
    if (!response.ok || response.body === null) return response.status < 500 && response.status !== 429;
    let last: Progress | null = null;
    for await (const event of eventsOf(response.body)) {
      last = event;
      onProgress(event);
    }
    return last !== null && FINAL.includes(last.state);
  } catch {
    return false;
  } finally {
    document.removeEventListener('visibilitychange', endWhenHidden);
  }
}

/** Yields the events of a stream. An event is a line `data: …` with an empty line behind it. Other lines are comments. */
async function* eventsOf(body: ReadableStream<BufferSource>): AsyncGenerator<Progress> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += part.value;
    const events = text.split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) if (event.startsWith('data: ')) yield JSON.parse(event.slice('data: '.length));
  }
}

/** When the figures below the progress were last updated. */
let resultsAt = performance.now();
/** The number of finished mails in the last event; -1 before the first event. */
let shownFinished = -1;

/** Shows the progress, and updates the other parts of the page if they are out of date. */
function show(settings: Settings, progress: Progress): void {
  const { state, recipients, finished, rate, seconds_left: left } = progress;
  const meter = document.querySelector<HTMLProgressElement>(`${NOW} progress`);
  const isChanged = document.querySelector<HTMLElement>(NOW)?.dataset.state !== state;
  if (isChanged || (meter === null && finished < recipients)) {
    refresh([ACTION, NOW, RESULTS], true);
  } else if (finished !== shownFinished && performance.now() - resultsAt >= RESULTS_MS) {
    refresh([RESULTS], false);
  }
  shownFinished = finished;
  if (meter === null) return;
  const number = new Intl.NumberFormat(settings.locale, { maximumFractionDigits: 1 });
  const done = fill(settings.progress, { finished: number.format(finished), count: number.format(recipients) });
  const pace =
    left === null || rate === 0
      ? ''
      : fill(settings.pace, { rate: number.format(rate), time: duration(settings.locale, left) });
  meter.max = Math.max(recipients, 1);
  meter.value = finished;
  meter.setAttribute('aria-label', done);
  setText(`${NOW} [data-live="progress"]`, done);
  setText(`${NOW} [data-live="pace"]`, pace);
  if (!isChanged) announce([done, pace].filter(Boolean).join(', '));
}

/** The selectors of the parts that are out of date. */
const stale = new Set<string>();
/** True if the new state must be announced when the parts are replaced. */
let isNewsDue = false;
let isRefreshing = false;

/** Replaces these parts of the page by their present state. With `isNews`, the new state is announced. */
function refresh(parts: readonly string[], isNews: boolean): void {
  for (const part of parts) stale.add(part);
  isNewsDue ||= isNews;
  if (!isRefreshing) void replaceStale();
}

/** Loads the page and replaces the stale parts, until no part is stale. Waits before loading again if the page could not be loaded. */
async function replaceStale(): Promise<void> {
  isRefreshing = true;
  let wait = MIN_WAIT_MS;
  while (stale.size > 0) {
    const parts = [...stale];
    stale.clear();
    resultsAt = performance.now();
    const page = await readPage(location.href);
    if (page === 'signed-out') location.reload();
    if (page instanceof Document && page.querySelector(NOW) !== null) {
      wait = MIN_WAIT_MS;
      replaceParts(page, parts);
    } else {
      for (const part of parts) stale.add(part);
      await new Promise((resolve) => setTimeout(resolve, wait));
      wait = Math.min(2 * wait, MAX_WAIT_MS);
    }
  }
  isRefreshing = false;
}

/** Replaces parts of the page. Parts in use are replaced later. */
function replaceParts(page: Document, parts: readonly string[]): void {
  const inUse: string[] = [];
  const before = document.querySelector<HTMLElement>(NOW)?.dataset.state;
  for (const part of parts) {
    const fresh = page.querySelector(part);
    const shown = document.querySelector(part);
    if (fresh === null || shown === null) continue;
    if (isInUse(shown)) inUse.push(part);
    else shown.replaceWith(document.adoptNode(fresh));
  }
  const after = document.querySelector<HTMLElement>(NOW)?.dataset.state ?? '';
  const startText = before === 'scheduled' && STARTED.includes(after) ? flyLark() : '';
  if (isNewsDue) announce(`${startText} ${document.querySelector(`${NOW} .badge`)?.textContent ?? ''}`.trim(), true);
  isNewsDue = false;
  if (inUse.length > 0) refreshWhenFree(inUse);
}

/** Updates parts of the page once the user no longer uses any of them. */
function refreshWhenFree(parts: readonly string[]): void {
  const isPartInUse = (part: string) => {
    const shown = document.querySelector(part);
    return shown !== null && isInUse(shown);
  };
  setTimeout(() => (parts.some(isPartInUse) ? refreshWhenFree(parts) : refresh(parts, false)), IN_USE_MS);
}

/** Lets the lark fly across the page once, unless the user wants no motion. Returns the text that says that the campaign has started. */
function flyLark(): string {
  const template = document.querySelector<HTMLTemplateElement>('template[data-live="leaving"]');
  const lark = template?.content.firstElementChild?.cloneNode(true);
  if (lark instanceof HTMLElement && !matchMedia('(prefers-reduced-motion: reduce)').matches) {
    lark.addEventListener('animationend', () => lark.remove());
    document.body.append(lark);
  }
  // Without the template the lark does not fly again.
  template?.remove();
  return template?.dataset.text ?? '';
}

const announce = announcer(() => document.querySelector('[data-live="news"]'), NEWS_MS);

function setText(selector: string, text: string): void {
  const element = document.querySelector(selector);
  if (element !== null && element.textContent !== text) element.textContent = text;
}

function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);
}

interface Countdown {
  /** The seconds left when the server made the element. */
  seconds: number;
  locale: string;
  /** The text, with `{when}` for the remaining time. */
  text: string;
}

function startCountdowns(): void {
  setInterval(showCountdowns, SECOND_MS);
  showCountdowns();
}

function showCountdowns(): void {
  for (const element of document.querySelectorAll<HTMLElement>('[data-countdown]')) {
    const { seconds, locale, text }: Countdown = JSON.parse(element.dataset.countdown ?? '{}');
    const from = seenAt.get(element) ?? performance.now();
    seenAt.set(element, from);
    const left = Math.max(0, Math.round(seconds - (performance.now() - from) / SECOND_MS));
    const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
    const when = left < 2 * MINUTE ? format.format(left, 'second') : format.format(Math.ceil(left / MINUTE), 'minute');
    element.textContent = text.replace('{when}', when);
  }
}

/** Formats a duration in its two largest units, such as “1 hr 20 min”. */
function duration(locale: string, seconds: number): string {
  const parts: string[] = [];
  let remaining = Math.max(1, Math.round(seconds));
  for (const [unit, size] of UNITS) {
    const count = Math.floor(remaining / size);
    remaining -= count * size;
    const format = new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short' });
    if (count > 0) parts.push(format.format(count));
  }
  return parts.slice(0, 2).join(' ');
}
