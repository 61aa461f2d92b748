/** Tables of public forms, by which people subscribe themselves, and of what was asked for with them. */

import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { LANGUAGE_CODES } from '../../languages.ts';
import { user } from './accounts.ts';
import { addresses } from './audience.ts';
import { count, id, line, stamps } from './columns.ts';

/** What a form asks for besides the e-mail address: a reserved field by its name, or a custom field by its id. */
export interface FormField {
  /** The name of a reserved field, or the id of a custom one. */
  field: string | number;
  /** What the page calls it; empty: its usual name. */
  label: string;
  required: 0 | 1;
}

/** Forms. Where an owner gave no text, the text is the usual one of the form's language. */
export const forms = sqliteTable(
  'forms',
  {
    id: id(),
    user_id: user(),
    /** For the owner. */
    name: text().notNull(),
    contact_type_id: integer().notNull(),
    sender_id: integer().notNull(),
    /** The segment that people are added to besides; null: none. */
    segment_id: integer(),
    language: text({ enum: LANGUAGE_CODES }).notNull(),
    is_active: integer().$type<0 | 1>().notNull(),
    fields: text({ mode: 'json' }).$type<FormField[]>().notNull(),
    /** The unsubscribe groups that people choose from. */
    group_ids: text({ mode: 'json' }).$type<number[]>().notNull(),
    title: text().notNull(),
    intro: line(),
    consent_text: text().notNull(),
    privacy_url: line(),
    /** Whether it also asks if opens and clicks may be recorded, while the account records those of people who allow it; and the text of that box. */
    asks_tracking: count().$type<0 | 1>(),
    tracking_text: line(),
    button_text: text().notNull(),
    mail_subject: text().notNull(),
    mail_text: text().notNull(),
    sent_text: text().notNull(),
    confirmed_text: text().notNull(),
    already_text: text().notNull(),
    expired_text: text().notNull(),
    off_text: text().notNull(),
    /** Where people are led once they have confirmed; empty: nowhere else. */
    redirect_url: line(),
    /** How often the page was shown, how many mails it sent, and how many people confirmed. */
    shown: count(),
    sent: count(),
    confirmed: count(),
    ...stamps(),
  },
  (table) => [index('forms_user').on(table.user_id, table.id)],
);

/** What was asked for with a form: a row for each request that was taken, whether a mail went out or not. */
export const formRequests = sqliteTable(
  'form_requests',
  {
    id: id(),
    user_id: user(),
    /** Its form, which may be deleted. */
    form_id: integer().notNull(),
    /** unsent: the address gets no mail now, and is not kept; asked → confirmed, or expired by `expires_at`. */
    state: text({ enum: ['unsent', 'asked', 'confirmed'] }).notNull(),
    address_id: integer().references(() => addresses.id),
    /** Whether nobody knew the address before the request. */
    is_new_address: integer().$type<0 | 1>().notNull().default(0),
    /** As it was typed; empty once it is not needed any more. */
    email: line(),
    /** What was filled in, by field as in `forms.fields`. */
    given: text({ mode: 'json' }).$type<Record<string, string>>().notNull(),
    /** The unsubscribe groups that were offered, each with whether it was chosen. */
    groups: text({ mode: 'json' }).$type<Record<string, 0 | 1>>().notNull(),
    consent_text: line(),
    /** The text of the box about opens and clicks, if it was ticked; otherwise empty. */
    tracking_text: line(),
    /** SHA-256 of the secret in the link. */
    token_hash: text().notNull(),
    /** Whether it came with a proof of work. */
    is_proven: integer().$type<0 | 1>().notNull(),
    /** The network it came from. */
    network: text().notNull(),
    /** Epoch milliseconds. */
    asked_at: integer().notNull(),
    expires_at: integer().notNull(),
  },
  (table) => [
    uniqueIndex('form_requests_token').on(table.token_hash),
    index('form_requests_form').on(table.form_id, table.asked_at, table.is_proven, table.state),
    index('form_requests_network').on(table.network, table.asked_at, table.is_proven),
    index('form_requests_address').on(table.address_id).where(sql`address_id IS NOT NULL`),
    index('form_requests_asked').on(table.asked_at),
    index('form_requests_expiring').on(table.expires_at).where(sql`email <> ''`),
  ],
);

/** When a mailbox last got a mail that a stranger may have asked for, whichever account and form sent it. */
export const formMailboxes = sqliteTable(
  'form_mailboxes',
  {
    /** A keyed hash of the mailbox, so that nobody can read the address from it. */
    mailbox: text().primaryKey(),
    /** Epoch milliseconds. */
    mailed_at: integer().notNull(),
  },
  (table) => [index('form_mailboxes_mailed').on(table.mailed_at)],
);

/** Challenges that were solved and used, until they are too old to be used anyway. */
export const formChallenges = sqliteTable(
  'form_challenges',
  { nonce: text().primaryKey(), expires_at: integer().notNull() },
  (table) => [index('form_challenges_expiring').on(table.expires_at)],
);
