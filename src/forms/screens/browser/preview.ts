/** Updates the preview in the builder of a form after each change. Without this script a button shows the preview. */
import { exchange, postForm } from '../../../ui/islands/parts/post-form.ts';
import { showFailure } from '../../../ui/islands/parts/read-page.ts';
import { isTouched } from '../../../ui/islands/parts/touched.ts';

/** How long after the last change the preview is updated. */
const TYPING_MS = 400;
const PREVIEW = '#form-preview';

for (const island of document.querySelectorAll<HTMLElement>('[data-island="preview"]')) {
  const form = island.querySelector('form');
  if (form !== null) updatePreview(island, form);
}

function updatePreview(island: HTMLElement, form: HTMLFormElement): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let latest = new AbortController();

  const update = async () => {
    latest.abort();
    latest = new AbortController();
    const { signal } = latest;
    const page = await postForm(form, 'do', 'show', signal);
    if (signal.aborted) return;
    showFailure(island, page instanceof Document ? null : page, () => void update());
    if (page instanceof Document) exchange(PREVIEW, page);
  };
  const button = form.querySelector<HTMLButtonElement>('button[value="show"]');
  if (button !== null) button.hidden = true;
  form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => void update(), TYPING_MS);
  });
  // The user may have changed the form before this script ran.
  if (isTouched(form)) void update();
}
