/** Tables of sunset: an account's rule about contacts that have been inactive for long, and whom it was applied to. src/audience/sunset/ owns them. */
import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { user } from './accounts.ts';
import { address } from './audience.ts';
import { count, id } from './columns.ts';

/** What is done with inactive people: they get no more mail, are added to a segment, or are moved to a contact type. */
export const SUNSET_ACTIONS = ['stop', 'segment', 'move'] as const;

/** The rule of an account, and how far its daily look at all contacts is. */
export const sunsets = sqliteTable('sunsets', {
  user_id: user().primaryKey(),
  is_on: integer().$type<0 | 1>().notNull().default(0),
  months: integer().notNull(),
  least_mails: integer().notNull(),
  action: text({ enum: SUNSET_ACTIONS }).notNull(),
  /** Where inactive people go, by the action; null with others. */
  segment_id: integer(),
  contact_type_id: integer(),
  /** When the next look begins, epoch milliseconds. */
  next_at: count(),
  /** Of a look that is under way: inactive is who did nothing since, epoch milliseconds; null between two looks. */
  cutoff: integer(),
  /** The last contact that it has looked at. */
  after_id: count(),
  /** Everybody who was stopped up to this id of `sunset_people` is to get mail again; null when that is done. */
  lift_to: integer(),
});

/** Who was found inactive, from when to when. A row without an end is of now; with the action stop the person gets no mail. */
export const sunsetPeople = sqliteTable(
  'sunset_people',
  {
    id: id(),
    user_id: user(),
    address_id: address(),
    action: text({ enum: SUNSET_ACTIONS }).notNull(),
    /** They had done nothing since, epoch milliseconds: an act from then on ends it, also one that becomes known later. */
    cutoff: integer().notNull(),
    created_at: text().notNull(),
    lifted_at: text(),
    /** Whether they acted themselves, or somebody with access to the account ended it. */
    lifted_by: text({ enum: ['person', 'owner'] }),
  },
  (table) => [
    index('sunset_people_address').on(table.address_id, table.lifted_at),
    index('sunset_people_present').on(table.user_id, table.id).where(sql`lifted_at IS NULL`),
  ],
);

/** How many people the rule of an account was applied to on each day (UTC), and how many of those who were stopped get mail again. Triggers on `sunset_people` keep it. */
export const sunsetDays = sqliteTable(
  'sunset_days',
  {
    user_id: user(),
    /** `YYYY-MM-DD`. */
    day: text().notNull(),
    stopped: count(),
    moved: count(),
    lifted: count(),
  },
  (table) => [primaryKey({ columns: [table.user_id, table.day] })],
);
