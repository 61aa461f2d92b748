/** Tables of the audience of an account: addresses, contacts, segments, and who must not get mail. */
import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { user } from './accounts.ts';
import { flag, id, integerOrZero, line, said, softStamps, stamps } from './columns.ts';

/** One row per account and normalized e-mail address. Rows are never removed, because links in sent mails refer to them. */
export const addresses = sqliteTable(
  'addresses',
  {
    id: id(),
    user_id: user(),
    normalized_email: text().notNull(),
    /** A `TRACKING_CHOICE`. */
    tracking_choice: integerOrZero(),
  },
  (table) => [
    uniqueIndex('addresses_person').on(table.user_id, table.normalized_email),
    // Finds the few addresses with a choice, which sender nodes must know.
    index('addresses_choices').on(table.id).where(sql`tracking_choice <> 0`),
  ],
);

/** The column that refers to an address. */
export const address = () =>
  integer()
    .notNull()
    .references(() => addresses.id);

export const contactTypes = sqliteTable(
  'contact_types',
  {
    id: id(),
    user_id: user(),
    name: text().notNull(),
    /**
     * The number of contacts of the type that are not deleted. Triggers on `contacts` (drizzle/triggers.sql) update it when a
     * contact is added, deleted or moved to another type, because counting a million contacts for each list would take too long.
     */
    contacts_count: integerOrZero(),
    ...softStamps(),
  },
  (table) => [index('contact_types_user').on(table.user_id)],
);

export const customFields = sqliteTable(
  'custom_fields',
  { id: id(), user_id: user(), field_name: text().notNull(), field_type: text().notNull(), ...stamps() },
  (table) => [uniqueIndex('custom_fields_name').on(table.user_id, sql`lower(${table.field_name})`)],
);

export const contacts = sqliteTable(
  'contacts',
  {
    id: id(),
    user_id: user(),
    contact_type_id: integer()
      .notNull()
      .references(() => contactTypes.id),
    address_id: address(),
    first_name: line(),
    last_name: line(),
    email: text().notNull(),
    alt_email: text(),
    country_id: integer(),
    state: line(),
    city: line(),
    address_line1: line(),
    address_line2: line(),
    state_province_region: line(),
    postal_code: line(),
    /** An ISO 639-1 code; empty: unknown. */
    language: line(),
    /** Custom values as JSON by custom field id. Once a field is deleted, its values are no longer read. */
    custom_values: text({ mode: 'json' }).$type<Record<string, string>>(),
    ...softStamps(),
  },
  (table) => [
    uniqueIndex('contacts_person').on(table.contact_type_id, table.address_id).where(sql`deleted_at IS NULL`),
    index('contacts_user').on(table.user_id, table.id).where(sql`deleted_at IS NULL`),
    index('contacts_address').on(table.address_id),
    index('contacts_deleted').on(table.user_id, table.deleted_at).where(sql`deleted_at IS NOT NULL`),
    index('contacts_type').on(table.contact_type_id, table.id).where(sql`deleted_at IS NULL`),
  ],
);

/**
 * The custom fields whose dates are in `contact_dates`, because such a date is the trigger of an automation. `filled_to`: the last contact
 * whose existing dates have been added; null once the dates of all contacts have been added.
 */
export const datedFields = sqliteTable(
  'dated_fields',
  { field_id: integer().primaryKey(), user_id: user(), filled_to: integer() },
  (table) => [index('dated_fields_user').on(table.user_id)],
);

/**
 * Contacts whose time zone may have changed since the dates of their account were last looked at. There is one row for each field of
 * `dated_fields` whose date did not change: the hour at which an automation starts on that date may have passed in the new zone. A trigger on
 * `contacts` (drizzle/triggers.sql) adds the rows.
 */
export const rezonedContacts = sqliteTable(
  'rezoned_contacts',
  { contact_id: integer().notNull(), user_id: user(), field_id: integer().notNull() },
  (table) => [primaryKey({ columns: [table.user_id, table.field_id, table.contact_id] })],
);

/**
 * The dates of contacts in the fields of `dated_fields`, so that the contacts of a day are found without reading all contacts. Triggers on
 * `contacts` (drizzle/triggers.sql) keep them.
 */
export const contactDates = sqliteTable(
  'contact_dates',
  {
    contact_id: integer().notNull(),
    field_id: integer().notNull(),
    /** MM-DD. */
    day: text().notNull(),
    /** YYYY-MM-DD; empty if the date is a day of every year. */
    date: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.contact_id, table.field_id] }),
    index('contact_dates_day').on(table.field_id, table.day, table.contact_id),
  ],
);

/**
 * The blocks of the index contact_search (src/audience/search/search-index.ts) that must be written again because a contact in
 * them was changed or removed. Triggers on `contacts` add the rows.
 */
export const contactSearchChanges = sqliteTable('contact_search_changes', { block: integer().primaryKey() });

export const contactImports = sqliteTable(
  'contact_imports',
  {
    id: id(),
    user_id: user(),
    contact_type_id: integer().notNull(),
    file_name: text().notNull(),
    rows: integerOrZero(),
    created: integerOrZero(),
    updated: integerOrZero(),
    failed: integerOrZero(),
    notes: text({ mode: 'json' }).$type<string[]>().notNull(),
    errors: text({ mode: 'json' }).$type<{ line: number; field: string; text: string; value?: string }[]>().notNull(),
    /** The `created_at` or `updated_at` of the contacts that the import wrote; empty for imports of earlier releases. */
    written_at: line(),
    /** writing → done → undoing → undone. After a kill the state stays writing, and what was written can be undone. */
    state: text({ enum: ['writing', 'done', 'undoing', 'undone'] })
      .notNull()
      .default('done'),
    /** When the records that an undo needs (schema/people-history.ts) are removed, an ISO timestamp; null once they are removed. */
    undo_until: text(),
    /**
     * For an undo: how many contacts it removed, how many it restored, and how many it kept because they were changed after the import.
     */
    removed: integerOrZero(),
    restored: integerOrZero(),
    kept: integerOrZero(),
    created_at: text().notNull(),
  },
  (table) => [
    index('contact_imports_user').on(table.user_id),
    index('contact_imports_written').on(table.contact_type_id, table.written_at),
    index('contact_imports_undoing').on(table.id).where(sql`state = 'undoing'`),
    index('contact_imports_kept').on(table.undo_until).where(sql`undo_until IS NOT NULL`),
  ],
);

export const unsubscribeGroups = sqliteTable(
  'unsubscribe_groups',
  {
    id: id(),
    user_id: user(),
    rand_id: text().notNull(),
    group_name: text().notNull(),
    description: text().notNull(),
    is_display: integer().notNull(),
    /** The number of contacts who unsubscribed from the group. Triggers on `unsubscribers` (drizzle/triggers.sql) update it. */
    unsubscribe_clients_count: integerOrZero(),
    /** A deleted group stays in the file for ever, because sent mails and the consent log refer to it. */
    deleted_at: text(),
    ...stamps(),
  },
  (table) => [index('unsubscribe_groups_user').on(table.user_id)],
);

/** Unsubscribed addresses: from all mail if unsubscribe_groups_id is null, otherwise from that group. */
export const unsubscribers = sqliteTable(
  'unsubscribers',
  {
    id: id(),
    user_id: user(),
    unsubscribe_groups_id: integer().references(() => unsubscribeGroups.id),
    address_id: address(),
    email_address: text().notNull(),
    ...stamps(),
  },
  (table) => [
    uniqueIndex('unsubscribers_global').on(table.address_id).where(sql`unsubscribe_groups_id IS NULL`),
    uniqueIndex('unsubscribers_grouped')
      .on(table.address_id, table.unsubscribe_groups_id)
      .where(sql`unsubscribe_groups_id IS NOT NULL`),
    index('unsubscribers_group').on(table.user_id, table.unsubscribe_groups_id, table.id),
  ],
);

/**
 * The owner's proof of consent: who unsubscribed, resubscribed, subscribed by a form, or allowed or refused the recording of
 * opens and clicks, when and how. Rows are added and never changed.
 */
export const consentLog = sqliteTable(
  'consent_log',
  {
    id: id(),
    user_id: user(),
    address_id: address(),
    unsubscribe_groups_id: integer(),
    action: text({
      enum: ['unsubscribed', 'resubscribed', 'subscribed', 'tracking_allowed', 'tracking_refused', 'tracking_undone'],
    }).notNull(),
    source: text({ enum: ['api', 'one-click', 'page', 'complaint', 'provider', 'form', 'import'] }).notNull(),
    mailing_id: integer(),
    /** The internal name of the form by which the contact subscribed; null for other actions. */
    form_name: text(),
    /** The id of that form; null for other actions, and if the form was deleted before ids were recorded. */
    form_id: integer(),
    /** The text that the contact agreed to or refused. */
    consent_text: text(),
    /** When a subscription was requested, from which network, and from which network it was confirmed; null for other actions. */
    asked_at: text(),
    asked_from: text(),
    confirmed_from: text(),
    created_at: text().notNull(),
  },
  (table) => [
    index('consent_log_address').on(table.address_id),
    index('consent_log_form').on(table.form_id).where(sql`form_id IS NOT NULL`),
  ],
);

/** Addresses that bounced or complained. They are not unsubscribers, because the recipients did not ask to be unsubscribed. */
export const suppressions = sqliteTable(
  'suppressions',
  {
    id: id(),
    user_id: user(),
    address_id: address().unique(),
    kind: text({ enum: ['bounce', 'complaint'] }).notNull(),
    diagnostic: said().notNull(),
    created_at: text().notNull(),
  },
  (table) => [index('suppressions_user').on(table.user_id, table.id)],
);

/**
 * One rule of a segment: a field, an operator as the API writes it, and the operands that the operator takes. A reason among the operands
 * is in its stored form (src/errors/stored.ts).
 */
export interface SegmentRule {
  field: string;
  /** The custom field's id; null for reserved fields and created_at. */
  customId: number | null;
  type: 'text' | 'number' | 'datetime-local' | 'yearly-date' | 'mails' | 'mail' | 'link' | 'automation' | 'event';
  operator: string;
  operands: string[];
  /**
   * The mail or automation that the rule is about. `kind` says whether a mail belongs to a single send or to an automation's schedule.
   */
  named?: { kind: 'single' | 'schedule' | 'automation'; id: number };
}

/** Rules about the contacts of one contact type. The matching contacts are stored in segment_recipients. */
export const segments = sqliteTable(
  'segments',
  {
    id: id(),
    user_id: user(),
    contact_type_id: integer().notNull(),
    segment_name: text().notNull(),
    select_field: text({ mode: 'json' }).$type<string[]>().notNull(),
    select_operator: text({ mode: 'json' }).$type<string[]>().notNull(),
    value: text({ mode: 'json' }).$type<string[]>().notNull(),
    query_type: text({ enum: ['and', 'or'] }),
    /**
     * The rules, parsed from the three arrays above. They name custom fields by id, because a field created later under the same name is
     * another field.
     */
    rules: text({ mode: 'json' }).$type<SegmentRule[]>().notNull().default([]),
    /** The address id up to which a running recompute has come; null when none is running. */
    recompute_after: integer(),
    /** 1: the recompute follows the undo of a deletion. Contacts who began to match in the meantime enter no automation. */
    is_restoring: integer().$type<0 | 1>().notNull().default(0),
    /** When rules that depend on the time are evaluated next, epoch milliseconds; null if no rule depends on the time. */
    check_at: integer(),
    /**
     * The number of contacts in the segment. Triggers on `segment_recipients` (drizzle/triggers.sql) update it. Contacts
     * removed by hand do not count.
     */
    segment_emails_count: integerOrZero(),
    ...softStamps(),
  },
  (table) => [
    index('segments_user').on(table.user_id),
    index('segments_type').on(table.contact_type_id),
    index('segments_recomputing').on(table.id).where(sql`recompute_after IS NOT NULL`),
    index('segments_checks').on(table.check_at).where(sql`check_at IS NOT NULL`),
  ],
);

/**
 * The members of a segment: contacts that match its rules and contacts added by hand. Contacts removed by hand keep a row with a mark.
 */
export const segmentRecipients = sqliteTable(
  'segment_recipients',
  {
    id: id(),
    user_id: user(),
    segment_id: integer()
      .notNull()
      .references(() => segments.id),
    address_id: address(),
    contact_id: integer(),
    /** 1: added by hand, and stays in the segment whatever the rules say. */
    by_hand: flag(),
    /** 1: removed by hand, and stays out of the segment whatever the rules say. The row is not a recipient. */
    is_removed: flag(),
    /** The name entered when the contact was added by hand. The values of the contact's own record take precedence. */
    first_name: line(),
    last_name: line(),
    email: text().notNull(),
    /** When the contact was last added again after a removal by hand, ISO timestamp; null: never. */
    rejoined_at: text(),
    ...stamps(),
  },
  (table) => [
    uniqueIndex('segment_recipients_person').on(table.segment_id, table.address_id),
    index('segment_recipients_listed').on(table.segment_id, table.id).where(sql`is_removed = 0`),
    index('segment_recipients_contact').on(table.contact_id),
    index('segment_recipients_rejoined').on(table.segment_id, table.rejoined_at).where(sql`rejoined_at IS NOT NULL`),
  ],
);

/**
 * Contacts that joined or left the target of an automation, one row per automation. Written in the transaction that changes the
 * contacts or the segment; enrolment reads and removes the rows.
 */
export const membershipChanges = sqliteTable(
  'membership_changes',
  {
    id: id(),
    user_id: user(),
    automation_id: integerOrZero(),
    address_id: address(),
    contact_id: integer(),
    /**
     * `let_in`: like `joined`, but the contact was in the target before and is let in by a backfill. `goal` and `exit`: the contact
     * joined the segment that ends the automation for that reason. `arrived`: an event happened for which contacts wait at `step_id`.
     * `changed`: a date for which contacts wait at `step_id` may have changed.
     */
    change: text({ enum: ['joined', 'let_in', 'left', 'goal', 'exit', 'arrived', 'changed'] }).notNull(),
    step_id: integer(),
    /** The key of the event by which the contact enters; null if the event has no key. */
    event_key: text(),
    /** Epoch milliseconds. */
    happened_at: integer().notNull(),
  },
  (table) => [index('membership_changes_user').on(table.user_id)],
);
