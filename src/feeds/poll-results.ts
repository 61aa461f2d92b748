/** Records the results of requesting feeds. New items wait for their mail; the items of the first read are only remembered. */
import { eq } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { feeds } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { type Said, sentence } from '../errors/sentences.ts';
import { DAY_MS, MINUTE_MS } from '../units.ts';
import type { ReadFeed } from './feed-item.ts';
import { type Feed, holdFeed, newItems } from './feeds.ts';
import type { FeedAnswer, FeedVersion } from './fetch-feed.ts';

/** The minimum time between two requests for a feed. */
export const POLL_MS = 15 * MINUTE_MS;
/** This number of new items at once is more likely a mistake of the feed, such as new ids for all items, than news. */
const MANY_ITEMS = 50;
/** This number of items without a single known one is likely a mistake, too. Fewer may be all items of a short feed. */
const MANY_UNKNOWN = 5;

/** The result of requesting a feed. */
export type PollResult =
  | { kind: 'unchanged' }
  | { kind: 'read'; feed: ReadFeed; version: FeedVersion }
  | { kind: 'failed'; reason: Said; retryAfterMs: number };

/** Returns the result of a request, with the feed that `read` parses from the answer. */
export async function pollResult(
  answer: FeedAnswer,
  read: (text: string, base: string) => Promise<ReadFeed | null>,
): Promise<PollResult> {
  if (answer.kind !== 'changed') return answer;
  const { text, url, etag, last_modified } = answer;
  const feed = await read(text, url);
  if (feed === null) return { kind: 'failed', reason: sentence('feed_no_feed'), retryAfterMs: 0 };
  return { kind: 'read', feed, version: { etag, last_modified } };
}

/** Stores the result of a request in one transaction, unless the feed was changed to another URL, deleted or stopped meanwhile. */
export function recordPoll(db: Db, requested: Pick<Feed, 'id' | 'url'>, result: PollResult, now: Date): void {
  const record = () => {
    const feed = db.select().from(feeds).where(eq(feeds.id, requested.id)).get();
    if (feed === undefined || feed.url !== requested.url || feed.state !== 'active') return;
    const change = (columns: Partial<Feed>) => db.update(feeds).set(columns).where(eq(feeds.id, feed.id)).run();
    if (result.kind === 'failed') {
      const failures = feed.failures + 1;
      // The wait is 15 minutes after the first failure, and doubles with each further one, up to a day.
      const wait = Math.min(POLL_MS * 2 ** Math.min(failures - 1, 10), DAY_MS);
      const poll_at = now.getTime() + Math.max(wait, result.retryAfterMs);
      change({ failure: result.reason, failures, poll_at });
      return;
    }
    change({ failure: '', failures: 0, read_at: now.getTime() });
    if (result.kind === 'unchanged') return;
    const { title, language, items } = result.feed;
    const unknown = addItems(db, feed, items);
    change({ ...result.version, feed_title: title, feed_language: language, is_begun: 1 });
    if (feed.is_begun === 0 || unknown === 0) return;
    if (unknown >= MANY_ITEMS) holdFeed(db, feed.id, sentence('feed_many_items', { count: unknown }), now);
    else if (unknown >= MANY_UNKNOWN && unknown === items.length)
      holdFeed(db, feed.id, sentence('feed_all_unknown', { count: unknown }), now);
    else if (feed.rhythm === 'item') change({ issue_at: now.getTime() });
  };
  inTransaction(db, record);
}

/** Remembers unknown items, in reverse order, because feeds begin with the newest. Returns the number of unknown items. */
function addItems({ $client: client }: Db, feed: Feed, items: ReadFeed['items']): number {
  const add = client.prepare('INSERT INTO feed_items (feed_id, item_key, item) VALUES (?, ?, ?)');
  const unknown = newItems(client, feed.id, items);
  for (const { key, ...item } of unknown.reverse())
    add.run(feed.id, key, feed.is_begun === 0 ? null : JSON.stringify(item));
  return unknown.length;
}
