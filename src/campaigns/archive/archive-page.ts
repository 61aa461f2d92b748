/** The page of a mail in the public archive: the mail as it was sent, without tracking, below a bar with a link to the archive's list. */
import { untracked, withoutPixel } from '../../delivery/content/anonymous-content.ts';
import { escapeHtml, mergeHtml, type Values } from '../../delivery/content/merge.ts';
import { PREFERENCES, type Template, WEB_COPY } from '../../delivery/content/placeholders.ts';
import { MergedSize } from '../../delivery/mime/merged-size.ts';
import type { FrozenContent } from '../../delivery/queue/ready-mailing.ts';

/** The title, the links and the texts of the page, as plain text. */
export interface ArchiveFrame {
  title: string;
  /** The canonical URL of this page, for search engines. */
  canonical: string;
  /** The target of the mail's unsubscribe link, because nobody can unsubscribe from this page. */
  preferences: string;
  /** The URL of the archive's list. */
  list: string;
  /** The text of the link to the list. */
  back: string;
}

// System colours follow the reader's colour scheme, whatever the mail does.
const BAR =
  'color-scheme:light dark;margin:0;padding:12px 16px;background:Canvas;color:CanvasText;font:16px/1.4 system-ui,sans-serif;text-align:left;border-bottom:1px solid GrayText';

/** Returns the HTML of the page of a mail. Placeholders show their defaults, or nothing. Throws MergedTooLarge. */
export function archivePage({ content, sender_name, sender_address }: FrozenContent, frame: ArchiveFrame): string {
  const { title, canonical, preferences, list, back } = frame;
  const template: Template = withoutPixel(untracked(content));
  const values: Values = { sender_name, sender_address, [PREFERENCES]: preferences, [WEB_COPY]: canonical };
  new MergedSize({ subject: '', html: template, text: [] }).requireFits((name) => values[name]);
  const html = mergeHtml(template, values);
  const head = `<title>${escapeHtml(title)}</title><link rel="canonical" href="${escapeHtml(canonical)}"><meta name="viewport" content="width=device-width, initial-scale=1">`;
  const bar = `<nav style="${BAR}"><a style="color:LinkText" href="${escapeHtml(list)}">${escapeHtml(back)}</a></nav>`;
  const headAt =
    endOfTag(html, /<head[\s>]/i) ?? endOfTag(html, /<html[\s>]/i) ?? endOfTag(html, /<!doctype[\s>]/i) ?? 0;
  const bodyAt = endOfTag(html, /<body[\s>]/i) ?? endOfTag(html, /<\/head[\s>]/i) ?? headAt;
  // If the mail is not a whole document, head and bar are inserted at the same place. If its tags are in the wrong order, the bar
  // must still come after the head.
  const barAt = Math.max(headAt, bodyAt);
  return html.slice(0, headAt) + head + html.slice(headAt, barAt) + bar + html.slice(barAt);
}

/**
 * Returns the index after the first tag that begins with this pattern; undefined if there is no such tag. Reads each character at most once,
 * so that no markup makes it slow.
 */
function endOfTag(html: string, begin: RegExp): number | undefined {
  const match = begin.exec(html);
  if (match === null) return undefined;
  let quote = '';
  for (let at = match.index + match[0].length - 1; at < html.length; at++) {
    const character = html.charAt(at);
    // A quoted value may contain the character that ends a tag.
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '>') return at + 1;
    else if (character === '"' || character === "'") quote = character;
  }
  return undefined;
}
