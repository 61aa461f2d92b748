/** The builder of a form: updates the preview after each change, without loading the page again. Without this script a button does it. */
import { exchange, postForm, showFailure } from '../../../ui/islands/parts/post-form.ts';

const TYPING_MS = 400;
const PREVIEW = '#form-preview';

for (const island of document.querySelectorAll<HTMLElement>('[data-island="preview"]')) {
  const form = island.querySelector('form');
  if (form !== null) follow(island, form);
}

function follow(island: HTMLElement, form: HTMLFormElement): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let latest = new AbortController();

  const ask = async () => {
    latest.abort();
    latest = new AbortController();
    const { signal } = latest;
    const page = await postForm(form, 'do', 'show', signal);
    if (signal.aborted) return;
    showFailure(island, page instanceof Document ? null : page, () => void ask());
    if (page instanceof Document) exchange(PREVIEW, page);
  };
  const button = form.querySelector<HTMLButtonElement>('button[value="show"]');
  if (button !== null) button.hidden = true;
  form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => void ask(), TYPING_MS);
  });
}
