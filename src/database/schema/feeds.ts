/** Tables of feeds (RSS, Atom, JSON Feed) whose items an account sends as mail. */
import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { user } from './accounts.ts';
import type { LanguageVersion, Target } from './campaigns.ts';
import { id, integerOrZero, line, said, stamps } from './columns.ts';

/** One mail for each item, or a daily or weekly digest of all new items. */
export const FEED_RHYTHMS = ['item', 'daily', 'weekly'] as const;
/** held: something about the feed needs the attention of a user first. */
export const FEED_STATES = ['active', 'paused', 'held'] as const;

export const feeds = sqliteTable(
  'feeds',
  {
    id: id(),
    user_id: user(),
    feed_name: text().notNull(),
    url: text().notNull(),
    sender_id: integer().notNull(),
    unsubscribe_group_id: integer().notNull(),
    recipient_id: text({ mode: 'json' }).$type<Target[]>().notNull(),
    exclude_specific_recipient_id: text({ mode: 'json' }).$type<Target[]>().notNull(),
    /** The template of the feed's mails; 0: the default template of this program. */
    template_id: integerOrZero(),
    subject: text().notNull(),
    /** The versions of the feed's mails in other languages than the account's; null: no versions. */
    languages: text({ mode: 'json' }).$type<LanguageVersion[]>(),
    rhythm: text({ enum: FEED_RHYTHMS }).notNull(),
    /** When a digest is made: the day of the week, where Monday is 1, and HH:MM in an IANA time zone. */
    weekday: integer().notNull().default(1),
    time_of_day: text().notNull().default('08:00'),
    time_zone: text().notNull().default('UTC'),
    state: text({ enum: FEED_STATES }).notNull(),
    /** Why the feed is held, in stored form; null: the feed is not held. */
    held_reason: said(),
    /** The title that the feed contains; empty before the first read. */
    feed_title: line(),
    /** The language that the feed declares, such as de; empty if it declares none. */
    feed_language: line(),
    /** 1: the feed was read once, so items that appear from now on are new. */
    is_begun: integer().$type<0 | 1>().notNull().default(0),
    /** The server's validators for conditional requests (RFC 9110, 13.1). */
    etag: line(),
    last_modified: line(),
    /** When the feed is requested next, epoch milliseconds. */
    poll_at: integer().notNull(),
    /** When the feed was last read, epoch milliseconds; null: never. */
    read_at: integer(),
    /** Why the last read failed, in stored form; empty: it succeeded. */
    failure: said().notNull().default(''),
    /** How many reads in a row failed. */
    failures: integerOrZero(),
    /** When the next mail is made of the waiting items, epoch milliseconds; null if no item waits and no digest is due. */
    issue_at: integer(),
    ...stamps(),
  },
  (table) => [
    index('feeds_user').on(table.user_id, table.id),
    index('feeds_poll').on(table.poll_at).where(sql`state = 'active'`),
    index('feeds_issue').on(table.issue_at).where(sql`state = 'active' AND issue_at IS NOT NULL`),
  ],
);

/** Every item that a feed has ever had, so that none is sent twice, even if the feed drops and repeats it. */
export const feedItems = sqliteTable(
  'feed_items',
  {
    id: id(),
    feed_id: integer()
      .notNull()
      .references(() => feeds.id, { onDelete: 'cascade' }),
    /** A hash of the item's id, or of its link if it has no id. */
    item_key: text().notNull(),
    /** The content of the item to send, as JSON, while it waits for its mail; null once it was sent or skipped. */
    item: text(),
  },
  (table) => [
    uniqueIndex('feed_items_key').on(table.feed_id, table.item_key),
    index('feed_items_waiting').on(table.feed_id, table.id).where(sql`item IS NOT NULL`),
  ],
);
