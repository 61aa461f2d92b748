/** An item of a feed as mails have it. All of its fields are plain text. */
import { createHash } from 'node:crypto';
import { htmlText, shortened } from './html-text.ts';

const MAX_TITLE = 200;
const MAX_SUMMARY = 500;
const MAX_AUTHOR = 100;
const MAX_LINK = 2000;

export interface FeedItem {
  title: string;
  /** An absolute http or https address, or empty. */
  link: string;
  summary: string;
  author: string;
  /** When it was published, as an ISO timestamp; empty where it does not say. */
  date: string;
}

/** A feed that was read. */
export interface ReadFeed {
  title: string;
  /** In the order of the feed, each once. */
  items: (FeedItem & { key: string })[];
}

/** A text of a feed; `isHtml` where its words have to be taken out of markup. */
export interface RawText {
  text: string;
  isHtml: boolean;
}

/** What a format says about an item; absent where it says nothing. */
export interface RawItem {
  id?: string;
  link?: string;
  title?: RawText;
  summary?: RawText;
  author?: string;
  date?: string;
}

/** The item of what a format says; null for one without an id and a link, which could not be recognized again. `base` is the feed's address. */
export function feedItem(raw: RawItem, base: string): ReadFeed['items'][number] | null {
  const id = raw.id?.trim() ?? '';
  // The id of an item in RSS is its address where it has no other.
  const link = absolute(raw.link || (/^https?:/i.test(id) ? id : ''), base);
  const identity = id || link;
  if (identity === '') return null;
  const time = new Date(raw.date?.trim() ?? '');
  const summary = words(raw.summary, MAX_SUMMARY);
  return {
    key: createHash('sha256').update(identity).digest('base64url').slice(0, 22),
    title: words(raw.title, MAX_TITLE) || shortened(summary, MAX_TITLE) || link,
    link,
    summary,
    author: shortened(raw.author ?? '', MAX_AUTHOR),
    date: Number.isNaN(time.getTime()) ? '' : time.toISOString(),
  };
}

/** The name of a feed. */
export function feedTitle(raw: RawText | undefined): string {
  return words(raw, MAX_TITLE);
}

function words(raw: RawText | undefined, most: number): string {
  if (raw === undefined) return '';
  return raw.isHtml ? htmlText(raw.text, most) : shortened(raw.text, most);
}

function absolute(link: string, base: string): string {
  const given = link.trim();
  const url = given !== '' && URL.canParse(given, base) ? new URL(given, base) : null;
  return url !== null && /^https?:$/.test(url.protocol) && url.href.length <= MAX_LINK ? url.href : '';
}
