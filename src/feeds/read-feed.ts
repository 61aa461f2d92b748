/**
 * Parses RSS (0.9x, 1.0, 2.0), Atom (RFC 4287) and JSON Feed from the events of a parser, so that a feed is refused as soon as
 * it exceeds a limit. Libraries for feeds parse a whole document first. For 2 MB, the largest accepted size, an element with
 * 150,000 attributes took feedsmith 3.0.1 0.8 s of CPU; nested elements took rss-parser 3.13.0 0.6 s and feedparser 2.6.0 over
 * 40 s. Here none of these takes more than 0.03 s.
 */

import { setImmediate } from 'node:timers/promises';
import { Parser } from 'htmlparser2';
import { escapeHtml } from '../delivery/content/merge.ts';
import { parseJson } from '../json.ts';
import { feedItem, feedLanguage, feedTitle, type RawItem, type RawText, type ReadFeed } from './feed-item.ts';

/** The maximum number of items, counted from the beginning. No feed reader expects more. */
const MAX_ITEMS = 500;
const MAX_DEPTH = 60;
/** The number of characters of a field after which no further text is added to it. */
const MAX_FIELD = 20_000;
/** The maximum number of attributes of an element; real feeds have a handful. */
const MAX_ATTRIBUTES = 1000;
/** The maximum number of objects, lists and names in JSON, which is parsed in one call: this number takes some milliseconds. */
const MAX_JSON_PARTS = 20_000;
/** The characters that may come before the colon after a name in JSON (RFC 8259, 2 and 4). */
const ENDS_NAME = new Set<string | undefined>(['"', ' ', '\t', '\n', '\r']);
/** The number of characters that are parsed before other requests are answered. */
const CHUNK = 64 * 1024;

/** Parses a feed; null if the text is not a feed. `base` is the URL of the feed. */
export async function readFeed(text: string, base: string): Promise<ReadFeed | null> {
  const raw = text.trimStart().startsWith('{') ? readJson(text) : await readXml(text);
  if (raw === null) return null;
  const items = new Map<string, ReadFeed['items'][number]>();
  for (const [at, rawItem] of raw.items.slice(0, MAX_ITEMS).entries()) {
    // Other requests have a turn after every few items, because the texts of a few items can be as long as a piece of the document.
    if (at % 4 === 3) await setImmediate();
    const item = feedItem(rawItem, base);
    if (item !== null && !items.has(item.key)) items.set(item.key, item);
  }
  return { title: feedTitle(raw.title), language: feedLanguage(raw.language), items: [...items.values()] };
}

interface RawFeed {
  title: RawText | undefined;
  language: string;
  items: RawItem[];
}

/** The fields of an item by element name. */
const FIELDS: Readonly<Record<string, 'id' | 'link' | 'title' | 'summary' | 'author' | 'date'>> = {
  guid: 'id',
  id: 'id',
  link: 'link',
  title: 'title',
  description: 'summary',
  summary: 'summary',
  content: 'summary',
  'content:encoded': 'summary',
  author: 'author',
  'dc:creator': 'author',
  pubdate: 'date',
  published: 'date',
  updated: 'date',
  'dc:date': 'date',
};
/** If two elements have the same field, these take precedence. */
const PREFERRED = new Set(['description', 'summary', 'published', 'pubdate']);

/**
 * Parses XML as browsers parse HTML, because broken feeds are common. Entities of a document type are not supported, so nothing
 * expands. A document with too deep nesting is refused.
 */
async function readXml(text: string): Promise<RawFeed | null> {
  const reader = new XmlReader();
  const parser = new Parser(reader, { xmlMode: true });
  for (let from = 0; from < text.length && !reader.isRefused; from += CHUNK) {
    parser.write(text.slice(from, from + CHUNK));
    if (from > 0) await setImmediate();
    if (reader.items.length >= MAX_ITEMS) break;
  }
  if (!reader.isRefused) parser.end();
  return reader.isRefused || !reader.isFeed
    ? null
    : { title: reader.title, language: reader.language, items: reader.items };
}

/** Collects the items of a feed from the events of a parser of XML. */
class XmlReader {
  isFeed = false;
  isRefused = false;
  title: RawText | undefined;
  language = '';
  readonly items: RawItem[] = [];
  readonly #path: string[] = [];
  #item: RawItem | null = null;
  #itemDepth = 0;
  #fieldDepth = 0;
  /** The name of the element whose field is being read; empty between fields. */
  #field = '';
  #text = '';
  #isHtml = false;
  /** The number of attributes of the element that is being read. */
  #attributes = 0;
  #firstImage = '';

  onattribute(): void {
    if (++this.#attributes > MAX_ATTRIBUTES) this.isRefused = true;
  }

  onopentag(tag: string, attributes: Readonly<Record<string, string>>): void {
    const name = tag.toLowerCase();
    this.#attributes = 0;
    if (this.isRefused) return;
    const depth = this.#path.push(name);
    if (depth === 1) {
      this.isFeed = /^(rss|feed|rdf:rdf)$/.test(name);
      this.language = attributes['xml:lang'] ?? '';
    }
    if (depth > MAX_DEPTH || !this.isFeed) {
      this.isRefused = true;
      return;
    }
    if (this.#item !== null) this.#item.image ||= pictureIn(name, attributes);
    if (this.#item === null && (name === 'item' || name === 'entry')) {
      this.#item = {};
      this.#itemDepth = depth;
      // RSS 1.0 identifies its items by this attribute.
      const about = attributes['rdf:about'];
      if (about !== undefined) this.#item.id = about;
    } else if (this.#field === '' && this.#isField(name, depth)) {
      this.#field = name;
      this.#fieldDepth = depth;
      this.#text = '';
      const type = attributes.type ?? '';
      // In RSS a text is HTML; in Atom only if its type says so (RFC 4287, 3.1).
      this.#isHtml = this.#path[0] !== 'feed' || /html/i.test(type);
      if (name === 'link' && this.#item !== null) this.#addLink(attributes);
    } else if (this.#field !== '') this.#text += ' ';
  }

  ontext(text: string): void {
    if (this.#field === '' || this.#text.length > MAX_FIELD) return;
    const inner = this.#path.at(-1);
    // In Atom an author has a name, an address and more; only the name is used.
    if (this.#field === 'author' && this.#path.length > this.#fieldDepth && inner !== 'name') return;
    // Text in nested elements is plain text if the markup was written as XML.
    const isInner = this.#isHtml && this.#path.length > this.#fieldDepth;
    this.#text += isInner ? escapeHtml(text) : text;
  }

  onclosetag(): void {
    if (this.isRefused) return;
    const depth = this.#path.length;
    if (this.#field !== '' && depth === this.#fieldDepth) {
      this.#closeField();
      this.#field = '';
    }
    if (this.#item !== null && depth === this.#itemDepth) {
      this.#item.image ||= this.#firstImage;
      this.#firstImage = '';
      this.items.push(this.#item);
      this.#item = null;
    }
    this.#path.pop();
  }

  #isField(name: string, depth: number): boolean {
    if (this.#item !== null) return depth === this.#itemDepth + 1 && Object.hasOwn(FIELDS, name);
    const isOfFeed = name === 'title' || name === 'language' || name === 'dc:language';
    return isOfFeed && /^(channel|feed)$/.test(this.#path[depth - 2] ?? '');
  }

  /** A link of Atom is an attribute. Of several links, the one with the relation "alternate" counts (RFC 4287, 4.2.7.2). */
  #addLink({ href, rel = 'alternate' }: Readonly<Record<string, string>>): void {
    if (href !== undefined && rel === 'alternate' && this.#item !== null) this.#item.link ??= href;
  }

  #closeField(): void {
    const value = { text: this.#text, isHtml: this.#isHtml };
    if (this.#item === null) {
      if (this.#field === 'title') this.title ??= value;
      else this.language ||= value.text;
      return;
    }
    const field = FIELDS[this.#field];
    if (field === undefined || value.text.trim() === '') return;
    if (field === 'summary' && value.isHtml) this.#firstImage ||= imageIn(value.text);
    const isFirst = this.#item[field] === undefined || PREFERRED.has(this.#field);
    if (!isFirst) return;
    if (field === 'title' || field === 'summary') this.#item[field] = value;
    else this.#item[field] = value.text;
  }
}

/**
 * Returns the URL of the picture that an element of an item names; empty if it names none. The element is an enclosure, a link of Atom to
 * an enclosure, or an element of Media RSS.
 */
function pictureIn(name: string, attributes: Readonly<Record<string, string>>): string {
  const { url = '', href = '', rel, type = '', medium } = attributes;
  const isImage = type.startsWith('image/');
  if (name === 'media:thumbnail' || (name === 'media:content' && (isImage || medium === 'image'))) return url;
  if (name === 'enclosure' && isImage) return url;
  return name === 'link' && rel === 'enclosure' && isImage ? href : '';
}

/** Returns the URL of the first image in HTML; empty if there is no image with https. */
function imageIn(html: string): string {
  const start = html.search(/<img\s/i);
  const tag = start < 0 ? '' : html.slice(start, html.indexOf('>', start) + 1);
  return /\ssrc\s*=\s*["']?(https:[^\s"'<>]+)/i.exec(tag)?.[1]?.replaceAll('&amp;', '&') ?? '';
}

/** Parses JSON Feed 1.1. */
function readJson(text: string): RawFeed | null {
  if (hasManyParts(text)) return null;
  const feed: Record<string, unknown> = Object(parseJson(text));
  if (!textOf(feed.version).startsWith('https://jsonfeed.org/version/') || !Array.isArray(feed.items)) return null;
  return {
    title: plainText(feed.title),
    language: textOf(feed.language),
    items: feed.items.slice(0, MAX_ITEMS).map((listed: unknown) => {
      const item: Record<string, unknown> = Object(listed);
      const [author] = Array.isArray(item.authors) ? item.authors : [item.author];
      const html = textOf(item.content_html);
      const summary = textOf(item.summary) || textOf(item.content_text);
      return {
        id: typeof item.id === 'number' ? String(item.id) : textOf(item.id),
        link: textOf(item.url),
        title: plainText(item.title),
        summary: summary === '' ? { text: html, isHtml: true } : { text: summary, isHtml: false },
        author: textOf(Object(author).name),
        date: textOf(item.date_published),
        image: textOf(item.image) || textOf(item.banner_image) || imageIn(html),
      };
    }),
  };
}

/** Returns true if a JSON text may have more objects, lists and names than the maximum. Similar characters within strings count, too. */
function hasManyParts(text: string): boolean {
  let parts = 0;
  for (let at = 0; at < text.length && parts <= MAX_JSON_PARTS; at++) {
    const character = text[at];
    if (character === '{' || character === '[' || (character === ':' && ENDS_NAME.has(text[at - 1]))) parts++;
  }
  return parts > MAX_JSON_PARTS;
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');
const plainText = (value: unknown): RawText => ({ text: textOf(value), isHtml: false });
