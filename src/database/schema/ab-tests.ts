/** The table of A/B tests. */
import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { count } from './columns.ts';
import { type Variant, WINNER_BY } from './states.ts';

/**
 * When an A/B test is looked at, epoch milliseconds: at any time (0) once it is decided, and (1) until its mails were tried; then when its hours are over,
 * or never (null) if somebody chooses. SQL over `ab_tests`.
 */
export const AB_TEST_DUE =
  "CASE WHEN winner IS NOT NULL THEN 0 WHEN tried_at IS NULL THEN 1 WHEN winner_by <> 'hand' THEN tried_at + hours * 3600000 END";

/** An A/B test of a mailing: as it was planned at the launch, and what was decided. Until then the rest of the audience is held back. */
export const abTests = sqliteTable(
  'ab_tests',
  {
    mailing_id: integer().primaryKey(),
    share: integer().notNull(),
    winner_by: text({ enum: WINNER_BY }).notNull(),
    hours: integer().notNull(),
    /** All of them as they are sent, A first. */
    variants: text({ mode: 'json' }).$type<Variant[]>().notNull(),
    /** How many recipients were held back for the winner. */
    rest: count(),
    /** When every mail of the test group had been tried, epoch milliseconds; null before. */
    tried_at: integer(),
    /** When it was decided, epoch milliseconds. */
    decided_at: integer(),
    /** winner and no_difference: by the figures; chosen: by hand. */
    verdict: text({ enum: ['winner', 'no_difference', 'chosen'] }),
    /** The variant that the rest gets, by its number; null until it is decided. It never changes after that. */
    winner: integer(),
    /** The variants that the winner is better than, and what was counted of each when it was decided, as JSON. */
    better_than: text({ mode: 'json' }).$type<number[]>(),
    counted: text({ mode: 'json' }).$type<{ people: number; successes: number }[]>(),
    /** 1: nobody is held back any more. */
    is_released: count(),
  },
  (table) => [
    // With all that is read at each look, since the variants can have megabytes.
    index('ab_tests_due')
      .on(sql.raw(AB_TEST_DUE), table.winner, table.tried_at, table.winner_by, table.hours, table.is_released)
      .where(sql`is_released = 0`),
    // Those whose mails were tried at a time that is still to come, where the clock was ahead.
    index('ab_tests_tried')
      .on(table.tried_at, table.winner_by, table.winner, table.is_released)
      .where(sql`is_released = 0 AND winner IS NULL`),
  ],
);
