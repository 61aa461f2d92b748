/** Tables of campaigns: senders, single sends with their attachments and A/B tests, and the public archive of sent mails. */

import { sql } from 'drizzle-orm';
import { blob, index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { accounts, type LinkRules, user } from './accounts.ts';
import { changedBy, flag, id, integerOrZero, line, said, stamps, tracking } from './columns.ts';
import { relays } from './relays.ts';
import { HELD_CODES, SINGLE_SEND_STATUS, type Variant, WINNER_BY } from './states.ts';

export const senders = sqliteTable(
  'senders',
  {
    id: id(),
    user_id: user(),
    from_name: text().notNull(),
    from_email: text().notNull(),
    reply_to_email: text().notNull(),
    country_id: integer().notNull(),
    state_id: integerOrZero(),
    city_id: integerOrZero(),
    zip_code: line(),
    company_address: text().notNull(),
    company_address2: line(),
    nickname: text().notNull(),
    is_verified: flag(),
    utr: text().notNull(),
    /** When the sender's verification mail was last queued. */
    send_at: text().notNull(),
    ...stamps(),
    deleted_at: text(),
    /** The only relay that the sender's mail uses; null: any relay. */
    relay_id: integer().references(() => relays.id, { onDelete: 'set null' }),
  },
  (table) => [
    index('senders_user').on(table.user_id),
    index('senders_relay').on(table.relay_id).where(sql`relay_id IS NOT NULL`),
  ],
);

/** A list (`contacts`) or a segment by its id. */
export interface Target {
  id: string;
  table: 'contacts' | 'segments';
}

/** An A/B test of a single send: variants of the mail that are tried on a part of its audience. */
export interface AbTest {
  /** The variants B, C and D; A is the mail itself. */
  variants: Variant[];
  /** The size of the test group as a percentage of the audience, for all variants together, A included. */
  share: number;
  winner_by: (typeof WINNER_BY)[number];
  /** The winner is chosen this many hours after the last mail of the test group was tried. */
  hours: number;
}

/** The version of a mail in a language, an ISO 639-1 code. An empty text or 0 means the same as in the mail itself. */
export interface LanguageVersion extends Omit<Variant, 'sender_name'> {
  language: string;
  /** Only for campaigns made from a feed: the content, used instead of a template. */
  template_html?: string;
}

export const singleSends = sqliteTable(
  'single_sends',
  {
    id: id(),
    user_id: user(),
    template_id: integer().notNull(),
    recipient_id: text({ mode: 'json' }).$type<Target[]>().notNull(),
    exclude_specific_recipient_id: text({ mode: 'json' }).$type<Target[]>().notNull(),
    sender_id: integer().notNull(),
    unsubscribe_group_id: integer().notNull(),
    single_send_name: text().notNull(),
    /**
     * The from address, reply address, from name and postal address of the sender, copied when the sender is chosen and again at
     * the launch. Without a sender the first two are empty and the others null.
     */
    from_sender: text().notNull(),
    reply_to: text().notNull(),
    sender_name: text(),
    sender_address: text(),
    subject: text().notNull(),
    preheader: text().notNull(),
    schedule_type: integer().notNull(),
    schedule_date: text().notNull(),
    schedule_time: text().notNull(),
    /** 1: each recipient gets the mail at the scheduled day and time in their own time zone. */
    local_time: flag(),
    /** 1: each recipient gets the mail at their best hour within 24 hours of the start. */
    best_hour: flag(),
    status: integer().notNull(),
    utr: text().notNull().unique(),
    template_json: text(),
    template_html: text(),
    sent_at: text().notNull(),
    /** When the single send starts, epoch milliseconds: the scheduled time, or the end of the time in which the user can undo the send. */
    starts_at: integer().notNull(),
    /** Why the single send was held and became a draft again: a code for programs and a stored reason for the report. */
    held_code: text({ enum: HELD_CODES }),
    held_reason: said(),
    tracking: tracking(),
    /** The percentage of recipients in the canary, 0 to 5, and how many minutes the others wait after the canary. */
    canary_percent: integerOrZero(),
    canary_minutes: integer().notNull().default(30),
    /** Null: there is no A/B test. */
    ab_test: text({ mode: 'json' }).$type<AbTest>(),
    /** The mail's versions in other languages; null: every recipient gets the mail in its own language. */
    languages: text({ mode: 'json' }).$type<LanguageVersion[]>(),
    /** The parameters that the links of the mail get; null: the account's parameters; 'off': no parameters. */
    link_rules: text({ mode: 'json' }).$type<LinkRules | 'off'>(),
    /** 1: the single send ignores the frequency caps. Automations have the same column. */
    ignores_caps: flag(),
    /**
     * When the single send was put away from the list of campaigns (not the public archive); null: it is on the list. A queued or
     * running single send is always on the list.
     */
    hidden_at: text(),
    changed_by: changedBy(),
    ...stamps(),
  },
  (table) => [
    index('single_sends_user').on(table.user_id),
    index('single_sends_due')
      .on(table.starts_at)
      .where(sql`status = ${sql.raw(`${SINGLE_SEND_STATUS.queued}`)}`),
    index('single_sends_calendar')
      .on(table.user_id, table.starts_at)
      .where(sql`status > ${sql.raw(`${SINGLE_SEND_STATUS.draft}`)}`),
    index('single_sends_running')
      .on(table.id)
      .where(sql`status = ${sql.raw(`${SINGLE_SEND_STATUS.running}`)}`),
    index('single_sends_held')
      .on(table.held_code)
      .where(sql`status = ${sql.raw(`${SINGLE_SEND_STATUS.draft}`)} AND held_code IS NOT NULL`),
  ],
);

/**
 * The attachments of single sends. After the launch a file belongs to the mailing as well: if the single send is then deleted, the
 * background removes the file once the mailing has ended and none of its mails is kept. Before the launch, files are removed with their
 * single send.
 */
export const singleSendAttachments = sqliteTable(
  'single_send_attachments',
  {
    id: id(),
    single_send_id: integer().references(() => singleSends.id, { onDelete: 'set null' }),
    mailing_id: integer(),
    file_name: text().notNull(),
    type: text().notNull(),
    /** In bytes. */
    size: integer().notNull(),
    bytes: blob({ mode: 'buffer' }).notNull(),
  },
  (table) => [
    index('single_send_attachments_send').on(table.single_send_id),
    index('single_send_attachments_mailing').on(table.mailing_id).where(sql`single_send_id IS NULL`),
  ],
);

/**
 * SQL over `ab_tests` for when an A/B test is looked at next, in epoch milliseconds: 0 (at once) if it is decided, 1 until the
 * mails of its test group were tried, then the end of its hours, or null (never) if a user chooses the winner.
 */
export const AB_TEST_DUE =
  "CASE WHEN winner IS NOT NULL THEN 0 WHEN tried_at IS NULL THEN 1 WHEN winner_by <> 'hand' THEN tried_at + hours * 3600000 END";

/** An A/B test of a mailing: as it was planned at the launch, and the decision. Until the decision the rest of the audience waits. */
export const abTests = sqliteTable(
  'ab_tests',
  {
    mailing_id: integer().primaryKey(),
    share: integer().notNull(),
    winner_by: text({ enum: WINNER_BY }).notNull(),
    hours: integer().notNull(),
    /** All variants as they are sent, A first. */
    variants: text({ mode: 'json' }).$type<Variant[]>().notNull(),
    /** How many recipients waited for the winner. */
    rest: integerOrZero(),
    /** When every mail of the test group had been tried, epoch milliseconds; null before that. */
    tried_at: integer(),
    /** When the winner was decided, epoch milliseconds. */
    decided_at: integer(),
    /** winner and no_difference: decided by the figures; chosen: by a user. */
    verdict: text({ enum: ['winner', 'no_difference', 'chosen'] }),
    /** The number of the variant that the rest of the audience gets; null until it is decided. It never changes after that. */
    winner: integer(),
    /** The variants that the winner is better than. */
    better_than: text({ mode: 'json' }).$type<number[]>(),
    /** The figures of each variant at the decision. */
    counted: text({ mode: 'json' }).$type<{ people: number; successes: number }[]>(),
    /** 1: no recipient waits for the winner any more. */
    is_released: flag(),
  },
  (table) => [
    // Covers every column that the frequent check of due tests reads, because the variants can have megabytes.
    index('ab_tests_due')
      .on(sql.raw(AB_TEST_DUE), table.winner, table.tried_at, table.winner_by, table.hours, table.is_released)
      .where(sql`is_released = 0`),
    // Finds tests whose mails were tried at a time in the future, because the clock was ahead.
    index('ab_tests_tried')
      .on(table.tried_at, table.winner_by, table.winner, table.is_released)
      .where(sql`is_released = 0 AND winner IS NULL`),
  ],
);

/**
 * The archive of an account. The row is added with the first archived mail. The public page exists while the archive has a published mail.
 */
export const archives = sqliteTable('archives', {
  user_id: integer()
    .primaryKey()
    .references(() => accounts.id),
  /** The part of the page's URL that identifies the archive: random at first, or chosen by the owner. */
  slug: text().notNull().unique(),
  /** The title of the page; empty: the default text. */
  title: line(),
  ...stamps(),
});

/** The single sends in the archive of their account. A deleted single send is removed from the archive. */
export const archivedMails = sqliteTable(
  'archived_mails',
  {
    id: id(),
    user_id: user(),
    single_send_id: integer()
      .notNull()
      .unique()
      .references(() => singleSends.id, { onDelete: 'cascade' }),
    /** The random part of the public URL that identifies the mail. */
    token: text().notNull().unique(),
    /** The subject for readers, without personal values; empty until the mail is published. */
    title: line(),
    /** When the mail was published, which happens once it was sent to the last recipient; null before that. */
    published_at: text(),
    created_at: text().notNull(),
  },
  (table) => [
    index('archived_mails_published')
      .on(table.user_id, table.published_at, table.id)
      .where(sql`published_at IS NOT NULL`),
    index('archived_mails_user').on(table.user_id),
  ],
);
