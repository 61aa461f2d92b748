/** Tables of the installation and its accounts: who may call the API, and what the installation remembers about itself. */
import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { id } from './columns.ts';
import { TRACKING_MODES } from './states.ts';

/** Within so many days, the present one included, a person gets so many mails of campaigns at most. */
export interface MailCap {
  mails: number;
  days: number;
}

/** Mailings whose mails are found for limits, the newest first: the one that it is in, when that ended ('9' if it has not), and its last delivery. */
export interface CapProgress {
  ended: string;
  mailing: number;
  delivery: number;
}

/** The times at which mail of campaigns may leave, in the zone of schedules. */
export interface SendWindow {
  /** Weekdays: 1 is Monday, 7 is Sunday. */
  days: number[];
  /** HH:MM. */
  opens: string;
  /** HH:MM, after `opens`; 24:00 is the end of the day. */
  closes: string;
}

export const accounts = sqliteTable(
  'accounts',
  {
    id: id(),
    name: text().notNull(),
    created_at: text().notNull(),
    /** 1: its single sends without a canary are held because of their results, too. */
    auto_hold: integer().$type<0 | 1>().notNull().default(0),
    /** What it learns of opens and clicks. */
    tracking: text({ enum: TRACKING_MODES }).notNull().default('person'),
    /** The limits of mails per person; null without any. */
    mail_caps: text({ mode: 'json' }).$type<MailCap[]>(),
    /** How far the mails of the time before the limits are found for them; null when they are, and without limits. */
    mail_caps_progress: text({ mode: 'json' }).$type<CapProgress>(),
    /** When its mail may leave; null at any time. */
    send_window: text({ mode: 'json' }).$type<SendWindow>(),
  },
  (table) => [
    index('accounts_send_window').on(table.id).where(sql`send_window IS NOT NULL`),
    index('accounts_mail_caps_progress').on(table.id).where(sql`mail_caps_progress IS NOT NULL`),
  ],
);

/** The column that names the account a row belongs to. */
export const user = () =>
  integer()
    .notNull()
    .references(() => accounts.id);

export const apiKeys = sqliteTable('api_keys', {
  id: id(),
  user_id: user(),
  public_key: text().notNull().unique(),
  secret_hash: text().notNull(),
  created_at: text().notNull(),
  revoked_at: text(),
});

/** What the installation remembers about itself by name: the secrets that sign links, why sending is held, when it last ran. */
export const installation = sqliteTable('installation', { name: text().primaryKey(), value: text().notNull() });

/**
 * What a request that takes several transactions is to do, stored before the first of them and removed in the last one, so that the
 * next start does what a kill left. It is changed by src/audience/unfinished-writes.ts alone.
 */
export const unfinishedWrites = sqliteTable('unfinished_writes', {
  id: id(),
  kind: text({
    enum: ['unsubscribe', 'resubscribe', 'delete-contacts', 'erase', 'erase-choices', 'erase-again', 'empty-log'],
  }).notNull(),
  /** JSON, of another form for each kind. */
  given: text().notNull(),
});
