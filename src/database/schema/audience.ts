/** Tables of the people an account writes to: addresses, contacts, segments, and who must not get mail. */
import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { user } from './accounts.ts';
import { count, id, line, said, softStamps, stamps } from './columns.ts';

/** A person within an account: one row per normalized e-mail address. Rows are never removed, because links in sent mails refer to them. */
export const addresses = sqliteTable(
  'addresses',
  {
    id: id(),
    user_id: user(),
    normalized_email: text().notNull(),
    /** A `TRACKING_CHOICE`. */
    tracking_choice: count(),
  },
  (table) => [
    uniqueIndex('addresses_person').on(table.user_id, table.normalized_email),
    // Those who chose, who are few, for what sender nodes must know.
    index('addresses_choices').on(table.id).where(sql`tracking_choice <> 0`),
  ],
);

/** The column that names a person by their address. */
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
     * How many contacts of the type are not deleted. Triggers on `contacts` (drizzle/triggers.sql) keep it when a contact is
     * added, deleted or moved to another type, because counting a million contacts for a list would take too long.
     */
    contacts_count: count(),
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
    /** Custom values as JSON by custom field id: once a field is deleted, nothing reads its values any more. */
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
 * The blocks of the index contact_search (src/audience/search/search-index.ts) that must be written anew, because a contact in them was
 * changed or removed. Triggers on `contacts` add them.
 */
export const contactSearchChanges = sqliteTable('contact_search_changes', { block: integer().primaryKey() });

export const contactImports = sqliteTable(
  'contact_imports',
  {
    id: id(),
    user_id: user(),
    contact_type_id: integer().notNull(),
    file_name: text().notNull(),
    rows: count(),
    created: count(),
    updated: count(),
    failed: count(),
    notes: text({ mode: 'json' }).$type<string[]>().notNull(),
    errors: text({ mode: 'json' }).$type<{ line: number; field: string; text: string }[]>().notNull(),
    /** The `created_at` or `updated_at` that it gave its contacts; empty in imports of earlier releases. */
    written_at: line(),
    /** writing → done → undoing → undone. After a kill it stays writing, and can be undone as far as it came. */
    state: text({ enum: ['writing', 'done', 'undoing', 'undone'] })
      .notNull()
      .default('done'),
    /** Until when what undoing needs is kept (schema/people-history.ts), an ISO timestamp; null once it is removed. */
    undo_until: text(),
    /** Of an undo: how many contacts it removed, gave back what they had, and left as they were, because they were changed since. */
    removed: count(),
    restored: count(),
    kept: count(),
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
    /** How many people have left the group. Triggers on `unsubscribers` (drizzle/triggers.sql) keep it. */
    unsubscribe_clients_count: count(),
    /** A deleted group is never removed from the file: mails that were sent lead to it, and the consent log names it. */
    deleted_at: text(),
    ...stamps(),
  },
  (table) => [index('unsubscribe_groups_user').on(table.user_id)],
);

/** Who unsubscribed: from all mail where unsubscribe_groups_id is null, else from that group. */
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

/** Who unsubscribed, resubscribed, subscribed by a form, or allowed or refused that their opens and clicks are recorded, when and how: the owner's proof. Rows are added and never changed. */
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
    /** The text that was agreed to, or refused. Of a subscription by a form also the form, when and from which network it was asked for and confirmed. */
    form_name: text(),
    consent_text: text(),
    asked_at: text(),
    asked_from: text(),
    confirmed_from: text(),
    created_at: text().notNull(),
  },
  (table) => [index('consent_log_address').on(table.address_id)],
);

/** Addresses that bounced or complained. They are not unsubscribers, because nobody asked for it. */
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

/** One rule of a segment: a field, an operator as the API writes it, and as many operands as it takes. */
export interface SegmentRule {
  field: string;
  /** The custom field's id; null for reserved fields and created_at. */
  customId: number | null;
  type: 'text' | 'number' | 'datetime-local' | 'mails' | 'mail' | 'link' | 'automation';
  operator: string;
  operands: string[];
  /** What the operand of a rule about a certain mail or automation names; a mail is that of a single send or of a schedule. */
  named?: { kind: 'single' | 'schedule' | 'automation'; id: number };
}

/** Rules over one contact type; the contacts that match are kept in segment_recipients. */
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
    /** The three arrays parsed, with custom fields by id: a field created later under the same name is another field. */
    rules: text({ mode: 'json' }).$type<SegmentRule[]>().notNull().default([]),
    /** The address id up to which a running recompute is done; null when none is running. */
    recompute_after: integer(),
    /** When rules that depend on the time are evaluated again, epoch milliseconds; null when there are none. */
    check_at: integer(),
    /** How many people are in the segment. Triggers on `segment_recipients` (drizzle/triggers.sql) keep it; people removed by hand do not count. */
    segment_emails_count: count(),
    ...softStamps(),
  },
  (table) => [
    index('segments_user').on(table.user_id),
    index('segments_type').on(table.contact_type_id),
    index('segments_recomputing').on(table.id).where(sql`recompute_after IS NOT NULL`),
    index('segments_checks').on(table.check_at).where(sql`check_at IS NOT NULL`),
  ],
);

/** The people of a segment: contacts that match its rules and people added by hand. People removed by hand keep a row, marked. */
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
    /** 1: added by hand, and stays whatever the rules say. */
    by_hand: count(),
    /** 1: removed by hand, and stays out whatever the rules say. Such a row is no recipient. */
    is_removed: count(),
    /** The name given when the person was added by hand; the values of a contact take precedence. */
    first_name: line(),
    last_name: line(),
    email: text().notNull(),
    ...stamps(),
  },
  (table) => [
    uniqueIndex('segment_recipients_person').on(table.segment_id, table.address_id),
    index('segment_recipients_listed').on(table.segment_id, table.id).where(sql`is_removed = 0`),
    index('segment_recipients_contact').on(table.contact_id),
  ],
);

/**
 * Who joined or left the target of an automation, one row per automation. Written in the transaction that changes the contacts or
 * the segment; enrolment reads and removes the rows.
 */
export const membershipChanges = sqliteTable('membership_changes', {
  id: id(),
  user_id: user(),
  automation_id: count(),
  address_id: address(),
  contact_id: integer(),
  change: text({ enum: ['joined', 'left'] }).notNull(),
  /** Epoch milliseconds. */
  happened_at: integer().notNull(),
});
