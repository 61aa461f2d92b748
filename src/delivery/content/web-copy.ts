/** The copy of a mail in a browser. People share its URL, so nothing in it may act for the recipient of the mail. */
import type { Content } from './compiled-content.ts';
import { CLICK_URL, escapeHtml, scan, type Template } from './merge.ts';

/** The HTML template with every tracked link replaced by its destination, so that no other reader's click counts as the recipient's. */
export function untracked({ html, links }: Pick<Content, 'html' | 'links'>): Template {
  return html.flatMap((piece, at): Template => {
    const before = html[at - 1];
    if (typeof piece !== 'string') return piece.name === CLICK_URL ? [] : [piece];
    if (before === undefined || typeof before === 'string' || before.name !== CLICK_URL) return [piece];
    // The number of the link follows the address that counts clicks.
    const number = /^\d+/.exec(piece)?.[0] ?? '';
    const destination = scan(links[Number(number)] ?? '', 'url');
    return [
      ...destination.map((part) => (typeof part === 'string' ? escapeHtml(part) : part)),
      piece.slice(number.length),
    ];
  });
}
