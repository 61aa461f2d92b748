/** Prepares the HTML of a mail for the iframe that shows it. */
import { createHash } from 'node:crypto';
import { type Badge, withBadges } from './link-badges.ts';

/** How a mail is displayed in the iframe. */
export interface FrameLook {
  /** True if the mail is displayed as mail clients in dark mode display it. */
  readonly isDark?: boolean;
  /** The badges next to the mail's links, by link number. */
  readonly badges?: ReadonlyMap<number, Badge>;
  /**
   * Which images are loaded besides those embedded in the mail. `own`, the default: images of the library. `all`: images of other sites,
   * too. `counted`: also the open pixel, as in a mail client.
   */
  readonly images?: 'own' | 'all' | 'counted';
  /** True if the links work, each in a new tab. */
  readonly hasLinks?: boolean;
}

/** A mail, and the images that may be displayed in it. */
export interface FrameInput {
  readonly html: string;
  readonly look: FrameLook;
  /** The ids of the mail's images that are in the account's library. */
  readonly library: ReadonlySet<string>;
  /** The origins that image URLs of the library have in mails. */
  readonly origins: readonly string[];
}

/** The document in the iframe. */
export interface MailFrame {
  html: string;
  /** A hash of the HTML, as an entity tag (RFC 9110, 8.8.3). */
  etag: string;
  /** True if the document contains images of the library. */
  hasPictures: boolean;
}

/**
 * The style that disables links. The iframe may not navigate to other sites, so a click on a link that opens no tab would only show a
 * browser error.
 */
const DISABLED_LINKS =
  '<style>a:not([data-leads]), area:not([data-leads]) { pointer-events: none !important; }</style>';
/**
 * The attributes that make a link active. They are added before the link's own attributes; if an attribute occurs twice, browsers use the
 * first.
 */
const ACTIVE_ATTRIBUTES = 'data-leads target="_blank" rel="noopener noreferrer"';
/** Matches the start tag of a link. */
const LINK = /<(a|area)(?=\s)([^<>]*)/gi;
/** Matches the URL in the start tag of a link, with what precedes it. */
const WEB_LINK = /(\shref=["']?)(https?:\/\/[^\s"'<>]+)/i;
/** Matches the URL of the open pixel. */
const PIXEL = /^https?:\/\/[^/]+\/o\//i;
/** Matches a URL that this service may have put into a mail: the origin, and the path to one of its pages for recipients. */
const FOR_RECIPIENTS = /^(https?:\/\/[^/?#]+)(\/(?:[ocuwf]|verify)\/.*)$/i;

/** Matches the URL of an image in the library: origin, path, id. */
const PICTURE = /(https?:\/\/[^\s"'<>()/]+)(\/pictures\/([0-9a-f]{32})\/[^\s"'<>()\\]*)/gi;
/** Matches the origin that mails have while no public URL is set. */
const LOCAL = /^https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/**
 * Prepares a mail for an iframe. Removes the URLs of images that are not to be loaded, so that the alternative text appears instead of a
 * broken image, and disables links that are not to lead anywhere for mouse and keyboard. The mail itself stays focusable, so that the
 * keyboard scrolls it. Images and pages of this service are loaded from the origin of the page with the iframe, which may differ from the
 * origin in the mail.
 */
export function frameMail({ html, look, library, origins }: FrameInput): MailFrame {
  const { isDark = false, badges, images = 'own', hasLinks = false } = look;
  const marked = badges === undefined ? html : withBadges(html, badges);
  const coloured = isDark ? inDark(marked) : marked;
  const own = new Map<string, string>();
  for (const [address, origin = '', path = '', id = ''] of coloured.matchAll(PICTURE))
    if (library.has(id.toLowerCase()) && isOurs(origin, origins)) own.set(address, path);
  const isLoaded = (address: string) =>
    own.has(address) ||
    /^data:/i.test(address) ||
    (images !== 'own' && /^https?:/i.test(address) && (images === 'counted' || !PIXEL.test(address)));
  const framed = coloured
    .replaceAll(/(<img\b[^<>]*?\s)src=(["']?)([^"'\s<>]*)/gi, (_tag, before, quote, address) =>
      isLoaded(address)
        ? `${before}src=${quote}${own.get(address) ?? pathHere(address, origins)}`
        : `${before}data-src=${quote}${address}`,
    )
    .replaceAll(PICTURE, (address) => own.get(address) ?? address)
    .replaceAll(LINK, (_tag, name: string, attributes: string) =>
      hasLinks && WEB_LINK.test(attributes)
        ? `<${name} ${ACTIVE_ATTRIBUTES}${attributes.replace(WEB_LINK, (_link, before, address) => before + pathHere(address, origins))}`
        : `<${name} tabindex="-1"${attributes}`,
    )
    .replace(/<body(?=[\s>])/i, '<body tabindex="0"');
  const shown = withStyle(/<body[\s>]/i.test(framed) ? framed : withBody(framed), DISABLED_LINKS);
  const etag = `"${createHash('sha256').update(shown).digest('base64url')}"`;
  return { html: shown, etag, hasPictures: own.size > 0 };
}

/** Returns true if an origin is one of this service. */
function isOurs(origin: string, origins: readonly string[]): boolean {
  return origins.includes(origin) || LOCAL.test(origin);
}

/** Returns the path of a page for recipients, by which the dashboard reaches the page. Returns any other URL unchanged. */
export function pathHere(url: string, origins: readonly string[]): string {
  const [, origin = '', path = ''] = FOR_RECIPIENTS.exec(url) ?? [];
  return isOurs(origin, origins) ? path : url;
}

/** Adds the body element to HTML without one, where a browser would add it. */
function withBody(html: string): string {
  for (const before of [/<\/head\s*>/i, /<html\b[^<>]*>/i, /<!doctype[^<>]*>/i]) {
    if (before.test(html)) return html.replace(before, '$&<body tabindex="0">');
  }
  return `<body tabindex="0">${html}`;
}

/** Adds a style at the start of the head, or of HTML without a head. */
function withStyle(html: string, style: string): string {
  return /<head\b[^<>]*>/i.test(html) ? html.replace(/<head\b[^<>]*>/i, `$&${style}`) : style + html;
}

/** The style that sets the background and text colours of mails that set none. */
const DARK = '<style>:root { color-scheme: dark; }</style>';

/** Returns the HTML of a mail so that its dark-mode rules always apply and its light-mode rules never, whatever the browser prefers. */
export function inDark(html: string): string {
  const dark = html
    .replaceAll(/\(\s*prefers-color-scheme\s*:\s*dark\s*\)/gi, '(min-width: 0)')
    .replaceAll(/\(\s*prefers-color-scheme\s*:\s*light\s*\)/gi, '(max-width: 0)');
  return withStyle(dark, DARK);
}
