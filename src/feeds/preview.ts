/** What would be sent of a feed, read at this moment. Nothing is stored. */
import type { Db } from '../database/open.ts';
import { SENTENCES } from '../sentences.ts';
import type { FeedItem } from './feed-item.ts';
import { countWaiting, type Feed, findFeedTemplate, newItems } from './feeds.ts';
import { issueOf, MAX_DIGEST_ITEMS, nextItems } from './issues.ts';
import { pollResult } from './poll-results.ts';

/** How many items stand for new ones in a digest. */
const SAMPLE_ITEMS = 5;

export interface FeedPreview {
  is_sample: 0 | 1;
  items: number;
  new_items: number;
  subject: string;
  html: string;
  problem: string | null;
}

/** The mail of what is new in a feed and of what waits, or else of its newest items; or why there is none. */
export async function readPreview(db: Db, feed: Feed, allowPrivate: boolean): Promise<FeedPreview> {
  const nothing = { is_sample: 0, items: 0, new_items: 0, subject: '', html: '' } as const;
  const template = findFeedTemplate(db, feed);
  if (template === null) return { ...nothing, problem: SENTENCES.feed_no_template };
  // Imported only here, because undici takes 10 MB and 50 ms of CPU to load.
  const [{ fetchFeed, NO_VERSION }, { readFeed }] = await Promise.all([
    import('./fetch-feed.ts'),
    import('./read-feed.ts'),
  ]);
  const result = await pollResult(await fetchFeed(feed.url, NO_VERSION, { allowPrivate }), readFeed);
  if (result.kind === 'failed') return { ...nothing, problem: result.reason };
  const found = result.kind === 'read' ? result.feed.items : [];
  // Before it was first read nothing is new, since what is there then is only remembered.
  const fresh = feed.is_begun === 0 ? [] : newItems(db.$client, feed.id, found);
  const waiting = nextItems(db.$client, feed).map(({ item }) => item);
  const isSample = fresh.length + waiting.length === 0;
  const isDigest = feed.rhythm !== 'item';
  const next: FeedItem[] = isSample
    ? found.slice(0, SAMPLE_ITEMS)
    : isDigest
      ? [...fresh, ...waiting]
      : [...waiting, ...fresh.toReversed()];
  const items = next.slice(0, isDigest ? MAX_DIGEST_ITEMS : 1);
  if (items.length === 0) return { ...nothing, problem: SENTENCES.feed_empty };
  const title = result.kind === 'read' ? result.feed.title : feed.feed_title;
  const issue = issueOf({ ...feed, feed_title: title }, template, items);
  if (issue === null) return { ...nothing, problem: SENTENCES.feed_mail_large };
  const new_items = fresh.length + countWaiting(db.$client, feed.id);
  return { is_sample: isSample ? 1 : 0, items: items.length, new_items, ...issue, problem: null };
}
