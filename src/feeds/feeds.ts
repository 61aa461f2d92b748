/** The feeds of an account: adding, changing, pausing, releasing and deleting them. Only this folder writes them. */
import type { Database } from 'better-sqlite3';
import { and, asc, eq } from 'drizzle-orm';
import { checkedTargets } from '../audience/segments/segments.ts';
import type { Db } from '../database/open.ts';
import { feeds, type LanguageVersion } from '../database/schema/index.ts';
import { conflict } from '../errors/failure.ts';
import { type Said, sentence } from '../errors/sentences.ts';
import { findTemplateCodes } from '../templates/mail-content.ts';
import { isoTimestamp } from '../time/clock.ts';
import { nextDigest, type Rhythm } from './digest-times.ts';

/** The maximum number of feeds of an account. */
const MAX_FEEDS = 20;

export type Feed = typeof feeds.$inferSelect;

/** The settings of a feed that its owner chooses, already checked. */
interface FeedInput
  extends Rhythm,
    Pick<Feed, 'feed_name' | 'url' | 'sender_id' | 'unsubscribe_group_id' | 'template_id' | 'subject'> {
  recipient_id: string[];
  exclude_specific_recipient_id: string[];
}

/** Returns the feeds of an account in the order in which they were added. */
export function feedsOf(db: Db, accountId: number): Feed[] {
  return db.select().from(feeds).where(eq(feeds.user_id, accountId)).orderBy(asc(feeds.id)).all();
}

/** Returns the account's feed with this id, or undefined. */
export function findFeed(db: Db, accountId: number, id: number): Feed | undefined {
  return db
    .select()
    .from(feeds)
    .where(and(eq(feeds.id, id), eq(feeds.user_id, accountId)))
    .get();
}

/** Adds a feed, which is read soon. Returns its id. Throws 409 if there are too many. Call inside a transaction. */
export function addFeed(db: Db, accountId: number, input: FeedInput, now: Date): number {
  if (feedsOf(db, accountId).length >= MAX_FEEDS) throw conflict(sentence('feeds_many', { count: MAX_FEEDS }));
  const stamp = isoTimestamp(now);
  return db
    .insert(feeds)
    .values({
      ...columnsOf(input),
      user_id: accountId,
      state: 'active',
      poll_at: now.getTime(),
      issue_at: nextDigest(input, now.getTime()),
      created_at: stamp,
      updated_at: stamp,
    })
    .returning({ id: feeds.id })
    .get().id;
}

/**
 * Changes a feed. If its URL changes, it begins again: the present items at the new URL are remembered and not sent. Call inside a
 * transaction.
 */
export function changeFeed(db: Db, feed: Feed, input: FeedInput, now: Date): void {
  const hasNewUrl = input.url !== feed.url;
  db.update(feeds)
    .set({
      ...columnsOf(input),
      ...(hasNewUrl && {
        is_begun: 0,
        etag: '',
        last_modified: '',
        failure: '',
        failures: 0,
        poll_at: now.getTime(),
      }),
      issue_at: nextIssueAt(db.$client, feed.id, input, now),
      updated_at: isoTimestamp(now),
    })
    .where(eq(feeds.id, feed.id))
    .run();
}

/** Stores the versions of a feed's mails in other languages. Returns the time of the change. Call inside a transaction. */
export function storeLanguages(db: Db, { id }: Feed, languages: LanguageVersion[] | null, now: Date): string {
  const updated_at = isoTimestamp(now);
  db.update(feeds).set({ languages, updated_at }).where(eq(feeds.id, id)).run();
  return updated_at;
}

/** Deletes a feed with the items that it remembers. Mails made from it stay. Call inside a transaction. */
export function removeFeed(db: Db, { id }: Feed): void {
  db.delete(feeds).where(eq(feeds.id, id)).run();
}

/** Pauses a feed, or resumes a paused one. Call inside a transaction. */
export function setActive(db: Db, feed: Feed, isActive: boolean, now: Date): void {
  if (feed.state === 'held') throw conflict(sentence('feed_is_held'));
  if (isActive) activate(db, feed, now);
  else
    db.update(feeds)
      .set({ state: 'paused', updated_at: isoTimestamp(now) })
      .where(eq(feeds.id, feed.id))
      .run();
}

/** Releases a held feed: waiting items are sent, or skipped permanently. Throws 409 if it is not held. Call inside a transaction. */
export function releaseFeed(db: Db, feed: Feed, decision: 'send' | 'skip', now: Date): void {
  if (feed.state !== 'held') throw conflict(sentence('feed_not_held'));
  if (decision === 'skip')
    db.$client.prepare('UPDATE feed_items SET item = NULL WHERE feed_id = ? AND item IS NOT NULL').run(feed.id);
  activate(db, feed, now);
}

/** Holds a feed with a reason. Call inside a transaction. */
export function holdFeed(db: Db, id: number, held_reason: Said, now: Date): void {
  db.update(feeds)
    .set({ state: 'held', held_reason, updated_at: isoTimestamp(now) })
    .where(eq(feeds.id, id))
    .run();
}

/** Returns how many items of a feed wait for a mail. */
export function countWaiting(client: Database, feedId: number): number {
  return Number(
    client.prepare('SELECT count(*) FROM feed_items WHERE feed_id = ? AND item IS NOT NULL').pluck().get(feedId),
  );
}

/** Returns the items among these that a feed does not remember. */
export function newItems<Item extends { key: string }>(
  client: Database,
  feedId: number,
  items: readonly Item[],
): Item[] {
  const known = new Set(
    client
      .prepare<[string, number], string>(
        'SELECT item_key FROM json_each(?) j CROSS JOIN feed_items i ON i.feed_id = ? AND i.item_key = j.value',
      )
      .pluck()
      .all(JSON.stringify(items.map(({ key }) => key)), feedId),
  );
  return items.filter(({ key }) => !known.has(key));
}

/** Returns the HTML, with feed placeholders, for the mails of a feed, or null if its template was deleted or is empty. */
export function findFeedTemplate(
  db: Db,
  { user_id, template_id }: Pick<Feed, 'user_id' | 'template_id'>,
): string | null {
  if (template_id === 0) return DEFAULT_TEMPLATE;
  return findTemplateCodes(db, user_id, template_id)?.html_code || null;
}

/** Returns when the next mail of a feed is due: as a digest, or at once if items wait; null if no item waits for a feed without digests. */
function nextIssueAt(client: Database, feedId: number, rhythm: Rhythm, now: Date): number | null {
  const at = now.getTime();
  return nextDigest(rhythm, at) ?? (countWaiting(client, feedId) > 0 ? at : null);
}

function activate(db: Db, feed: Feed, now: Date): void {
  db.update(feeds)
    .set({
      state: 'active',
      held_reason: null,
      issue_at: nextIssueAt(db.$client, feed.id, feed, now),
      updated_at: isoTimestamp(now),
    })
    .where(eq(feeds.id, feed.id))
    .run();
}

function columnsOf({ recipient_id, exclude_specific_recipient_id, ...columns }: FeedInput) {
  return {
    ...columns,
    recipient_id: checkedTargets(recipient_id),
    exclude_specific_recipient_id: checkedTargets(exclude_specific_recipient_id),
  };
}

const DEFAULT_TEMPLATE = `<!doctype html>
<html>
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>((feed_title))</title></head>
<body style="margin:0;padding:0;background-color:#f4f5f7">
<div style="max-width:600px;margin:0 auto;padding:24px;background-color:#ffffff;color:#1b2129;font:16px/1.5 Arial,Helvetica,sans-serif">
<p style="margin:0 0 16px;color:#55606c">((feed_title))</p>
((items))
<h2 style="margin:0 0 4px;font-size:20px;line-height:1.3"><a href="((item_link))" style="color:#0b6b57">((item_title))</a></h2>
<p style="margin:0 0 4px;color:#55606c;font-size:14px">((item_date)) ((item_author))</p>
<p style="margin:0 0 24px"><img src="((item_image))" alt="" width="552" style="display:block;width:100%;height:auto;margin:0 0 8px;border:0">((item_summary))</p>
((items_end))
</div>
</body>
</html>
`;
