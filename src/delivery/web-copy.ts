/** A mail as a web page: what was frozen for its recipients, merged for one of them (or for a look before anything is sent). */
import type { Content } from './compiled.ts';
import { CLICK_URL, escapeHtml, mergeUrl, OPEN_URL, PREFERENCES, resolve, type Slot, type Values } from './merge.ts';

export interface CopyUrls {
  preferences: string;
  /** What comes before the number of a link; null: links lead straight to where they are meant to. */
  click: string | null;
}

/** The HTML of the mail; its pixel's address is left empty, so that a look at the copy is no open. */
export function webCopy(content: Content, values: Values, urls: CopyUrls): string {
  const pieces: string[] = [];
  for (let at = 0; at < content.html.length; at++) {
    const piece = content.html[at] ?? '';
    if (typeof piece === 'string') pieces.push(piece);
    else if (piece.name === CLICK_URL && urls.click === null) {
      // The number of the link stands right behind the slot.
      const next = content.html[at + 1];
      const [number = ''] = /^\d+/.exec(typeof next === 'string' ? next : '') ?? [];
      pieces.push(escapeHtml(mergeUrl(content.links[Number(number)] ?? '', values) ?? ''));
      if (typeof next === 'string') pieces.push(next.slice(number.length));
      at++;
    } else pieces.push(escapeHtml(resolve(piece, valueIn(piece, values, urls))));
  }
  return pieces.join('');
}

function valueIn({ name }: Slot, values: Values, urls: CopyUrls): string | undefined {
  if (name === PREFERENCES) return urls.preferences;
  if (name === OPEN_URL) return '';
  return name === CLICK_URL ? (urls.click ?? '') : values[name];
}
