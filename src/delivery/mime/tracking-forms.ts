/**
 * The forms of a mail by what is learnt of its opens and clicks. Content is compiled with a pixel and links of one person; the other
 * forms are made from that once for each mailing.
 */
import type { Content } from '../content/compiled-content.ts';
import { escapeHtml, OPEN_URL, type Template } from '../content/merge.ts';
import { untracked, withoutPixel } from '../content/web-copy.ts';

/** Whether the content was compiled with a pixel. */
export function hasPixel({ html }: Pick<Content, 'html'>): boolean {
  return html.some((piece) => typeof piece !== 'string' && piece.name === OPEN_URL);
}

/** The content without a pixel, every link leading straight to where it leads. */
export function withoutTracking(content: Content): Content {
  return { ...content, links: [], html: withoutPixel(untracked(content)) };
}

/**
 * The content with a pixel and links that are the same for everybody. `click` is the URL of a click up to the number of the link. Links
 * with placeholders are not counted, because where they lead depends on the person.
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
