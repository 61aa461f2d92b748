/** Makes the mail for feed items: fills in the feed's placeholders in its template and its subject. */
import { LEFT_OUT } from '../delivery/content/left-out.ts';
import { escapeHtml } from '../delivery/content/merge.ts';
import { MEBIBYTE } from '../units.ts';
import type { FeedItem } from './feed-item.ts';

/** The maximum length of a subject and of a preview text. */
const MAX_LINE = 255;
/** The maximum length of a single send's HTML. */
const MAX_HTML_CHARACTERS = 2 * MEBIBYTE;
/** The minimum length that a part or a value counts as, so that a template cannot repeat an almost empty part without end. */
const MIN_CHARACTERS = 50;

/** The marks around the part of a template that is repeated for each item. */
const BLOCK_START = '((items))';
const BLOCK_END = '((items_end))';
const PLACEHOLDER =
  /\(\(\s{0,8}(item_title|item_link|item_summary|item_author|item_date|item_image|feed_title|items_count)\s{0,8}(?:\|([^()|]{0,1000}))?\)\)/g;

/** The sources of a mail. */
export interface IssueSource {
  feed_title: string;
  /** The language of the feed, for a mail whose HTML declares no language; empty: none. */
  language: string;
  subject: string;
  /** The preview text. */
  preheader: string;
  html: string;
  /** The items in the order of the mail; at least one. */
  items: readonly FeedItem[];
  time_zone: string;
}

/** The values of an item's placeholders, by name. */
type Values = Readonly<Record<string, string>>;

/** How many characters may still be written. */
interface Room {
  left: number;
}
class NoRoom extends Error {}

/**
 * Returns the subject, the preview text and the HTML of the mail; null if it would be too large. Placeholders of
 * contacts are still in them.
 */
export function makeIssue(source: IssueSource): { subject: string; preheader: string; html: string } | null {
  const { feed_title, language, items, time_zone } = source;
  const html = withLanguage(source.html, language);
  if (items.length === 0) throw new Error('a mail of a feed has no item');
  const common = { feed_title, items_count: String(items.length) };
  const day = new Intl.DateTimeFormat('en-CA', { timeZone: time_zone, dateStyle: 'short' });
  const valuesOfItems = items.map((item): Values => ({ ...common, ...itemValues(item, day) }));
  // Characters are counted while they are written, because a template could make a few items exceed the memory.
  const room: Room = { left: MAX_HTML_CHARACTERS };
  try {
    const fillLine = (text: string) => {
      take(room, text.length);
      return [...fill(text, valuesOfItems[0], inert, room)].slice(0, MAX_LINE).join('');
    };
    const [subject, preheader] = [fillLine(source.subject), fillLine(source.preheader)];
    const fillHtml = (part: string, values: Values | undefined) => {
      take(room, part.length);
      return fill(values?.item_image ? part : withoutItemImages(part), values, (text) => inert(escapeHtml(text)), room);
    };
    return { subject, preheader, html: fillBlocks(html, valuesOfItems, fillHtml) };
  } catch (error) {
    if (error instanceof NoRoom) return null;
    throw error;
  }
}

/** The start tag of a picture. It ends at the next angle bracket, so each character is looked at once. */
const PICTURE = /<img\s[^<>]*>/gi;
const ITEM_IMAGE = /\(\(\s{0,8}item_image\s{0,8}\)\)/;

/** Removes the image tags for `item_image`, for an item without an image. */
function withoutItemImages(html: string): string {
  return html.replace(PICTURE, (tag) => (ITEM_IMAGE.test(tag) ? '' : tag));
}

/** Returns the HTML of a mail with this language declared, unless the HTML declares a language already. */
function withLanguage(html: string, language: string): string {
  return language === '' ? html : html.replace(/<html(?![^<>]*\slang\s*=)(?=[\s>])/i, `<html lang="${language}"`);
}

function itemValues({ title, link, summary, author, date, image = '' }: FeedItem, day: Intl.DateTimeFormat): Values {
  return {
    item_title: title,
    item_link: withEscapedParentheses(link),
    item_summary: summary,
    item_author: author,
    item_date: date === '' ? '' : day.format(new Date(date)),
    item_image: withEscapedParentheses(image),
  };
}

/** Returns a link with its parentheses escaped, so that nothing in it is taken for a placeholder. */
const withEscapedParentheses = (link: string) => link.replaceAll('(', '%28').replaceAll(')', '%29');

/** Fills a template and repeats the part between the marks for each item. The text outside the marks gets the values of the first item. */
function fillBlocks(
  html: string,
  items: readonly Values[],
  fillPart: (part: string, values: Values | undefined) => string,
): string {
  const [first] = items;
  const parts: string[] = [];
  let from = 0;
  for (;;) {
    const start = html.indexOf(BLOCK_START, from);
    const end = start === -1 ? -1 : html.indexOf(BLOCK_END, start);
    if (end === -1) break;
    const block = html.slice(start + BLOCK_START.length, end);
    parts.push(fillPart(html.slice(from, start), first), ...items.map((item) => fillPart(block, item)));
    from = end + BLOCK_END.length;
  }
  return [...parts, fillPart(html.slice(from), first)].join('');
}

/** Returns a text with the values of its placeholders. */
function fill(text: string, values: Values | undefined, encode: (text: string) => string, room: Room): string {
  return text.replace(PLACEHOLDER, (_whole, name: string, fallback = '') => {
    const value = values?.[name] ?? '';
    const written = value === '' ? fallback : encode(value);
    take(room, written.length);
    return written;
  });
}

/** Counts written characters. Throws `NoRoom` if there is no room for them. */
function take(room: Room, characters: number): void {
  room.left -= Math.max(characters, MIN_CHARACTERS);
  if (room.left < 0) throw new NoRoom();
}

/**
 * Returns a text in which nothing is taken for a placeholder, so that a feed cannot obtain values of contacts. U+2060 between
 * the parentheses is invisible. Characters that mails leave out are removed first, because a placeholder could appear where they were.
 */
function inert(text: string): string {
  return text
    .replace(LEFT_OUT, '')
    .replace(/\((?=\()/g, '(\u2060')
    .replace(/^\(/, '\u2060(')
    .replace(/[()]$/, (last) => `${last}\u2060`);
}
