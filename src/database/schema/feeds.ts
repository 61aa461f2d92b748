/** Tables of feeds (RSS, Atom, JSON Feed) whose items an account sends as mail. */
import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { user } from './accounts.ts';
import type { Target } from './campaigns.ts';
import { count, id, line, said, stamps } from './columns.ts';

/** A mail for each item, or one with all items since the last, each day or each week. */
export const FEED_RHYTHMS = ['item', 'daily', 'weekly'] as const;
/** held: it turned up something that somebody should look at first. */
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
    /** The template of its mails; 0: the one of this program. */
    template_id: count(),
    subject: text().notNull(),
    rhythm: text({ enum: FEED_RHYTHMS }).notNull(),
    /** When a digest is made: the day of the week from Monday, 1, and HH:MM in an IANA time zone. */
    weekday: integer().notNull().default(1),
    time_of_day: text().notNull().default('08:00'),
    time_zone: text().notNull().default('UTC'),
    state: text({ enum: FEED_STATES }).notNull(),
    /** Why it is held, as a sentence; null: it is not. */
    held_reason: said(),
    /** What the feed calls itself; empty before it was read. */
    feed_title: line(),
    /** 1: it was read once, so what appears from now on is new. */
    is_begun: integer().$type<0 | 1>().notNull().default(0),
    /** What the server gave to ask with whether anything changed (RFC 9110, 13.1). */
    etag: line(),
    last_modified: line(),
    /** When it is asked next, epoch milliseconds. */
    poll_at: integer().notNull(),
    /** When it was last read, epoch milliseconds; null: never. */
    read_at: integer(),
    /** Why it could not be read the last time, as a sentence; empty: it could. */
    failure: said().notNull().default(''),
    /** How many times in a row that was so. */
    failures: count(),
    /** When the next mail is made of what waits, epoch milliseconds; null: nothing waits, and it makes no digest. */
    issue_at: integer(),
    ...stamps(),
  },
  (table) => [
    index('feeds_user').on(table.user_id, table.id),
    index('feeds_poll').on(table.poll_at).where(sql`state = 'active'`),
    index('feeds_issue').on(table.issue_at).where(sql`state = 'active' AND issue_at IS NOT NULL`),
  ],
);

/** Every item that a feed has ever had, so that none is sent twice, whatever becomes of it in the feed. */
export const feedItems = sqliteTable(
  'feed_items',
  {
    id: id(),
    feed_id: integer()
      .notNull()
      .references(() => feeds.id, { onDelete: 'cascade' }),
    /** A hash of its id, or else of its link. */
    item_key: text().notNull(),
    /** What is sent of it, as JSON, while it waits for its mail; null: it was sent or skipped. */
    item: text(),
  },
  (table) => [
    uniqueIndex('feed_items_key').on(table.feed_id, table.item_key),
    index('feed_items_waiting').on(table.feed_id, table.id).where(sql`item IS NOT NULL`),
  ],
);
