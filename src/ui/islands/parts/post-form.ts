/** Submits a form in the background, and shows parts of the resulting page. */
import { type NoPage, readPage } from './read-page.ts';

/** Submits a form as if the button `name` with this value had been clicked. Returns the resulting page, or why there is none. */
export async function postForm(
  form: HTMLFormElement,
  name: string,
  value: string,
  signal: AbortSignal,
): Promise<Document | NoPage> {
  const body = new URLSearchParams([...new FormData(form)].map(([field, value]) => [field, String(value)]));
  body.set(name, value);
  return readPage(form.action, signal, { method: 'POST', body });
}

/** Replaces the part of the present page with this selector by the same part of another page, and restores the focus and the cursor. */
export function exchange(selector: string, page: Document): void {
  const [shown, fresh] = [document.querySelector(selector), page.querySelector(selector)];
  if (shown === null || fresh === null || shown.isEqualNode(fresh)) return;
  const before = shown.contains(document.activeElement) ? document.activeElement : null;
  shown.replaceWith(document.adoptNode(fresh));
  const after = before?.id ? document.getElementById(before.id) : null;
  after?.focus();
  // Only fields for text have a cursor; in others its position is null.
  if (before instanceof HTMLInputElement && after instanceof HTMLInputElement && after.selectionStart !== null)
    after.setSelectionRange(before.selectionStart, before.selectionEnd);
}
