/** Submits a form in the background, and shows parts of the resulting page. */

const REQUEST_TIMEOUT_MS = 20_000;
const SIGN_IN_PATH = '/login';

/** Submits a form as if the button `name` with this value had been clicked. Returns the resulting page, or why there is none. */
export async function postForm(
  form: HTMLFormElement,
  name: string,
  value: string,
  signal: AbortSignal,
): Promise<Document | 'failed' | 'signed-out'> {
  const body = new URLSearchParams([...new FormData(form)].map(([field, value]) => [field, String(value)]));
  body.set(name, value);
  try {
    const response = await fetch(form.action, {
      method: 'POST',
      body,
      headers: { accept: 'text/html' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
    });
    if (response.redirected && new URL(response.url).pathname === SIGN_IN_PATH) return 'signed-out';
    return response.ok ? new DOMParser().parseFromString(await response.text(), 'text/html') : 'failed';
  } catch {
    return 'failed';
  }
}

/** Replaces the part of the present page with this selector by the same part of another page, and restores the focus. */
export function exchange(selector: string, page: Document): void {
  const [shown, fresh] = [document.querySelector(selector), page.querySelector(selector)];
  if (shown === null || fresh === null || shown.isEqualNode(fresh)) return;
  const focused = shown.contains(document.activeElement) ? document.activeElement?.id : undefined;
  shown.replaceWith(document.adoptNode(fresh));
  if (focused) document.getElementById(focused)?.focus();
}

/** Shows that the page could not be updated, with a button that tries again. With null, removes the notice. */
export function showFailure(island: HTMLElement, failure: 'failed' | 'signed-out' | null, again: () => void): void {
  const template =
    failure === null ? null : island.querySelector<HTMLTemplateElement>(`template[data-live="${failure}"]`);
  const place = island.querySelector('[data-live="failure"]');
  place?.replaceChildren(...(template === null ? [] : [template.content.cloneNode(true)]));
  place?.querySelector('button')?.addEventListener('click', (event) => {
    event.preventDefault();
    again();
  });
}
