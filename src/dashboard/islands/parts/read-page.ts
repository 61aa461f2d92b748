/** Loads a page to take parts of it. */

/** Why there is no page: the network, the server or a limit of time failed; `signal` ended it; or nobody is signed in any more. */
export type NoPage = 'failed' | 'ended' | 'signed-out';

const SIGN_IN = '/login';
/** After this time an answer is not waited for any more. */
const PATIENCE_MS = 20_000;

/** Gives the page at `url`, or why there is none. */
export async function readPage(url: string, signal?: AbortSignal): Promise<Document | NoPage> {
  const limit = AbortSignal.timeout(PATIENCE_MS);
  try {
    const response = await fetch(url, {
      headers: { accept: 'text/html' },
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    });
    if (response.redirected && new URL(response.url).pathname === SIGN_IN) return 'signed-out';
    const text = await response.text();
    return response.ok ? new DOMParser().parseFromString(text, 'text/html') : 'failed';
  } catch {
    return signal?.aborted ? 'ended' : 'failed';
  }
}

/** Whether somebody is at this element: the focus or an open dialog is in it, which would be lost if it were replaced. */
export function isInUse(element: Element): boolean {
  return element.contains(document.activeElement) || element.querySelector(':popover-open') !== null;
}
