/** Checks a mail for what may make it hard to read: missing texts, weak contrast, size. */
import { Parser } from 'htmlparser2';
import { contrast, hexDigits, LEGIBLE } from '../content/contrast.ts';

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
export const GMAIL_BYTES = 102 * 1024;
/** Elements that have no content and no end tag. */
const VOID = new Set(['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'source', 'wbr']);
const INVISIBLE = new Set(['head', 'script', 'style', 'title']);
/**
 * The maximum depth of nested elements. The parser takes time in proportion to the depth for each element, 43 s for 2 MB of unclosed elements.
 * Browsers nest 512 elements at most.
 */
const MAX_DEPTH = 1000;

interface OpenElement {
  /** The colour of its text as six hexadecimal digits; null if unknown. */
  colour: string | null;
  /** The colour of its background as six hexadecimal digits; null if unknown. */
  ground: string | null;
  isHidden: boolean;
}

/** Elements that can be part of a text. Any other element ends the text. */
const WITHIN_TEXT = new Set([
  'a',
  'abbr',
  'b',
  'code',
  'em',
  'font',
  'i',
  's',
  'small',
  'span',
  'strong',
  'sub',
  'sup',
  'u',
]);

/** The parts of a mail's HTML that the checks need. */
export interface MailContent {
  links: MailLink[];
  /** The visible texts with single spaces. Elements such as paragraphs and cells end one text and begin the next. */
  blocks: string[];
  /** The language that the HTML declares; empty if it declares none. */
  language: string;
  /** The number of visible images that have no `alt` attribute. */
  bareImages: number;
  /** The number of texts with too little contrast. */
  weakTexts: number;
  /** The number of visible images other than the pixel. */
  images: number;
  /** The levels of the headings in their order, 1 to 6; 0 for a heading without text. */
  headings: number[];
  /** The number of bytes before the first unsubscribe link, and before the pixel; null if the mail has no such link or pixel. */
  bytesBefore: { unsubscribe: number | null; pixel: number | null };
}

/** Matches the URL or the text of an unsubscribe link. */
const UNSUBSCRIBE_LINK =
  /\/u\/|unsubscri|opt-?out|preferences|abmeld|abbestell|d[eé]sabonn|d[eé]sinscri|darse de baja|disiscri|afmeld|uitschrijv|wypis/i;
const HEADING = /^h[1-6]$/;

/** Reads the HTML of a mail. Stops at the first element that is nested more than `MAX_DEPTH` deep. */
export function readHtml(html: string): MailContent {
  const links: (MailLink & { start: number })[] = [];
  const blocks: string[] = [];
  let block = '';
  const endBlock = () => {
    const text = block.replaceAll(/\s+/g, ' ').trim();
    if (text !== '') blocks.push(text);
    block = '';
  };
  const stack: OpenElement[] = [{ colour: null, ground: null, isHidden: false }];
  let link: (MailLink & { start: number }) | null = null;
  let heading: { level: number; text: string } | null = null;
  const headings: number[] = [];
  let images = 0;
  let unsubscribeAt = -1;
  let pixelAt = -1;
  let language = '';
  let bareImages = 0;
  let weakTexts = 0;
  const parser = new Parser({
    onopentag(name, attributes) {
      if (!WITHIN_TEXT.has(name)) endBlock();
      const parent = stack.at(-1) ?? { colour: null, ground: null, isHidden: false };
      const style = attributes.style ?? '';
      const isHidden = parent.isHidden || INVISIBLE.has(name) || /display\s*:\s*none/i.test(style);
      if (!VOID.has(name)) {
        stack.push({
          colour: styleColour(style, 'color') ?? parent.colour,
          ground: styleColour(style, 'background(?:-color)?') ?? hexDigits(attributes.bgcolor ?? '') ?? parent.ground,
          isHidden,
        });
        if (stack.length > MAX_DEPTH) parser.pause();
      }
      if (name === 'html' && attributes.lang) language = attributes.lang;
      // The trap link of tracked mails is hidden and has no text.
      if (name === 'a' && attributes.href && !isHidden) {
        link = { url: attributes.href, text: attributes['aria-label'] ?? '', start: parser.startIndex };
        links.push(link);
      }
      if (HEADING.test(name) && !isHidden) heading = { level: Number(name[1]), text: '' };
      if (name === 'img' && attributes.width === '1' && attributes.height === '1') {
        if (pixelAt < 0) pixelAt = parser.startIndex;
      } else if (name === 'img' && !isHidden) images++;
      // An empty alternative text is right for decorative images and for the tracking pixel.
      if (name === 'img' && attributes.alt === undefined && !isHidden) bareImages++;
      if (name === 'img' && link !== null) link.text += attributes.alt ?? '';
      if (name === 'img' && heading !== null) heading.text += attributes.alt ?? '';
    },
    ontext(text) {
      const { colour, ground, isHidden } = stack.at(-1) ?? { colour: null, ground: null, isHidden: true };
      if (isHidden) return;
      block += text;
      if (text.trim() === '') return;
      if (link !== null) link.text += text;
      if (heading !== null) heading.text += text;
      if (colour !== null && ground !== null && contrast(colour, ground) < LEGIBLE) weakTexts++;
    },
    onclosetag(name) {
      if (!WITHIN_TEXT.has(name)) endBlock();
      if (!VOID.has(name) && stack.length > 1) stack.pop();
      if (name === 'a' && link !== null) {
        if (unsubscribeAt < 0 && UNSUBSCRIBE_LINK.test(`${link.url} ${link.text}`)) unsubscribeAt = link.start;
        link = null;
      }
      if (heading !== null && HEADING.test(name)) {
        headings.push(heading.text.trim() === '' ? 0 : heading.level);
        heading = null;
      }
    },
  });
  parser.end(html);
  endBlock();
  const bytesBefore = (at: number) => (at < 0 ? null : Buffer.byteLength(html.slice(0, at)));
  return {
    links: links.map(({ url, text }) => ({ url, text: text.trim() })),
    blocks,
    language,
    bareImages,
    weakTexts,
    images,
    headings,
    bytesBefore: { unsubscribe: bytesBefore(unsubscribeAt), pixel: bytesBefore(pixelAt) },
  };
}

/** The content of a mail's HTML, and one finding for each check. */
export interface CheckedMail extends MailContent {
  findings: Finding[];
}

/** Checks whether Gmail shows HTML of this size without clipping it. */
export function checkSize(bytes: number): Finding & { check: 'size' } {
  return { check: 'size', isGood: bytes <= GMAIL_BYTES, values: { count: bytes, limit: GMAIL_BYTES } };
}

/** Reads the HTML of a mail and checks the mail. */
export function checkMail({ html, text, headers }: MailParts): CheckedMail {
  const content = readHtml(html ?? '');
  const { links, language, bareImages, weakTexts } = content;
  const linksWithoutText = links.filter((link) => link.text === '').length;
  const hasUnsubscribe = headers.some(({ name }) => name.toLowerCase() === 'list-unsubscribe');
  const finding = (check: Finding['check'], isGood: boolean, count = 0) => ({
    check,
    isGood,
    values: { count, limit: 0 },
  });
  return {
    ...content,
    findings: [
      checkSize(Buffer.byteLength(html ?? '')),
      finding('unsubscribe', hasUnsubscribe),
      finding('plainText', text !== null && text.trim() !== ''),
      finding('language', html === null || language !== ''),
      finding('images', bareImages === 0, bareImages),
      finding('links', linksWithoutText === 0, linksWithoutText),
      finding('contrast', weakTexts === 0, weakTexts),
    ],
  };
}

/** The colour that a style attribute sets for a property, as six hexadecimal digits; null for any other notation. */
function styleColour(style: string, property: string): string | null {
  return hexDigits(new RegExp(`(?:^|;)\\s*${property}\\s*:\\s*([^;\\s]+)`, 'i').exec(style)?.[1] ?? '');
}
