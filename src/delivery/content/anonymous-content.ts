/**
 * Forms of a mail whose links do not identify the recipient, each made from the compiled content. The web copy needs such a form because
 * recipients share its URL, and no other reader may act for the recipient. Accounts that measure nothing, or only totals, need it for their
 * mails.
 */
import { TRAP_LINK, trapHtml } from '../links/trap-link.ts';
import type { Content } from './compiled-content.ts';
import { escapeHtml } from './merge.ts';
import { CLICK_URL, OPEN_URL, scan, type Template } from './placeholders.ts';

/**
 * Returns the HTML template with every tracked link replaced by its destination, so that another reader's click is not counted as the recipient's.
 */
export function untracked({ html, links }: Pick<Content, 'html' | 'links'>): Template {
  return withDestinations(html, links, escapeHtml, (_number, rest) => rest);
}

/**
 * Returns the text template with every tracked link replaced by its destination. Only contents of earlier releases also track the links of
 * the text.
 */
export function untrackedText({ text, links }: Pick<Content, 'text' | 'links'>): Template {
  return withDestinations(
    text,
    links,
    (destination) => destination,
    (_number, rest) => rest,
  );
}

/**
 * Returns the HTML template as `untracked` does, but each tracked link has its number as `data-link`, so that the owner's preview can show
 * clicks next to the link.
 */
export function withMarkedLinks({ html, links }: Pick<Content, 'html' | 'links'>): Template {
  return withDestinations(html, links, escapeHtml, (number, rest) => {
    const [quote = ''] = rest;
    return quote === '"' || quote === "'" ? `${quote} data-link="${number}"${rest.slice(1)}` : rest;
  });
}

/** Returns the HTML template without the tracking pixel, for pages that are not read by a known recipient. */
export function withoutPixel(html: Template): Template {
  return html.flatMap((piece, at): Template => {
    if (typeof piece !== 'string') return isPixel(piece) ? [] : [piece];
    const start = isPixel(html[at - 1]) ? piece.indexOf('>') + 1 : 0;
    const end = isPixel(html[at + 1]) ? piece.lastIndexOf('<') : piece.length;
    return [piece.slice(start, end)];
  });
}

/** The HTML of the trap link before and after its URL. */
const [TRAP_BEGIN = '', TRAP_END = ''] = trapHtml('|').split('|');

/**
 * Replaces tracked links by their destinations and removes the trap link. `after` returns the text to put after a destination; in HTML,
 * `rest` starts with the attribute's closing quote.
 */
function withDestinations(
  template: Template,
  links: Content['links'],
  encode: (text: string) => string,
  after: (number: string, rest: string) => string,
): Template {
  return template.flatMap((piece, at): Template => {
    const before = template[at - 1];
    if (typeof piece !== 'string') return piece.name === CLICK_URL ? [] : [piece];
    if (isTrap(template, at - 1)) return [piece.slice(`${TRAP_LINK}${TRAP_END}`.length)];
    // A single piece can both follow a tracked link and precede the trap link.
    const text = isTrap(template, at + 1) ? piece.slice(0, -TRAP_BEGIN.length) : piece;
    if (before === undefined || typeof before === 'string' || before.name !== CLICK_URL) return [text];
    // In the compiled template, the number of the link follows the click URL.
    const number = /^\d+/.exec(text)?.[0] ?? '';
    const destination = scan(links[Number(number)] ?? '', 'url');
    return [
      ...destination.map((part) => (typeof part === 'string' ? encode(part) : part)),
      after(number, text.slice(number.length)),
    ];
  });
}

/** Returns true if the piece at this position is the URL of the trap link. */
function isTrap(template: Template, at: number): boolean {
  const [piece, after] = [template[at], template[at + 1]];
  return typeof piece === 'object' && piece.name === CLICK_URL && `${after}`.startsWith(`${TRAP_LINK}${TRAP_END}`);
}

/** Returns true if the content was compiled with a pixel. */
export function hasPixel({ html }: Pick<Content, 'html'>): boolean {
  return html.some(isPixel);
}

/** Returns the content without the pixel, and with every link leading directly to its destination. */
export function withoutTracking(content: Content): Content {
  return { ...content, links: [], html: withoutPixel(untracked(content)) };
}

/**
 * Returns the content with a pixel and links that are the same for all recipients. `click` is the click URL without the link number at its end.
 * Links with placeholders are not tracked, because their destination depends on the recipient.
 */
export function withSharedTracking(content: Content, urls: { open: string; click: string }): Content {
  const links = content.links.map((link, number) => (link.includes('((') ? link : `${urls.click}${number}`));
  return {
    ...content,
    html: untracked({ html: content.html, links }).map((piece) => (isPixel(piece) ? escapeHtml(urls.open) : piece)),
  };
}

function isPixel(piece: Template[number] | undefined): boolean {
  return typeof piece === 'object' && piece.name === OPEN_URL;
}
