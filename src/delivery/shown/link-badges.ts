/** Finds the links of a mail, and puts badges next to them, such as their numbers of clicks. */
import { Parser } from 'htmlparser2';

/** A link in the HTML of `/single-send/mail`. */
export interface MarkedLink {
  /** The link's number in the report. A destination that occurs twice in the mail has one number. */
  number: number;
  /** The link's displayed text; empty for an image without alternative text, or an empty link. */
  text: string;
}

/** A marked link with the position in the HTML where it ends. */
interface PlacedLink extends MarkedLink {
  end: number;
}

/** A badge next to a link, such as its number of clicks. */
export interface Badge {
  text: string;
  /** True if the badge is grey instead of green. */
  isQuiet: boolean;
}

/** The maximum number of characters displayed of a link's text. */
const MAX_TEXT = 200;

const BADGE_ANCHOR = 'all:initial;position:relative;display:inline-block;width:0;height:0;vertical-align:top';
const BADGE =
  'all:initial;position:absolute;z-index:9;top:-9px;left:-8px;padding:0 6px;border-radius:9px;font:600 11px/18px system-ui,sans-serif;white-space:nowrap;box-shadow:0 0 0 2px #fff';

/** Returns each link of a mail with the first displayed text of the link, at most 200 characters. */
export function linkNames(html: string): MarkedLink[] {
  const texts = new Map<number, string>();
  for (const { number, text } of markedLinks(html)) if (!texts.get(number)) texts.set(number, text.slice(0, MAX_TEXT));
  return [...texts].map(([number, text]) => ({ number, text }));
}

/** Returns the links of a mail in order of appearance. */
function markedLinks(html: string): PlacedLink[] {
  const links: PlacedLink[] = [];
  let open: MarkedLink | null = null;
  const parser = new Parser({
    onopentag(name, attributes) {
      const number = attributes['data-link'];
      if (name === 'a') {
        open =
          number !== undefined && /^\d{1,6}$/.test(number)
            ? { number: Number(number), text: attributes['aria-label'] ?? '' }
            : null;
      }
      if (name === 'img' && open !== null) open.text += ` ${attributes.alt ?? ''}`;
    },
    ontext(text) {
      if (open !== null) open.text += text;
    },
    onclosetag(name, isImplied) {
      if (name !== 'a') return;
      if (open !== null && !isImplied) {
        links.push({ ...open, text: open.text.replaceAll(/\s+/g, ' ').trim(), end: parser.endIndex + 1 });
      }
      open = null;
    },
  });
  parser.end(html);
  return links;
}

/**
 * Returns the mail with a badge at the end of each link that has one. Badges take no space, so that the layout of the mail does not change,
 * and inherit no styles from the mail.
 */
export function withBadges(html: string, badges: ReadonlyMap<number, Badge>): string {
  let from = 0;
  let shown = '';
  for (const { number, end } of markedLinks(html)) {
    const badge = badges.get(number);
    if (badge === undefined) continue;
    const colours = badge.isQuiet ? 'background:#59645f;color:#fff' : 'background:#0b6b57;color:#fff';
    shown += `${html.slice(from, end)}<span style="${BADGE_ANCHOR}"><span style="${BADGE};${colours}">${badge.text}</span></span>`;
    from = end;
  }
  return shown + html.slice(from);
}
