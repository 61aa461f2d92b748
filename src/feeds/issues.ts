/** Makes single sends from waiting items: one for each item, or a digest of all. */
import { isDeepStrictEqual } from 'node:util';
import type { Database } from 'better-sqlite3';
import { eq } from 'drizzle-orm';
import { targetProblem } from '../audience/segments/broken-rules.ts';
import { missingTarget } from '../audience/segments/segments.ts';
import { createSingleSend, type SingleSendDeps } from '../campaigns/single-sends.ts';
import type { Db } from '../database/open.ts';
import { isOwned } from '../database/ownership.ts';
import { feeds, type LanguageVersion, senders, type Target, unsubscribeGroups } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { type Sentence, sentence } from '../errors/sentences.ts';
import { BLANK_TEMPLATE } from '../templates/mail-content.ts';
import { MEBIBYTE } from '../units.ts';
import { nextDigest } from './digest-times.ts';
import type { FeedItem } from './feed-item.ts';
import { countWaiting, type Feed, findFeedTemplate, holdFeed } from './feeds.ts';
import { makeIssue } from './issue-content.ts';

/** The maximum number of items in one digest; older ones are skipped. */
export const MAX_DIGEST_ITEMS = 100;
const MAX_NAME = 255;

interface WaitingItem {
  id: number;
  item: FeedItem;
}

/** Returns the ids of the feeds for which a mail is due, without those in `resting`, a JSON array of ids. */
export function dueFeeds(client: Database, now: number, resting: string): number[] {
  return client
    .prepare<[number, string], number>(`
    SELECT id FROM feeds WHERE state = 'active' AND issue_at IS NOT NULL AND issue_at <= ? AND id NOT IN (SELECT value FROM json_each(?))
    ORDER BY issue_at LIMIT 100`)
    .pluck()
    .all(now, resting);
}

/** Returns the items of a feed's next mail, newest first: only the oldest one, or all that wait. */
export function nextItems(client: Database, { id, rhythm }: Pick<Feed, 'id' | 'rhythm'>): WaitingItem[] {
  const isDigest = rhythm !== 'item';
  return client
    .prepare<[number, number], { id: number; item: string }>(
      `SELECT id, item FROM feed_items WHERE feed_id = ? AND item IS NOT NULL ORDER BY id ${isDigest ? 'DESC' : ''} LIMIT ?`,
    )
    .all(id, isDigest ? MAX_DIGEST_ITEMS : 1)
    .map((row) => ({ id: row.id, item: JSON.parse(row.item) as FeedItem }));
}

interface DueMail {
  feed: Feed;
  items: WaitingItem[];
}

/** Returns the feed with the items of its next mail; null if no mail is due. */
function findDueMail(db: Db, feedId: number, now: Date): DueMail | null {
  const feed = db.select().from(feeds).where(eq(feeds.id, feedId)).get();
  if (feed === undefined || feed.state !== 'active' || feed.issue_at === null || feed.issue_at > now.getTime())
    return null;
  return { feed, items: nextItems(db.$client, feed) };
}

/**
 * Makes the mail that is due for a feed and marks its items as sent, in one transaction, so that after a kill no mail is lost
 * or sent twice. Holds the feed if the mail cannot be made. The text is made before the transaction, because that takes
 * long. If the feed was changed meanwhile, its mail stays due.
 */
export function makeDueIssue(deps: SingleSendDeps, feedId: number): void {
  const { db, clock } = deps;
  const now = clock.now();
  const due = findDueMail(db, feedId, now);
  if (due === null) return;
  const { feed, items } = due;
  const mail = items.length === 0 ? null : makeMail(db, due);
  inTransaction(db, () => {
    if (!isDeepStrictEqual(findDueMail(db, feedId, now), due)) return;
    const problem = mail === null ? null : audienceProblem(db, feed);
    if (problem !== null) return holdFeed(db, feed.id, problem, now);
    if (typeof mail === 'string') return holdFeed(db, feed.id, sentence(mail), now);
    if (mail !== null) {
      const { issue, languages } = mail;
      createSingleSend(deps, feed.user_id, singleSendOf(feed, issue), { userId: null, languages });
      // Items that did not fit in a digest are not sent later.
      const onlyItem = feed.rhythm === 'item' ? items[0]?.id : null;
      db.$client
        .prepare(
          'UPDATE feed_items SET item = NULL WHERE feed_id = @feed AND item IS NOT NULL AND (@onlyItem IS NULL OR id = @onlyItem)',
        )
        .run({ feed: feed.id, onlyItem });
    }
    const hasMore = feed.rhythm === 'item' && countWaiting(db.$client, feed.id) > 0;
    const issue_at = hasMore ? now.getTime() : nextDigest(feed, now.getTime());
    db.update(feeds).set({ issue_at }).where(eq(feeds.id, feed.id)).run();
  });
}

/**
 * Returns why a feed cannot send, because its sender, its group or one of its targets was deleted, or a segment among them cannot be
 * evaluated; null if it can. Otherwise its items would be used up by single sends that are held, or reach members of a deleted segment.
 */
function audienceProblem(db: Db, feed: Feed): Sentence | null {
  const { user_id: account, sender_id, unsubscribe_group_id, recipient_id, exclude_specific_recipient_id } = feed;
  if (!isOwned(db, senders, sender_id, account)) return sentence('feed_no_sender');
  if (!isOwned(db, unsubscribeGroups, unsubscribe_group_id, account)) return sentence('feed_no_topic');
  const targets = [...recipient_id, ...exclude_specific_recipient_id];
  return missingTarget(db, targets) === null ? targetProblem(db, targets) : sentence('feed_no_target');
}

/** Why the mail of a feed cannot be made: the code of a sentence. */
type Problem = 'feed_no_template' | 'feed_mail_large';

/** Returns the mail of a feed, with its versions or null if it has none; or why the mail cannot be made. */
function makeMail(
  db: Db,
  { feed, items: waiting }: DueMail,
): { issue: NonNullable<ReturnType<typeof makeIssue>>; languages: LanguageVersion[] | null } | Problem {
  const items = waiting.map(({ item }) => item);
  const html = findFeedTemplate(db, feed);
  if (html === null) return 'feed_no_template';
  const issue = issueOf(feed, html, items);
  if (issue === null) return 'feed_mail_large';
  const languages = versionsOf(db, feed, items);
  return typeof languages === 'string' ? languages : { issue, languages };
}

/** Returns the mail with these items, of which there is at least one; null if it would be too large. */
export function issueOf(
  { feed_name, feed_title, feed_language: language, subject, time_zone }: Feed,
  html: string,
  items: readonly FeedItem[],
  version: { language?: string; subject?: string; preheader?: string } = {},
): ReturnType<typeof makeIssue> {
  const common = { feed_title: feed_title || feed_name, items, time_zone, html };
  return makeIssue({ ...common, language, subject, preheader: '', ...version });
}

/** The maximum number of characters of all versions of a mail together. */
const MAX_VERSIONS_CHARACTERS = 2 * MEBIBYTE;

/** Returns the versions of the mail with these items, or null if the feed has none; or why they cannot be made. */
function versionsOf(db: Db, feed: Feed, items: readonly FeedItem[]): LanguageVersion[] | null | Problem {
  const versions: LanguageVersion[] = [];
  let characters = 0;
  for (const { language, subject, preheader, template_id } of feed.languages ?? []) {
    const html = template_id === 0 ? '' : findFeedTemplate(db, { ...feed, template_id });
    if (html === null) return 'feed_no_template';
    const issue = issueOf(feed, html, items, { language, subject, preheader });
    characters += issue?.html.length ?? 0;
    if (issue === null || characters > MAX_VERSIONS_CHARACTERS) return 'feed_mail_large';
    const { html: template_html, ...texts } = issue;
    versions.push({ language, ...texts, template_id: 0, ...(html !== '' && { template_html }) });
  }
  return versions.length === 0 ? null : versions;
}

function singleSendOf(feed: Feed, { subject, html }: { subject: string; html: string }) {
  return {
    template_id: BLANK_TEMPLATE,
    template_html: html,
    sender_id: feed.sender_id,
    unsubscribe_group_id: feed.unsubscribe_group_id,
    single_send_name: [...`${feed.feed_name}: ${subject}`].slice(0, MAX_NAME).join(''),
    subject: subject.trim() || feed.feed_name,
    preheader: '',
    recipient_id: feed.recipient_id.map(targetName),
    exclude_specific_recipient_id: feed.exclude_specific_recipient_id.map(targetName),
    schedule_type: 0 as const,
  };
}

const targetName = ({ table, id }: Target) => `${table}_${id}`;
