/** Tables of public forms, by which contacts subscribe themselves, and of the requests made with them. */

import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { PAGE_LANGUAGES } from '../../languages.ts';
import { user } from './accounts.ts';
import { addresses } from './audience.ts';
import { flag, id, integerOrZero, line, stamps } from './columns.ts';

/** A field that a form has in addition to the e-mail address: a reserved field by its name, or a custom field by its id. */
export interface FormField {
  /** The name of a reserved field, or the id of a custom one. */
  field: string | number;
  /** The label on the page; empty: the field's usual name. */
  label: string;
  required: 0 | 1;
}

/** Forms. An empty text means the default text of the form's language. */
export const forms = sqliteTable(
  'forms',
  {
    id: id(),
    user_id: user(),
    /** The internal name, for the owner. */
    name: text().notNull(),
    contact_type_id: integer().notNull(),
    sender_id: integer().notNull(),
    /** A segment that contacts are added to as well; null: no segment. */
    segment_id: integer(),
    language: text({ enum: PAGE_LANGUAGES }).notNull(),
    is_active: integer().$type<0 | 1>().notNull(),
    fields: text({ mode: 'json' }).$type<FormField[]>().notNull(),
    /** The unsubscribe groups that subscribers choose from. */
    group_ids: text({ mode: 'json' }).$type<number[]>().notNull(),
    title: text().notNull(),
    intro: line(),
    consent_text: text().notNull(),
    privacy_url: line(),
    /** 1: the form also asks for consent to record opens and clicks, if the account records them by consent. */
    asks_tracking: flag(),
    /** The text of the checkbox for this consent. */
    tracking_text: line(),
    button_text: text().notNull(),
    mail_subject: text().notNull(),
    mail_text: text().notNull(),
    sent_text: text().notNull(),
    confirmed_text: text().notNull(),
    already_text: text().notNull(),
    expired_text: text().notNull(),
    off_text: text().notNull(),
    /** The URL that subscribers are redirected to after the confirmation; empty: no redirect. */
    redirect_url: line(),
    /** How often the page was shown. */
    shown: integerOrZero(),
    /** How many mails the form sent. */
    sent: integerOrZero(),
    /** How many subscribers confirmed. */
    confirmed: integerOrZero(),
    ...stamps(),
  },
  (table) => [index('forms_user').on(table.user_id, table.id)],
);

/** Requests made with a form: a row for each accepted request, whether a mail was sent or not. */
export const formRequests = sqliteTable(
  'form_requests',
  {
    id: id(),
    user_id: user(),
    /** The form, which may be deleted. */
    form_id: integer().notNull(),
    /** unsent: the address gets no mail now and is not stored. asked: the address got the mail, whose link works until `expires_at`. */
    state: text({ enum: ['unsent', 'asked', 'confirmed'] }).notNull(),
    address_id: integer().references(() => addresses.id),
    /** 1: the address was unknown before the request. */
    is_new_address: integer().$type<0 | 1>().notNull().default(0),
    /** The address as typed; empty once it is no longer needed. */
    email: line(),
    /** The submitted values, by field as in `forms.fields`. */
    given: text({ mode: 'json' }).$type<Record<string, string>>().notNull(),
    /** The offered unsubscribe groups by id; 1: the group was chosen. */
    groups: text({ mode: 'json' }).$type<Record<string, 0 | 1>>().notNull(),
    consent_text: line(),
    /** Where the contact agreed, as the API's caller says; empty: on the form's page. */
    source: line(),
    /** The text of the consent box about opens and clicks, if it was ticked; otherwise empty. */
    tracking_text: line(),
    /** SHA-256 of the secret in the link. */
    token_hash: text().notNull(),
    /** 1: the request came with a proof of work or with an API key. */
    is_proven: integer().$type<0 | 1>().notNull(),
    /** The network that the request came from; empty: the API's caller did not say. */
    network: text().notNull(),
    /** When the request was made, epoch milliseconds. */
    asked_at: integer().notNull(),
    /** When the link stops working, epoch milliseconds. */
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

/** When a mailbox last got a mail that a stranger may have requested, across all accounts and forms. */
export const formMailboxes = sqliteTable(
  'form_mailboxes',
  {
    /** A keyed hash of the mailbox, so that the address cannot be read from it. */
    mailbox: text().primaryKey(),
    /** Epoch milliseconds. */
    mailed_at: integer().notNull(),
  },
  (table) => [index('form_mailboxes_mailed').on(table.mailed_at)],
);

/** Challenges that were solved, so that none is used twice. A row is removed once its challenge has expired. */
export const formChallenges = sqliteTable(
  'form_challenges',
  { nonce: text().primaryKey(), expires_at: integer().notNull() },
  (table) => [index('form_challenges_expiring').on(table.expires_at)],
);
