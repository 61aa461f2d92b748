/** The links of a mail that are followed: what they are called, and their clicks shown beside them in the mail. */
import { Parser } from 'htmlparser2';

/** A link in the HTML of `/single-send/mail`. */
export interface MarkedLink {
  /** Its number in the report. A destination that stands in the mail twice has one number. */
  number: number;
  /** What is shown for it; empty where that is a picture without text, or nothing. */
  text: string;
}

/** The same with the place in the HTML where it ends. */
interface PlacedLink extends MarkedLink {
  end: number;
}

/** What stands beside a link. */
export interface Badge {
  text: string;
  isQuiet: boolean;
}

/** What is shown of a link's text. */
const MAX_TEXT = 200;

const PLACE = 'all:initial;position:relative;display:inline-block;width:0;height:0;vertical-align:top';
const BADGE =
  'all:initial;position:absolute;z-index:9;top:-9px;left:-8px;padding:0 6px;border-radius:9px;font:600 11px/18px system-ui,sans-serif;white-space:nowrap;box-shadow:0 0 0 2px #fff';

/** Each link of a mail with the first text that is shown for it, of 200 characters at most. */
export function linkNames(html: string): MarkedLink[] {
  const texts = new Map<number, string>();
  for (const { number, text } of markedLinks(html)) if (!texts.get(number)) texts.set(number, text.slice(0, MAX_TEXT));
  return [...texts].map(([number, text]) => ({ number, text }));
}

/** The links of a mail in the order in which they stand there. */
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
 * The mail with a badge at the end of each link that has one. A badge takes no room, so that the mail looks as it did, and inherits
 * nothing from the mail.
 */
export function withBadges(html: string, badges: ReadonlyMap<number, Badge>): string {
  let from = 0;
  let shown = '';
  for (const { number, end } of markedLinks(html)) {
    const badge = badges.get(number);
    if (badge === undefined) continue;
    const colours = badge.isQuiet ? 'background:#59645f;color:#fff' : 'background:#0b6b57;color:#fff';
    shown += `${html.slice(from, end)}<span style="${PLACE}"><span style="${BADGE};${colours}">${badge.text}</span></span>`;
    from = end;
  }
  return shown + html.slice(from);
}
