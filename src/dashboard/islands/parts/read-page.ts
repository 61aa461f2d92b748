/** Loads a page to take parts of it. */

/** Gives the page at `url`, or null where the network failed or `signal` ended it. Whoever was signed out meanwhile gets the page for signing in as a whole. */
export async function readPage(url: string, signal?: AbortSignal): Promise<Document | null> {
  try {
    const response = await fetch(url, { headers: { accept: 'text/html' }, ...(signal && { signal }) });
    if (response.redirected) {
      location.assign(url);
      return null;
    }
    return new DOMParser().parseFromString(await response.text(), 'text/html');
  } catch {
    return null;
  }
}

/** Whether somebody is at this element: the focus or an open dialog is in it, which would be lost if it were replaced. */
export function isInUse(element: Element): boolean {
  return element.contains(document.activeElement) || element.querySelector(':popover-open') !== null;
}
