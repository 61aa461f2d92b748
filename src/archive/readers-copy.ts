/** A mail of the archive as a page: nobody's values, no tracked links and no pixel. */

import { escapeHtml, mergeHtml, PREFERENCES, type Template, type Values, WEB_COPY } from '../delivery/content/merge.ts';
import { untracked, withoutPixel } from '../delivery/content/web-copy.ts';
import { MergedSize } from '../delivery/mime/merged-size.ts';
import type { FrozenContent } from '../delivery/queue/ready-mailing.ts';

/** What is put around the mail. All of it is text. */
export interface Surroundings {
  title: string;
  /** The address of this page, which is the one that search engines keep. */
  canonical: string;
  /** Where the link of the unsubscribe page leads, since nobody is unsubscribed from here. */
  preferences: string;
  /** The list of the archive, and the words of the link to it. */
  list: string;
  back: string;
}

// System colours follow the reader's scheme, whatever the mail does.
const BAR =
  'color-scheme:light dark;margin:0;padding:12px 16px;background:Canvas;color:CanvasText;font:16px/1.4 system-ui,sans-serif;text-align:left;border-bottom:1px solid GrayText';

/** The HTML of the page. Placeholders have their defaults or are empty. Throws MergedTooLarge. */
export function readersCopy({ content, sender_name, sender_address }: FrozenContent, around: Surroundings): string {
  const { title, canonical, preferences, list, back } = around;
  const template: Template = withoutPixel(untracked(content));
  const values: Values = { sender_name, sender_address, [PREFERENCES]: preferences, [WEB_COPY]: canonical };
  new MergedSize({ subject: '', html: template, text: [] }).require((name) => values[name]);
  const html = mergeHtml(template, values);
  const head = `<title>${escapeHtml(title)}</title><link rel="canonical" href="${escapeHtml(canonical)}"><meta name="viewport" content="width=device-width, initial-scale=1">`;
  const bar = `<nav style="${BAR}"><a style="color:LinkText" href="${escapeHtml(list)}">${escapeHtml(back)}</a></nav>`;
  const headAt =
    endOfTag(html, /<head[\s>]/i) ?? endOfTag(html, /<html[\s>]/i) ?? endOfTag(html, /<!doctype[\s>]/i) ?? 0;
  const bodyAt = endOfTag(html, /<body[\s>]/i) ?? endOfTag(html, /<\/head[\s>]/i) ?? headAt;
  // Both at the same place in a mail that is no whole document. Markup that is out of order gets no bar within its head.
  return (
    html.slice(0, headAt) +
    head +
    html.slice(headAt, Math.max(headAt, bodyAt)) +
    bar +
    html.slice(Math.max(headAt, bodyAt))
  );
}

/** Where the first tag that begins like this ends; undefined where there is none. Looks at each character once, whatever the markup. */
function endOfTag(html: string, begin: RegExp): number | undefined {
  const found = begin.exec(html);
  if (found === null) return undefined;
  let quote = '';
  for (let at = found.index + found[0].length - 1; at < html.length; at++) {
    const character = html.charAt(at);
    // A value in quotes may contain what ends a tag.
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '>') return at + 1;
    else if (character === '"' || character === "'") quote = character;
  }
  return undefined;
}
