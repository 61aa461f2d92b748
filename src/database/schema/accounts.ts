/** Tables of the installation and its accounts: who may call the API, and what the installation remembers about itself. */
import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { id, line } from './columns.ts';
import { TRACKING_MODES } from './states.ts';

/** A frequency cap: within this number of days, today included, a contact gets at most this number of campaign mails. */
export interface MailCap {
  mails: number;
  days: number;
}

/**
 * How far the search for mails that count towards frequency caps has come. It goes through mailings from the newest to the
 * oldest: when the current mailing ended ('9' if it has not), its id, and the last delivery looked at.
 */
export interface CapProgress {
  ended: string;
  mailing: number;
  delivery: number;
}

/** Sending hours: the times at which campaign mail may be sent, in the time zone of schedules. */
export interface SendWindow {
  /** Weekdays: 1 is Monday, 7 is Sunday. */
  days: number[];
  /** HH:MM. */
  opens: string;
  /** HH:MM, after `opens`; 24:00 is the end of the day. */
  closes: string;
}

/** Link parameters (UTM). An empty parameter is omitted; an empty campaign is the name of the single send. */
export interface LinkRules {
  source: string;
  medium: string;
  campaign: string;
  /** 1: utm_content is the name of the block with the link, or else the text of the link. */
  content: 0 | 1;
}

export const accounts = sqliteTable(
  'accounts',
  {
    id: id(),
    name: text().notNull(),
    created_at: text().notNull(),
    /** 1: auto-pause also holds single sends without a canary because of their results. */
    auto_hold: integer().$type<0 | 1>().notNull().default(0),
    /** What the account records about opens and clicks. */
    tracking: text({ enum: TRACKING_MODES }).notNull().default('person'),
    /** The frequency caps; null: the account has no caps. */
    mail_caps: text({ mode: 'json' }).$type<MailCap[]>(),
    /** The progress of the search for mails sent before the frequency caps were set; null when all mails are found, and without caps. */
    mail_caps_progress: text({ mode: 'json' }).$type<CapProgress>(),
    /** 1: a single send that the API queued is held if the check finds an error in its mail. */
    stops_errors: integer().$type<0 | 1>().notNull().default(0),
    /** The parameters that the links of the account's mails get; null: no parameters. */
    link_rules: text({ mode: 'json' }).$type<LinkRules>(),
    /** The language of the account's mails, and of contacts whose language is unknown: an ISO 639-1 code. */
    mail_language: text().notNull().default('en'),
    /** 1: everything needed to render a mail of its campaigns and automations again is kept for 90 days. */
    keeps_sent_mails: integer().$type<0 | 1>().notNull().default(0),
    /** The sending hours of the account's mail; null: any time. */
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

/**
 * What a key pair may do. `transactional`: send transactional mail and read the results of such mail. `read`: read everything but secrets.
 * `contacts` and `campaigns`: read and change these features. `everything`: whatever an owner may do over the API.
 */
export const SCOPES = ['transactional', 'read', 'contacts', 'campaigns', 'everything'] as const;
export type Scope = (typeof SCOPES)[number];

export const apiKeys = sqliteTable('api_keys', {
  id: id(),
  user_id: user(),
  public_key: text().notNull().unique(),
  /** The program that has the pair. Empty for pairs of the first start and of earlier releases. */
  name: line(),
  scopes: text({ mode: 'json' }).$type<Scope[]>().notNull().default([]),
  /** When the pair was last used, accurate to a minute; null: never. */
  last_used_at: text(),
  secret_hash: text().notNull(),
  created_at: text().notNull(),
  revoked_at: text(),
});

/** Values that the installation stores by name: the secrets that sign links, why sending is held, when it last ran. */
export const installation = sqliteTable('installation', { name: text().primaryKey(), value: text().notNull() });

/**
 * The work of requests that take several transactions. A row is stored before the first transaction and removed in the last
 * one, so that the next start finishes work that a kill interrupted. Only src/audience/unfinished-writes.ts changes it.
 */
export const unfinishedWrites = sqliteTable('unfinished_writes', {
  id: id(),
  kind: text({
    enum: [
      'unsubscribe',
      'resubscribe',
      'delete-contacts',
      'hold-sends',
      'delete-sends',
      'erase',
      'erase-choices',
      'erase-again',
      'empty-log',
    ],
  }).notNull(),
  /** What the request is to change, as JSON. The form depends on the kind. */
  given: text().notNull(),
});
