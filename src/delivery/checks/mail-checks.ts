/** Checks a mail for what may make it hard to read: missing texts, weak contrast, size. */
import { Parser } from 'htmlparser2';
import { contrast, hexDigits } from '../content/contrast.ts';

/** The parts of a mail. `html` and `text` are null if the mail lacks that part. */
export interface MailParts {
  html: string | null;
  text: string | null;
  headers: { name: string; value: string }[];
}

/** A link in the mail and its text. `text` is empty if the link is empty or wraps an image without alternative text. */
export interface MailLink {
  url: string;
  text: string;
}

/** The result of one check. `values` are inserted into the sentence that describes the result. */
export interface Finding {
  check: 'size' | 'plainText' | 'language' | 'images' | 'links' | 'contrast' | 'unsubscribe';
  isGood: boolean;
  values: { count: number; limit: number };
}

/** Gmail clips a mail after the first 102 KiB of its HTML and puts the rest behind a link. */
const GMAIL_BYTES = 102 * 1024;
/** The minimum contrast ratio for text (WCAG 2.2, 1.4.3). */
const MIN_CONTRAST = 4.5;
/** Elements that have no content and no end tag. */
const VOID = new Set(['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'source', 'wbr']);
const INVISIBLE = new Set(['head', 'script', 'style', 'title']);

interface Open {
  colour: string | null;
  ground: string | null;
  isHidden: boolean;
}

/** Returns the links in the HTML of a mail, and the findings about its texts. */
function readHtml(html: string) {
  const links: MailLink[] = [];
  const stack: Open[] = [{ colour: null, ground: null, isHidden: false }];
  let link: MailLink | null = null;
  let hasLanguage = false;
  let bareImages = 0;
  let weakTexts = 0;
  const parser = new Parser({
    onopentag(name, attributes) {
      const above = stack.at(-1) ?? { colour: null, ground: null, isHidden: false };
      const style = attributes.style ?? '';
      const isHidden = above.isHidden || INVISIBLE.has(name) || /display\s*:\s*none/i.test(style);
      if (!VOID.has(name)) {
        stack.push({
          colour: styleColour(style, 'color') ?? above.colour,
          ground: styleColour(style, 'background(?:-color)?') ?? hexDigits(attributes.bgcolor ?? '') ?? above.ground,
          isHidden,
        });
      }
      if (name === 'html' && attributes.lang) hasLanguage = true;
      // The trap link of tracked mails is hidden and has no text.
      if (name === 'a' && attributes.href && !isHidden) {
        link = { url: attributes.href, text: attributes['aria-label'] ?? '' };
        links.push(link);
      }
      // An empty alternative text is right for decorative images and for the tracking pixel.
      if (name === 'img' && attributes.alt === undefined && !isHidden) bareImages++;
      if (name === 'img' && link !== null) link.text += attributes.alt ?? '';
    },
    ontext(text) {
      const { colour, ground, isHidden } = stack.at(-1) ?? { colour: null, ground: null, isHidden: true };
      if (text.trim() === '' || isHidden) return;
      if (link !== null) link.text += text;
      if (colour !== null && ground !== null && contrast(colour, ground) < MIN_CONTRAST) weakTexts++;
    },
    onclosetag(name) {
      if (!VOID.has(name) && stack.length > 1) stack.pop();
      if (name === 'a') link = null;
    },
  });
  parser.end(html);
  return { links: links.map(({ url, text }) => ({ url, text: text.trim() })), hasLanguage, bareImages, weakTexts };
}

/** Returns the links of a mail and one finding for each check. */
export function checkMail({ html, text, headers }: MailParts): { links: MailLink[]; findings: Finding[] } {
  const { links, hasLanguage, bareImages, weakTexts } = readHtml(html ?? '');
  const bytes = Buffer.byteLength(html ?? '');
  const silentLinks = links.filter((link) => link.text === '').length;
  const canLeave = headers.some(({ name }) => name.toLowerCase() === 'list-unsubscribe');
  const finding = (check: Finding['check'], isGood: boolean, count = 0, limit = 0) => ({
    check,
    isGood,
    values: { count, limit },
  });
  return {
    links,
    findings: [
      finding('size', bytes <= GMAIL_BYTES, bytes, GMAIL_BYTES),
      finding('unsubscribe', canLeave),
      finding('plainText', text !== null && text.trim() !== ''),
      finding('language', html === null || hasLanguage),
      finding('images', bareImages === 0, bareImages),
      finding('links', silentLinks === 0, silentLinks),
      finding('contrast', weakTexts === 0, weakTexts),
    ],
  };
}

/** The colour that a style attribute sets for a property, as six hexadecimal digits; null for any other notation. */
function styleColour(style: string, property: string): string | null {
  return hexDigits(new RegExp(`(?:^|;)\\s*${property}\\s*:\\s*([^;\\s]+)`, 'i').exec(style)?.[1] ?? '');
}
