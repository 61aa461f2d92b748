/** Finds the positions of texts, attribute values and the body in an HTML document in one pass. */
import { QuoteType, Tokenizer } from 'htmlparser2';
import type { Sentence } from '../../errors/sentences.ts';
import { conditionProblem } from './placeholders.ts';

/** A text between tags, or an attribute value without its quotes. */
export interface Region {
  readonly start: number;
  readonly end: number;
  /** The element with the attribute, or the last element opened before the text; in lower case. */
  readonly tag: string;
  /** The attribute's name in lower case; null for text. */
  readonly attribute: string | null;
  readonly quoted: boolean;
  /** The value with character references decoded. */
  readonly value: string;
  /** True if an ordinary mail client shows the text or the element, because it is neither in a comment nor in the head. */
  readonly visible: boolean;
}

export interface HtmlRegions {
  readonly regions: readonly Region[];
  /** The position at which the content of the body starts; 0 for a fragment without a body element. */
  readonly bodyStart: number;
  /** The position at which the content of the body ends; the end of the HTML for a fragment. */
  readonly bodyEnd: number;
}

/** The elements whose text no mail client shows. */
const HEAD_ONLY = new Set(['head', 'title', 'style', 'script']);

/** Finds the regions of HTML by the rules of the HTML standard. Outlook's conditional comments are included, other comments are not. */
export function findHtmlRegions(html: string): HtmlRegions {
  return walk(html, true);
}

/** Returns true if a region is the URL of a link. Outlook's VML shapes (v:*) have links like anchors. */
export function isLink({ tag, attribute }: Region): boolean {
  return attribute === 'href' && (tag === 'a' || tag === 'area' || tag.startsWith('v:'));
}

/** Decodes the character references in text without tags. */
export function decodeText(raw: string): string {
  if (!raw.includes('&')) return raw;
  return findHtmlRegions(`<a x="${raw.replaceAll('"', '&quot;')}">`).regions[0]?.value ?? raw;
}

/** Returns the first fault in the conditions of an HTML text; null if they have no fault. */
export function htmlConditionProblem(html: string): Sentence | null {
  return conditionProblem(html, { isHtml: true, decode: decodeText });
}

/** Finds the regions of HTML. `enterComments` is true to include those of Outlook's conditional comments. */
function walk(html: string, enterComments: boolean): HtmlRegions {
  const regions: Region[] = [];
  let tag = '';
  let attribute = '';
  let valueStart = 0;
  let value = '';
  let text: { start: number; end: number } | null = null;
  // The start of the body's content. It is taken from the best tag found: <body>, or else </head>, <html>, <!doctype>.
  const begin = { rank: 0, at: 0 };
  let bodyEnd = -1;
  let htmlEnd = -1;

  function mark(rank: number, at: number): void {
    if (rank > begin.rank) Object.assign(begin, { rank, at });
  }
  function closeText(): void {
    if (text) {
      const { start, end } = text;
      const visible = !HEAD_ONLY.has(tag);
      regions.push({ start, end, tag, attribute: null, quoted: false, value: html.slice(start, end), visible });
      text = null;
    }
    value = '';
  }
  function openTagEnd(end: number): void {
    if (tag === 'body') mark(4, end + 1);
    if (tag === 'html') mark(2, end + 1);
  }

  const tokenizer = new Tokenizer(
    {},
    {
      ontext(start, end) {
        text ??= { start, end };
        text.end = end;
      },
      ontextentity(_codepoint, end) {
        if (text) text.end = end;
      },
      onopentagname(start, end) {
        closeText();
        tag = html.slice(start, end).toLowerCase();
      },
      onattribname(start, end) {
        attribute = html.slice(start, end).toLowerCase();
        valueStart = valueOffset(html, end);
        value = '';
      },
      onattribdata(start, end) {
        value += html.slice(start, end);
      },
      onattribentity(codepoint) {
        value += String.fromCodePoint(codepoint);
      },
      onattribend(quote, end) {
        if (quote === QuoteType.NoValue) return;
        const quoted = quote !== QuoteType.Unquoted;
        regions.push({ start: valueStart, end: quoted ? end - 1 : end, tag, attribute, quoted, value, visible: true });
      },
      onopentagend: openTagEnd,
      onselfclosingtag: openTagEnd,
      onclosetag(start, end) {
        closeText();
        const name = html.slice(start, end).toLowerCase();
        const at = html.lastIndexOf('<', start);
        if (name === 'head') mark(3, html.indexOf('>', end) + 1);
        if (name === 'body') bodyEnd = at;
        if (name === 'html') htmlEnd = at;
        tag = '';
      },
      oncomment(start, end, offset) {
        closeText();
        const condition = /^\[if [^\]]*\]>/.exec(html.slice(start, Math.min(end, start + 200)));
        if (!condition || !enterComments) return;
        const from = start + condition[0].length;
        for (const region of walk(html.slice(from, end - offset), false).regions) {
          regions.push({ ...region, start: region.start + from, end: region.end + from, visible: false });
        }
      },
      ondeclaration(_start, end) {
        closeText();
        mark(1, end + 1);
      },
      onprocessinginstruction: closeText,
      oncdata: closeText,
      onend: closeText,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  const end = bodyEnd >= 0 ? bodyEnd : htmlEnd;
  return { regions, bodyStart: begin.at, bodyEnd: end >= begin.at ? end : html.length };
}

/** Returns the position of an attribute's value, after the equals sign and the opening quote. `nameEnd` is the end of its name. */
function valueOffset(html: string, nameEnd: number): number {
  let at = nameEnd;
  while (/[\s=]/.test(html.charAt(at))) at++;
  return at + (/["']/.test(html.charAt(at)) ? 1 : 0);
}
