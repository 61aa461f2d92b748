/** An item of a feed in the form that mails use. All of its fields are plain text. */
import { createHash } from 'node:crypto';
import { htmlText, shortened } from './html-text.ts';

// The maximum numbers of characters.
const MAX_TITLE = 200;
const MAX_SUMMARY = 500;
const MAX_AUTHOR = 100;
const MAX_LINK = 2000;

export interface FeedItem {
  title: string;
  /** An absolute http or https URL, or empty. */
  link: string;
  summary: string;
  author: string;
  /** When the item was published, as an ISO timestamp; empty if the feed does not say. */
  date: string;
  /** The https address of the item's picture; empty without a picture, absent in items that an earlier release stored. */
  image?: string;
}

/** A parsed feed. */
export interface ReadFeed {
  title: string;
  /** The language that the feed declares, such as de or pt-BR (BCP 47); empty if the feed declares none. */
  language: string;
  /** The items in the order of the feed, without repeats. */
  items: (FeedItem & { key: string })[];
}

/** A text of a feed. With `isHtml`, its words must be extracted from the markup. */
export interface RawText {
  text: string;
  isHtml: boolean;
}

/** The fields of an item as its format has them; absent if missing. */
export interface RawItem {
  id?: string;
  link?: string;
  title?: RawText;
  summary?: RawText;
  author?: string;
  date?: string;
  image?: string;
}

/**
 * Returns the item with these fields; null if it has neither an id nor a link, by which it would be recognized again. `base` is the feed's URL.
 */
export function feedItem(raw: RawItem, base: string): ReadFeed['items'][number] | null {
  const id = raw.id?.trim() ?? '';
  // In RSS the id of an item is also its link if it has no other link.
  const link = absoluteUrl(raw.link || (/^https?:/i.test(id) ? id : ''), base);
  const identity = id || link;
  if (identity === '') return null;
  const time = new Date(raw.date?.trim() ?? '');
  const summary = plainText(raw.summary, MAX_SUMMARY);
  return {
    key: createHash('sha256').update(identity).digest('base64url').slice(0, 22),
    title: plainText(raw.title, MAX_TITLE) || shortened(summary, MAX_TITLE) || link,
    link,
    summary,
    author: shortened(raw.author ?? '', MAX_AUTHOR),
    date: Number.isNaN(time.getTime()) ? '' : time.toISOString(),
    image: absoluteUrl(raw.image ?? '', base).replace(/^http:.*/s, ''),
  };
}

/** Returns the language that a feed declares; empty if the text is not a tag of a language. */
export function feedLanguage(language: string): string {
  const tag = language.trim();
  return /^[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3}$/i.test(tag) ? tag : '';
}

/** Returns the title of a feed. */
export function feedTitle(raw: RawText | undefined): string {
  return plainText(raw, MAX_TITLE);
}

function plainText(raw: RawText | undefined, maxLength: number): string {
  if (raw === undefined) return '';
  return raw.isHtml ? htmlText(raw.text, maxLength) : shortened(raw.text, maxLength);
}

function absoluteUrl(link: string, base: string): string {
  const trimmed = link.trim();
  const url = trimmed !== '' && URL.canParse(trimmed, base) ? new URL(trimmed, base) : null;
  return url !== null && /^https?:$/.test(url.protocol) && url.href.length <= MAX_LINK ? url.href : '';
}
