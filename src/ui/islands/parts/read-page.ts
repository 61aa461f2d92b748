/** Loads a page, of which scripts take parts, and shows why it could not be loaded. */

/**
 * Why a page could not be loaded. `failed`: the network or the server failed, or took too long. `ended`: `signal` aborted the request.
 * `signed-out`: the user is no longer signed in.
 */
export type NoPage = 'failed' | 'ended' | 'signed-out';

const SIGN_IN_PATH = '/login';
const REQUEST_TIMEOUT_MS = 20_000;

/** Returns the page with which the server answers a request, or why it could not be loaded. */
export async function readPage(url: string, signal?: AbortSignal, init?: RequestInit): Promise<Document | NoPage> {
  const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      ...init,
      headers: { accept: 'text/html' },
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    if (response.redirected && new URL(response.url).pathname === SIGN_IN_PATH) return 'signed-out';
    const text = await response.text();
    return response.ok ? new DOMParser().parseFromString(text, 'text/html') : 'failed';
  } catch {
    return signal?.aborted ? 'ended' : 'failed';
  }
}

/** Returns true if the user is using an element, because it contains the focus or an open dialog. Replacing the element would lose both. */
export function isInUse(element: Element): boolean {
  return element.contains(document.activeElement) || element.querySelector(':popover-open') !== null;
}

/**
 * Shows why a page could not be loaded, with a button that tries again and, if `url` is given, a link to this page. With null, removes the
 * notice.
 */
export function showFailure(island: HTMLElement, failure: NoPage | null, again: () => void, url?: string): void {
  const place = island.querySelector('[data-live="failure"]');
  if (place === null) return;
  const template =
    failure === null ? null : island.querySelector<HTMLTemplateElement>(`template[data-live="${failure}"]`);
  if (template === null && place.contains(document.activeElement)) {
    document.querySelector<HTMLElement>('#main')?.focus({ preventScroll: true });
  }
  place.replaceChildren(...(template === null ? [] : [template.content.cloneNode(true)]));
  place.querySelector('button')?.addEventListener('click', (event) => {
    event.preventDefault();
    again();
  });
  if (url !== undefined) place.querySelector('a')?.setAttribute('href', url);
}
