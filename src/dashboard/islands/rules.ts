/**
 * The form of a segment: a changed choice and the buttons for rules bring new rows, and what is typed a new count, without loading the
 * page again. It goes on counting where the service stopped after a moment. Without it the buttons of the form send the page.
 */
import { announcer } from './parts/announcer.ts';

const TYPING_MS = 300;
const NEWS_MS = 2000;
const PATIENCE_MS = 20_000;
const SIGN_IN = '/login';
const ROWS = '#segment-rules';
const COUNT = '#segment-count';
const SAMPLE = '#segment-sample';
const WORDS = '#segment-words';

for (const island of document.querySelectorAll<HTMLElement>('[data-island="rules"]')) {
  const form = island.querySelector('form');
  if (form !== null) keepCounted(island, form);
}

function keepCounted(island: HTMLElement, form: HTMLFormElement): void {
  const announce = announcer(() => island.querySelector('[data-live="news"]'), NEWS_MS);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let latest = new AbortController();

  /** Sends the form as it is, as if `button` had been clicked, and shows these parts of the answer. */
  const ask = async (name: string, value: string, parts: readonly string[]) => {
    clearTimeout(timer);
    latest.abort();
    latest = new AbortController();
    const { signal } = latest;
    const page = await post(form, name, value, signal);
    if (signal.aborted) return;
    showFailure(island, page instanceof Document ? null : page, () => void ask(name, value, parts));
    if (!(page instanceof Document)) return;
    for (const part of parts) exchange(part, page);
    if (value === 'add') form.querySelector<HTMLElement>(`${ROWS} fieldset:last-of-type select`)?.focus();
    if (value.startsWith('remove')) form.querySelector<HTMLElement>(`${ROWS} button[value="add"]`)?.focus();
    announce(form.querySelector<HTMLElement>(COUNT)?.dataset.news ?? '');
    const on = form.querySelector<HTMLButtonElement>(`${COUNT} button[name="after"]`);
    if (on !== null) await ask('after', on.value, [COUNT]);
  };
  const all = [ROWS, WORDS, COUNT, SAMPLE];
  // The count comes by itself now.
  const show = form.querySelector<HTMLButtonElement>('button[value="show"]');
  if (show !== null) show.hidden = true;
  form.addEventListener('change', ({ target }) => {
    if (target instanceof HTMLSelectElement) void ask('do', 'show', all);
  });
  form.addEventListener('input', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.name === 'segment_name') return;
    latest.abort();
    clearTimeout(timer);
    timer = setTimeout(() => void ask('do', 'show', [WORDS, COUNT, SAMPLE]), TYPING_MS);
  });
  form.addEventListener('submit', (event) => {
    const button = event.submitter;
    if (!(button instanceof HTMLButtonElement) || button.value === 'save') return;
    event.preventDefault();
    void ask(button.name, button.value, button.name === 'after' ? [COUNT] : all);
  });
  const on = form.querySelector<HTMLButtonElement>(`${COUNT} button[name="after"]`);
  if (on !== null) void ask('after', on.value, [COUNT]);
}

async function post(
  form: HTMLFormElement,
  name: string,
  value: string,
  signal: AbortSignal,
): Promise<Document | 'failed' | 'signed-out'> {
  const body = new URLSearchParams([...new FormData(form)].map(([field, given]) => [field, String(given)]));
  body.set(name, value);
  try {
    const response = await fetch(form.action, {
      method: 'POST',
      body,
      headers: { accept: 'text/html' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
    });
    if (response.redirected && new URL(response.url).pathname === SIGN_IN) return 'signed-out';
    return response.ok ? new DOMParser().parseFromString(await response.text(), 'text/html') : 'failed';
  } catch {
    return 'failed';
  }
}

/** Puts a part of the page in place of that on the page, and the focus back to where it was. */
function exchange(part: string, page: Document): void {
  const [present, fresh] = [document.querySelector(part), page.querySelector(part)];
  if (present === null || fresh === null || present.isEqualNode(fresh)) return;
  const focused = present.contains(document.activeElement) ? document.activeElement?.id : undefined;
  present.replaceWith(document.adoptNode(fresh));
  if (focused) document.getElementById(focused)?.focus();
}

function showFailure(island: HTMLElement, failure: 'failed' | 'signed-out' | null, again: () => void): void {
  const template =
    failure === null ? null : island.querySelector<HTMLTemplateElement>(`template[data-live="${failure}"]`);
  const place = island.querySelector('[data-live="failure"]');
  place?.replaceChildren(...(template === null ? [] : [template.content.cloneNode(true)]));
  place?.querySelector('button')?.addEventListener('click', (event) => {
    event.preventDefault();
    again();
  });
}
