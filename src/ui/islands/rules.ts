/**
 * The form of a segment: updates the rows of rules after a choice or a button, and the number of matching contacts after typing,
 * without loading the page again. Continues a count that the service interrupted. Without this script the form's buttons submit it.
 */
import { announcer } from './parts/announcer.ts';
import { exchange, postForm, showFailure } from './parts/post-form.ts';

const TYPING_MS = 300;
const NEWS_MS = 2000;
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

  /** Submits the form as if `button` had been clicked, and shows these parts of the answer. */
  const ask = async (name: string, value: string, parts: readonly string[]) => {
    clearTimeout(timer);
    latest.abort();
    latest = new AbortController();
    const { signal } = latest;
    const page = await postForm(form, name, value, signal);
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
  // The number is updated automatically from now on.
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
