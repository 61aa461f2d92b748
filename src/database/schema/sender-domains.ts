/** Tables of sending domains: their DKIM keys and their warm-up plans. */

import { sql } from 'drizzle-orm';
import { integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { user } from './accounts.ts';
import { id, integerOrZero } from './columns.ts';

/**
 * DKIM keys by sending domain (ASCII form). The newest key with `awaits_record` 0 signs. Older keys stay, because receivers may
 * still look them up.
 */
export const dkimKeys = sqliteTable(
  'dkim_keys',
  {
    id: id(),
    domain: text().notNull(),
    selector: text().notNull(),
    private_key: text().notNull(),
    /** 1 until the DNS record of this key has been seen. Until then the previous key signs. */
    awaits_record: integer().$type<0 | 1>().notNull().default(0),
    created_at: text().notNull(),
  },
  (table) => [uniqueIndex('dkim_keys_selector').on(table.domain, table.selector)],
);

/** Warm-up plans, one per account and domain. Days are YYYY-MM-DD, UTC. */
export const warmUps = sqliteTable(
  'warm_ups',
  {
    id: id(),
    user_id: user(),
    /** In ASCII form. */
    domain: text().notNull(),
    starts_on: text().notNull(),
    /** The number of mails on the first day. */
    volume: integer().notNull(),
    /** The increase from one day to the next, in percent. */
    growth: integer().notNull(),
    /** The plan ends on the day whose volume would reach this number of mails. */
    until_volume: integer().notNull(),
    /** The day on which the plan ended; null while it runs. */
    ended_on: text(),
  },
  (table) => [
    uniqueIndex('warm_ups_domain').on(table.user_id, table.domain),
    // Finds a running plan, which the worker looks up before each claim.
    uniqueIndex('warm_ups_on').on(table.user_id, table.domain).where(sql`ended_on IS NULL`),
  ],
);

/** The number of mails per day of a plan. */
export const warmUpDays = sqliteTable(
  'warm_up_days',
  {
    warm_up_id: integer()
      .notNull()
      .references(() => warmUps.id, { onDelete: 'cascade' }),
    day: text().notNull(),
    /** The maximum number of mails on this day. */
    volume: integer().notNull(),
    /** How many mails were sent or are being sent. */
    mails: integerOrZero(),
  },
  (table) => [primaryKey({ columns: [table.warm_up_id, table.day] })],
);
