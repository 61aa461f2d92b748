/** Every table. A column that the contract names has the contract's name, so a row is the record. */
import { sql } from 'drizzle-orm';
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';

const id = () => integer().primaryKey({ autoIncrement: true });
const user = () =>
  integer()
    .notNull()
    .references(() => accounts.id);
const stamps = () => ({ created_at: text().notNull(), updated_at: text().notNull() });
const softStamps = () => ({ deleted_at: text(), ...stamps() });
const line = () => text().notNull().default('');
const count = () => integer().notNull().default(0);
/** 0: neither opens nor clicks of this mail are counted, whatever the installation's setting. */
const tracking = () => integer().notNull().default(1);

export const accounts = sqliteTable('accounts', { id: id(), name: text().notNull(), created_at: text().notNull() });

export const apiKeys = sqliteTable('api_keys', {
  id: id(),
  user_id: user(),
  public_key: text().notNull().unique(),
  secret_hash: text().notNull(),
  created_at: text().notNull(),
  revoked_at: text(),
});

/** Facts about this installation: secrets for tokens, whether sending is held. */
export const installation = sqliteTable('installation', { name: text().primaryKey(), value: text().notNull() });

export const countries = sqliteTable('countries', {
  id: integer().primaryKey(),
  name: text().notNull(),
  iso2: text().notNull(),
});

export const states = sqliteTable('states', {
  id: integer().primaryKey(),
  country_id: integer().notNull(),
  name: text().notNull(),
  code: text().notNull(),
});

export const cities = sqliteTable('cities', {
  id: integer().primaryKey(),
  country_id: integer().notNull(),
  state_id: integer(),
  name: text().notNull(),
});

export const dynamicContents = sqliteTable('dynamic_contents', { id: integer().primaryKey(), name: text().notNull() });

export const designTemplates = sqliteTable('design_templates', {
  id: integer().primaryKey(),
  template_name: text().notNull(),
  preview_image: text().notNull(),
  json_code: text().notNull(),
  html_code: text().notNull(),
  is_blank: integer().notNull(),
  created_at: text(),
  updated_at: text(),
});

/** A person within an account, by compared e-mail; kept while anything, a token in a sent mail included, may refer to it. */
export const addresses = sqliteTable(
  'addresses',
  { id: id(), user_id: user(), compared_email: text().notNull() },
  (table) => [uniqueIndex('addresses_person').on(table.user_id, table.compared_email)],
);

const address = () =>
  integer()
    .notNull()
    .references(() => addresses.id);

export const contactTypes = sqliteTable(
  'contact_types',
  {
    id: id(),
    user_id: user(),
    name: text().notNull(),
    /** Kept by triggers on contacts. */
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
    /** Custom values as JSON keyed by custom field id, so that a deleted field's values are out of reach at once. */
    custom_values: text({ mode: 'json' }).$type<Record<string, string>>(),
    ...softStamps(),
  },
  (table) => [
    uniqueIndex('contacts_person').on(table.contact_type_id, table.address_id).where(sql`deleted_at IS NULL`),
    index('contacts_user').on(table.user_id, table.id).where(sql`deleted_at IS NULL`),
    index('contacts_address').on(table.address_id),
  ],
);

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
    created_at: text().notNull(),
  },
  (table) => [index('contact_imports_user').on(table.user_id)],
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
    /** Kept by triggers on unsubscribers. */
    unsubscribe_clients_count: count(),
    ...stamps(),
  },
  (table) => [index('unsubscribe_groups_user').on(table.user_id)],
);

/** Who left: the global list where unsubscribe_groups_id is null, else that group (decisions §2). */
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

/** Append-only: who left or came back, when and how (trust 27). */
export const consentLog = sqliteTable('consent_log', {
  id: id(),
  user_id: user(),
  address_id: address(),
  unsubscribe_groups_id: integer(),
  action: text({ enum: ['unsubscribed', 'resubscribed'] }).notNull(),
  source: text({ enum: ['api', 'one-click', 'page', 'complaint'] }).notNull(),
  mailing_id: integer(),
  created_at: text().notNull(),
});

/** Addresses that bounced or complained; apart from unsubscribers, which are a person's wish. */
export const suppressions = sqliteTable('suppressions', {
  id: id(),
  user_id: user(),
  address_id: address().unique(),
  kind: text({ enum: ['bounce', 'complaint'] }).notNull(),
  diagnostic: text().notNull(),
  created_at: text().notNull(),
});

export const senders = sqliteTable(
  'senders',
  {
    id: id(),
    user_id: user(),
    from_name: text().notNull(),
    from_email: text().notNull(),
    reply_to_email: text().notNull(),
    country_id: integer().notNull(),
    state_id: count(),
    city_id: count(),
    zip_code: line(),
    company_address: text().notNull(),
    company_address2: line(),
    nickname: text().notNull(),
    is_verified: count(),
    utr: text().notNull(),
    send_at: text().notNull(),
    ...stamps(),
    deleted_at: text(),
  },
  (table) => [index('senders_user').on(table.user_id)],
);

export interface Target {
  id: string;
  table: 'contacts' | 'segments';
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
    from_sender: text().notNull(),
    reply_to: text().notNull(),
    sender_name: text(),
    sender_address: text(),
    subject: text().notNull(),
    preheader: text().notNull(),
    schedule_type: integer().notNull(),
    schedule_date: text().notNull(),
    schedule_time: text().notNull(),
    status: integer().notNull(),
    utr: text().notNull().unique(),
    template_json: text(),
    template_html: text(),
    sent_at: text().notNull(),
    /** When it is to go, epoch milliseconds: the UTC moment of the schedule, or the end of the recall rest. */
    starts_at: integer().notNull(),
    /** Why it is held at status 0, for the report. */
    held_reason: text(),
    tracking: tracking(),
    ...stamps(),
  },
  (table) => [
    index('single_sends_user').on(table.user_id),
    index('single_sends_due').on(table.starts_at).where(sql`status = 1`),
    index('single_sends_held').on(table.held_reason).where(sql`status = 0 AND held_reason IS NOT NULL`),
  ],
);

/** Frozen content, ready to leave; its state is the worker's. Counters move in the transaction that moves the ledger. */
export const mailings = sqliteTable(
  'mailings',
  {
    id: id(),
    user_id: user(),
    owner_kind: text({ enum: ['single', 'schedule', 'test', 'system'] }).notNull(),
    owner_id: integer().notNull(),
    revision: integer().notNull().default(1),
    /** The automation of a schedule's mailing: its counters are the sums of these, deleted schedules included. */
    automation_id: integer(),
    unsubscribe_group_id: integer(),
    /** Whose present name and addresses its mails bear; null: those that are in the content. */
    sender_id: integer(),
    content: text().notNull(),
    /** layout → sending → done; a held one waits with a reason, a cancelled one starts nothing any more. */
    state: text({ enum: ['layout', 'sending', 'paused', 'held', 'done', 'cancelled'] }).notNull(),
    held_reason: text(),
    /** The state the worker has last acknowledged: after a stop is, no MAIL FROM is written (trust 9). */
    seen_state: text().notNull().default(''),
    /** Who it goes to and how far laying out has come, as JSON; null once laid out. */
    layout: text(),
    triggered: count(),
    delivered: count(),
    bounces: count(),
    failed: count(),
    suppressed: count(),
    cancelled: count(),
    unique_opens: count(),
    total_opens: count(),
    unsubscribes: count(),
    created_at: text().notNull(),
    finished_at: text(),
  },
  (table) => [
    uniqueIndex('mailings_owner')
      .on(table.owner_kind, table.owner_id, table.revision)
      .where(sql`owner_kind IN ('single', 'schedule')`),
    index('mailings_user').on(table.user_id),
    index('mailings_automation').on(table.automation_id).where(sql`automation_id IS NOT NULL`),
    index('mailings_unfinished').on(table.state).where(sql`finished_at IS NULL`),
    index('mailings_unseen').on(table.id).where(sql`seen_state <> state`),
    index('mailings_verification').on(table.owner_id).where(sql`owner_kind = 'system'`),
  ],
);

/** The ledger: one row per recipient of a mailing. States are in delivery/ledger.ts. */
export const deliveries = sqliteTable(
  'deliveries',
  {
    id: id(),
    mailing_id: integer()
      .notNull()
      .references(() => mailings.id),
    address_id: address(),
    contact_id: integer(),
    /** Who was added to a segment by hand, or is no contact: their name is there. */
    segment_recipient_id: integer(),
    state: integer().notNull().default(0),
    attempt: count(),
    /** Epoch milliseconds before which it is not tried (again); 0 at first. */
    due_at: count(),
    /** When it was first tried, epoch milliseconds, for giving up. */
    first_tried_at: integer(),
    /** The server's reply, or why this person got nothing. */
    reply: text(),
    updated_at: count(),
    opened_at: integer(),
    /** Opens and clicks that were counted: beyond a number of each, a recipient's count no more. */
    opens: count(),
    clicks: count(),
    unsubscribed_at: integer(),
  },
  (table) => [
    uniqueIndex('deliveries_person').on(table.mailing_id, table.address_id),
    index('deliveries_queue').on(table.mailing_id, table.due_at, table.id).where(sql`state = 0`),
    index('deliveries_sending').on(table.id).where(sql`state = 1`),
  ],
);

/** Where a tracked link of a mailing leads; may hold placeholders (trust 46). */
export const links = sqliteTable(
  'links',
  { mailing_id: integer().notNull(), number: integer().notNull(), url: text().notNull() },
  (table) => [primaryKey({ columns: [table.mailing_id, table.number] })],
);

/** What happened to a delivery after it left, raw. */
export const events = sqliteTable(
  'events',
  {
    id: id(),
    mailing_id: integer().notNull(),
    delivery_id: integer().notNull(),
    kind: text({ enum: ['open', 'click', 'unsubscribe', 'bounce', 'complaint'] }).notNull(),
    link_number: integer(),
    is_machine: count(),
    /** Epoch milliseconds. */
    happened_at: integer().notNull(),
  },
  (table) => [index('events_mailing').on(table.mailing_id, table.kind)],
);

/** The built-in courier's mails, the newest 1 000. */
export const outbox = sqliteTable('outbox', {
  id: id(),
  user_id: user(),
  mailing_id: integer().notNull(),
  envelope_from: text().notNull(),
  envelope_to: text().notNull(),
  /** As their header fields say, decoded. */
  from: line(),
  to: line(),
  subject: text().notNull(),
  raw: blob({ mode: 'buffer' }).notNull(),
  created_at: text().notNull(),
});

/** One rule of a segment: a field, an operator as decisions §3 writes it, and as many operands as it takes. */
export interface SegmentRule {
  field: string;
  /** The custom field's id; null for reserved fields and created_at. */
  customId: number | null;
  type: 'text' | 'number' | 'datetime-local';
  operator: string;
  operands: string[];
}

/** A rule over one contact type; its matching contacts are kept in segment_recipients. */
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
    /** What the three arrays say, custom fields by id: a later field of the same name is another one. */
    rules: text({ mode: 'json' }).$type<SegmentRule[]>().notNull().default([]),
    /** The last address a recompute has come to; null: none is under way. */
    recompute_after: integer(),
    /** Epoch milliseconds when rules that look at the clock are evaluated again; null: none does. */
    check_at: integer(),
    /** Kept by triggers on segment_recipients. */
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

/** Who is in a segment: contacts that match, people added by hand, and the marks of people removed by hand. */
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
    /** 1: added by hand, stays whatever the rules say. */
    by_hand: count(),
    /** 1: removed by hand, stays out whatever the rules say; such a row is a mark, not a recipient. */
    is_removed: count(),
    /** Given when added by hand; a contact's own values win. */
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

/** Who joined or left the target of an automation, a row for each automation it concerns; written with the change, read by enrolment. */
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

export const automations = sqliteTable(
  'automations',
  {
    id: id(),
    user_id: user(),
    automation_for: count(),
    automation_for_table: line(),
    automation_name: text().notNull(),
    exit_criteria: count(),
    unsubscribe_group_id: text().notNull(),
    automation_type: integer().notNull(),
    utr: text().notNull().unique(),
    status: count(),
    live_at: text(),
    /** Why it went back to draft by itself, for the report. */
    held_reason: text(),
    ...softStamps(),
  },
  (table) => [
    index('automations_user').on(table.user_id),
    index('automations_target').on(table.automation_for_table, table.automation_for).where(sql`deleted_at IS NULL`),
  ],
);

export const automationSchedules = sqliteTable(
  'automation_schedules',
  {
    id: id(),
    user_id: user(),
    automation_id: integer()
      .notNull()
      .references(() => automations.id),
    sender_id: integer().notNull(),
    subject: text().notNull(),
    waiting_period: integer().notNull(),
    waiting_type: text({ enum: ['instantly', 'days', 'hours'] }).notNull(),
    utr: text().notNull().unique(),
    template_id: integer().notNull(),
    preview_img: text().notNull(),
    template_json: line(),
    template_html: line(),
    tracking: tracking(),
    ...stamps(),
  },
  (table) => [index('automation_schedules_automation').on(table.automation_id)],
);

/** Test mails sent by a link to a design page; a link is named by its mail and the moment (epoch milliseconds) until which it opens. */
export const designTests = sqliteTable(
  'design_tests',
  { utr: text().notNull(), until: integer().notNull(), tests: integer().notNull() },
  (table) => [primaryKey({ columns: [table.utr, table.until] })],
);

/** When (epoch milliseconds) the links to a mail's design page were revoked: those made by then open nothing. */
export const designRevocations = sqliteTable('design_revocations', {
  utr: text().primaryKey(),
  revoked_at: integer().notNull(),
});

/** A person in an automation, once. */
export const enrolments = sqliteTable(
  'enrolments',
  {
    id: id(),
    automation_id: integer()
      .notNull()
      .references(() => automations.id),
    address_id: address(),
    contact_id: integer(),
    state: text({ enum: ['active', 'finished', 'left'] }).notNull(),
    /** Why they left, or null. */
    reason: text(),
    /** Epoch milliseconds of entry. */
    entered_at: integer().notNull(),
    /** The last schedule whose mail they have had; 0 at entry. */
    schedule_id: count(),
    /** When the wait for the next mail began: at entry, or when the relay accepted the mail before. */
    waiting_since: integer().notNull(),
    /** Epoch milliseconds when the next mail is due. */
    due_at: integer().notNull(),
    /** The mail that is on its way to them, queued or being handed over; null while they wait. */
    delivery_id: integer(),
  },
  (table) => [
    uniqueIndex('enrolments_person').on(table.automation_id, table.address_id),
    index('enrolments_due').on(table.automation_id, table.due_at).where(sql`state = 'active' AND delivery_id IS NULL`),
    index('enrolments_delivery').on(table.delivery_id).where(sql`delivery_id IS NOT NULL`),
  ],
);

/** One mail of one enrolment: the mark that it is never sent twice, and its delivery. */
export const steps = sqliteTable(
  'steps',
  {
    id: id(),
    enrolment_id: integer()
      .notNull()
      .references(() => enrolments.id),
    schedule_id: integer().notNull(),
    delivery_id: integer(),
    taken_at: integer().notNull(),
  },
  (table) => [uniqueIndex('steps_once').on(table.enrolment_id, table.schedule_id)],
);

/** Keys that sign the mail of a sender domain (ASCII form); the newest of a domain signs, older ones may still be verified. */
export const dkimKeys = sqliteTable(
  'dkim_keys',
  {
    id: id(),
    domain: text().notNull(),
    selector: text().notNull(),
    private_key: text().notNull(),
    created_at: text().notNull(),
  },
  (table) => [uniqueIndex('dkim_keys_selector').on(table.domain, table.selector)],
);
