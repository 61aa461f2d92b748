/** Prepares the HTML of a mail for a frame within a page, where nothing of it acts, with the clicks of its links beside them. */
import { createHash } from 'node:crypto';
import { Parser } from 'htmlparser2';

/** How a mail is shown in a frame. */
export interface FrameLook {
  /** As programs show it that follow what it says about dark colours. */
  readonly isDark?: boolean;
  /** What stands beside its links, by their numbers. */
  readonly badges?: ReadonlyMap<number, Badge>;
}

/** A mail, and whose pictures are shown in it. */
export interface Framing {
  readonly html: string;
  readonly look: FrameLook;
  /** The ids of the pictures in it that are in the library of the account. */
  readonly library: ReadonlySet<string>;
  /** Where pictures of the library are in mails. */
  readonly origins: readonly string[];
}

/** What a frame shows. */
export interface MailFrame {
  html: string;
  /** A hash of that, as an entity tag (RFC 9110, 8.8.3). */
  etag: string;
  /** Whether it has pictures of the library. */
  hasPictures: boolean;
}

/** The frame may not leave for other sites, so a link in it would lead to an error of the browser. */
const RESTING = '<style>a, area { pointer-events: none !important; }</style>';

/** The address of a picture of the library: origin, path, id. Before there was a public address, mails got one of this machine. */
const PICTURE = /(https?:\/\/[^\s"'<>()/]+)(\/pictures\/([0-9a-f]{32})\/[^\s"'<>()\\]*)/gi;
const LOCAL = /^https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/**
 * Takes the addresses from pictures that are neither in the mail itself nor in the library of the account, so that their alternative text
 * shows instead of a broken picture, and takes links out of the reach of mouse and keyboard. The mail as a whole can be reached, so that
 * the keyboard scrolls it. Pictures of the library are loaded from where the page is, which may not be where mails say they are.
 */
export function frameMail({ html, look: { isDark = false, badges }, library, origins }: Framing): MailFrame {
  const marked = badges === undefined ? html : withBadges(html, badges);
  const coloured = isDark ? inDark(marked) : marked;
  const own = new Map<string, string>();
  for (const [address, origin = '', path = '', id = ''] of coloured.matchAll(PICTURE))
    if (library.has(id.toLowerCase()) && (origins.includes(origin) || LOCAL.test(origin))) own.set(address, path);
  const still = coloured
    .replaceAll(/(<img\b[^<>]*?\s)src=(["']?)([^"'\s<>]*)/gi, (whole, before, quote, address) =>
      own.has(address) || /^data:/i.test(address) ? whole : `${before}data-src=${quote}${address}`,
    )
    .replaceAll(PICTURE, (address) => own.get(address) ?? address)
    .replaceAll(/<(a|area)(?=\s)/gi, '<$1 tabindex="-1"')
    .replace(/<body(?=[\s>])/i, '<body tabindex="0"');
  const shown = rested(/<body[\s>]/i.test(still) ? still : withBody(still));
  const etag = `"${createHash('sha256').update(shown).digest('base64url')}"`;
  return { html: shown, etag, hasPictures: own.size > 0 };
}

/** Gives HTML without a body element the one that a browser would add, where the browser would add it. */
function withBody(html: string): string {
  for (const before of [/<\/head\s*>/i, /<html\b[^<>]*>/i, /<!doctype[^<>]*>/i]) {
    if (before.test(html)) return html.replace(before, '$&<body tabindex="0">');
  }
  return `<body tabindex="0">${html}`;
}

function rested(still: string): string {
  return /<head\b[^<>]*>/i.test(still) ? still.replace(/<head\b[^<>]*>/i, `$&${RESTING}`) : RESTING + still;
}

/** The ground and the text where the mail has no colours of its own. */
const DARK = '<style>:root { color-scheme: dark; }</style>';

/** The HTML of a mail whose rules for dark colours hold, and whose rules for light ones do not, whatever the browser prefers. */
export function inDark(html: string): string {
  const dark = html
    .replaceAll(/\(\s*prefers-color-scheme\s*:\s*dark\s*\)/gi, '(min-width: 0)')
    .replaceAll(/\(\s*prefers-color-scheme\s*:\s*light\s*\)/gi, '(max-width: 0)');
  return /<head\b[^<>]*>/i.test(dark) ? dark.replace(/<head\b[^<>]*>/i, `$&${DARK}`) : DARK + dark;
}

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
