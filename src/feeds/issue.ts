/** The mail that is made of items: the placeholders of a feed in its template and its subject. */
import { escapeHtml } from '../delivery/content/merge.ts';
import type { FeedItem } from './feed-item.ts';

const MAX_SUBJECT = 255;
/** What a single send may have as HTML. */
const MAX_HTML_CHARACTERS = 2 * 1024 * 1024;
/** What a part or a value counts as at least, so that there is an end to a template that repeats next to nothing many thousand times. */
const MIN_CHARACTERS = 50;

/** Begins and ends the part of a template that is repeated for each item. */
const BLOCK_START = '((items))';
const BLOCK_END = '((items_end))';
const PLACEHOLDER =
  /\(\(\s{0,8}(item_title|item_link|item_summary|item_author|item_date|feed_title|items_count)\s{0,8}(?:\|([^()|]{0,1000}))?\)\)/g;

/** What a mail is made from. */
export interface IssueSource {
  feed_title: string;
  subject: string;
  html: string;
  /** At least one, in the order in which the mail has them. */
  items: readonly FeedItem[];
  time_zone: string;
}

/** What stands for the placeholders of an item, by name. */
type Values = Readonly<Record<string, string>>;

/** How many characters may still be written. */
interface Room {
  left: number;
}
class NoRoom extends Error {}

/** The subject and the HTML of the mail; null where it would be too large. Placeholders of people are still in them. */
export function makeIssue(source: IssueSource): { subject: string; html: string } | null {
  const { feed_title, subject, html, items, time_zone } = source;
  if (items.length === 0) throw new Error('a mail of a feed has no item');
  const common = { feed_title, items_count: String(items.length) };
  const day = new Intl.DateTimeFormat('en-CA', { timeZone: time_zone, dateStyle: 'short' });
  const values = items.map((item): Values => ({ ...common, ...itemValues(item, day) }));
  // Counted while it is written: a template could make a few items as large as the memory.
  const room: Room = { left: MAX_HTML_CHARACTERS };
  try {
    const line = fill(subject, values[0], inert, room);
    const inHtml = (part: string, of: Values | undefined) => fill(part, of, (text) => inert(escapeHtml(text)), room);
    return { subject: [...line].slice(0, MAX_SUBJECT).join(''), html: inBlocks(html, values, inHtml) };
  } catch (error) {
    if (error instanceof NoRoom) return null;
    throw error;
  }
}

function itemValues({ title, link, summary, author, date }: FeedItem, day: Intl.DateTimeFormat): Values {
  return {
    item_title: title,
    // A link has no parentheses, so that nothing in it is taken for a placeholder wherever it is read.
    item_link: link.replaceAll('(', '%28').replaceAll(')', '%29'),
    item_summary: summary,
    item_author: author,
    item_date: date === '' ? '' : day.format(new Date(date)),
  };
}

/** Repeats what is between the marks; a template without them is filled with the first item. */
function inBlocks(
  html: string,
  items: readonly Values[],
  filled: (part: string, of: Values | undefined) => string,
): string {
  const [first] = items;
  const parts: string[] = [];
  let from = 0;
  for (;;) {
    const start = html.indexOf(BLOCK_START, from);
    const end = start === -1 ? -1 : html.indexOf(BLOCK_END, start);
    if (end === -1) break;
    const block = html.slice(start + BLOCK_START.length, end);
    parts.push(filled(html.slice(from, start), first), ...items.map((item) => filled(block, item)));
    from = end + BLOCK_END.length;
  }
  return [...parts, filled(html.slice(from), first)].join('');
}

function fill(text: string, values: Values | undefined, encode: (text: string) => string, room: Room): string {
  take(room, text.length);
  return text.replace(PLACEHOLDER, (_whole, name: string, fallback = '') => {
    const value = values?.[name] ?? '';
    const written = value === '' ? fallback : encode(value);
    take(room, written.length);
    return written;
  });
}

function take(room: Room, characters: number): void {
  room.left -= Math.max(characters, MIN_CHARACTERS);
  if (room.left < 0) throw new NoRoom();
}

/** A text in which nothing is taken for a placeholder, so that a feed cannot ask for the values of people: U+2060 joins without being seen. */
function inert(text: string): string {
  return text
    .replace(/\((?=\()/g, '(\u2060')
    .replace(/^\(/, '\u2060(')
    .replace(/[()]$/, (last) => `${last}\u2060`);
}
