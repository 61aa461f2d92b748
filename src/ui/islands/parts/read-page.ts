/** Loads a page to take parts of it. */

/**
 * Why there is no page. failed: the network, the server or a timeout; ended: `signal` aborted it; signed-out: the user is no
 * longer signed in.
 */
export type NoPage = 'failed' | 'ended' | 'signed-out';

const SIGN_IN_PATH = '/login';
/** The timeout of a request. */
const PATIENCE_MS = 20_000;

/** Returns the page at `url`, or why there is none. */
export async function readPage(url: string, signal?: AbortSignal): Promise<Document | NoPage> {
  const limit = AbortSignal.timeout(PATIENCE_MS);
  try {
    const response = await fetch(url, {
      headers: { accept: 'text/html' },
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    });
    if (response.redirected && new URL(response.url).pathname === SIGN_IN_PATH) return 'signed-out';
    const text = await response.text();
    return response.ok ? new DOMParser().parseFromString(text, 'text/html') : 'failed';
  } catch {
    return signal?.aborted ? 'ended' : 'failed';
  }
}

/** Returns true if the user is using this element: it contains the focus or an open dialog, which replacing it would lose. */
export function isInUse(element: Element): boolean {
  return element.contains(document.activeElement) || element.querySelector(':popover-open') !== null;
}
