/** Tables of the domains of senders: the keys that sign their mails, and their warm-up. */

import { sql } from 'drizzle-orm';
import { integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { user } from './accounts.ts';
import { count, id } from './columns.ts';

/** DKIM keys by sender domain (ASCII form). The newest that does not wait for its record signs; receivers may still look up older ones. */
export const dkimKeys = sqliteTable(
  'dkim_keys',
  {
    id: id(),
    domain: text().notNull(),
    selector: text().notNull(),
    private_key: text().notNull(),
    /** 1: signs once its record was seen in the DNS, so that the key before it signs until then. */
    awaits_record: integer().$type<0 | 1>().notNull().default(0),
    created_at: text().notNull(),
  },
  (table) => [uniqueIndex('dkim_keys_selector').on(table.domain, table.selector)],
);

/** One plan per account and domain. Days are YYYY-MM-DD, UTC. */
export const warmUps = sqliteTable(
  'warm_ups',
  {
    id: id(),
    user_id: user(),
    /** In ASCII form. */
    domain: text().notNull(),
    starts_on: text().notNull(),
    /** Mails of the first day. */
    volume: integer().notNull(),
    /** So many percent more on each day. */
    growth: integer().notNull(),
    /** The plan is over on the day that would have so many mails. */
    until_volume: integer().notNull(),
    /** The day on which it was over. */
    ended_on: text(),
  },
  (table) => [
    uniqueIndex('warm_ups_domain').on(table.user_id, table.domain),
    // The worker asks before each claim whether there is any.
    uniqueIndex('warm_ups_on').on(table.user_id, table.domain).where(sql`ended_on IS NULL`),
  ],
);

/** What left on a day of a plan. */
export const warmUpDays = sqliteTable(
  'warm_up_days',
  {
    warm_up_id: integer()
      .notNull()
      .references(() => warmUps.id, { onDelete: 'cascade' }),
    day: text().notNull(),
    /** How many might. */
    volume: integer().notNull(),
    /** How many have left or are being handed over. */
    mails: count(),
  },
  (table) => [primaryKey({ columns: [table.warm_up_id, table.day] })],
);
