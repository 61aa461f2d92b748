/** Tables of what leaves: mailings, the ledger of their recipients, what happened to each mail afterwards. */
import { sql } from 'drizzle-orm';
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { user } from './accounts.ts';
import { address } from './audience.ts';
import { count, id, line, said } from './columns.ts';
import { DELIVERY_STATE, HELD_CODES, IS_HAD, MAILING_ENDED, type MadeBy } from './states.ts';

/** A mailing: frozen content and who gets it. Its counters change in the transaction that changes the ledger, so they always agree with it. */
export const mailings = sqliteTable(
  'mailings',
  {
    id: id(),
    user_id: user(),
    owner_kind: text({ enum: ['single', 'schedule', 'test', 'system', 'form'] }).notNull(),
    owner_id: integer().notNull(),
    revision: integer().notNull().default(1),
    /** The automation a schedule's mailing belongs to: an automation's counters are the sums of its mailings, those of deleted schedules included. */
    automation_id: integer(),
    unsubscribe_group_id: integer(),
    /** The sender whose current name and addresses the mails carry; null: they are frozen in the content. */
    sender_id: integer(),
    content: text().notNull(),
    /** enqueueing (recipients are being enqueued) → sending → done; held waits with a reason, cancelled starts no further hand-off. */
    state: text({ enum: ['enqueueing', 'sending', 'paused', 'held', 'done', 'cancelled'] }).notNull(),
    /** Why it is held: a code for programs and a sentence for its owner. */
    held_code: text({ enum: HELD_CODES }),
    held_reason: said(),
    /** The state the worker has last acknowledged: once it has acknowledged a stop, it begins no further SMTP transaction. */
    acknowledged_state: text().notNull().default(''),
    /** Who it goes to and how far enqueueing has come, as JSON (`EnqueueProgress`); null once everybody is enqueued. */
    enqueue_progress: text(),
    /** Of a single send: how many recipients are enqueued; more follow while `enqueue_progress` is set. */
    recipients: count(),
    triggered: count(),
    delivered: count(),
    /** How many of the delivered got a mail of which it is not known whether they opened it. */
    unmeasured: count(),
    bounces: count(),
    /** How many of the bounces had been accepted before they came back. */
    returned: count(),
    failed: count(),
    suppressed: count(),
    cancelled: count(),
    /** Recipients who opened it, and all opens: of people and proxies, never of machines. */
    unique_opens: count(),
    total_opens: count(),
    /** Recipients who clicked; machines do not count. */
    unique_clicks: count(),
    /** Recipients of whose opens or clicks at least one was a person's. */
    people_opens: count(),
    people_clicks: count(),
    /** Recipients of whom nothing is known but that a proxy loaded the pictures. */
    proxied_only: count(),
    unsubscribes: count(),
    created_at: text().notNull(),
    finished_at: text(),
  },
  (table) => [
    uniqueIndex('mailings_owner')
      .on(table.owner_kind, table.owner_id, table.revision)
      .where(sql`owner_kind IN ('single', 'schedule')`),
    // SQLite does not see that one kind is among the two of the index above, so that one is of no use to find a mailing by its owner.
    index('mailings_of_owner').on(table.owner_kind, table.owner_id, table.revision),
    // With the time, so that the timeline of a person does not read the content of every mailing.
    index('mailings_user').on(table.user_id, table.id, table.created_at),
    // With the figures that lists of automations add up, so that those do not read the content of every mailing.
    index('mailings_automation')
      .on(
        ...[
          table.automation_id,
          table.state,
          table.triggered,
          table.delivered,
          table.unmeasured,
          table.bounces,
          table.failed,
        ],
        ...[table.suppressed, table.cancelled, table.people_opens, table.people_clicks, table.unsubscribes],
      )
      .where(sql`automation_id IS NOT NULL`),
    // Those that people may have got since some time, for rules of segments: what is not finished comes after every time.
    index('mailings_recent').on(table.user_id, sql.raw(MAILING_ENDED)).where(sql`owner_kind IN ('single', 'schedule')`),
    // The same for other mail, such as tests and confirmations, for reports of providers that name only an address.
    index('mailings_recent_others')
      .on(table.user_id, sql.raw(MAILING_ENDED))
      .where(sql`owner_kind NOT IN ('single', 'schedule')`),
    index('mailings_unfinished').on(table.state).where(sql`finished_at IS NULL`),
    index('mailings_unacknowledged').on(table.id).where(sql`acknowledged_state <> state`),
    index('mailings_verification').on(table.owner_id).where(sql`owner_kind = 'system'`),
  ],
);

/** The ledger: one row per recipient of a mailing. The states are `DELIVERY_STATE`. */
export const deliveries = sqliteTable(
  'deliveries',
  {
    id: id(),
    mailing_id: integer()
      .notNull()
      .references(() => mailings.id),
    address_id: address(),
    contact_id: integer(),
    /** The row in the segment the person was enqueued from: people added by hand have their name there. */
    segment_recipient_id: integer(),
    state: integer().notNull().default(DELIVERY_STATE.queued),
    attempt: count(),
    /** When the next try is due, epoch milliseconds, or a value of src/delivery/queue/due.ts; 0 at first. */
    due_at: count(),
    /** When it was first tried, epoch milliseconds: after 4 days of temporary refusals it fails. */
    first_tried_at: integer(),
    /** The server's reply, or why this person got no mail. */
    reply: said(),
    updated_at: count(),
    /** The first open that no machine made. */
    opened_at: integer(),
    /** How many opens and clicks of people and proxies, and how many hits of machines, were counted; there is a maximum of each. */
    opens: count(),
    clicks: count(),
    machine_hits: count(),
    /** From then until then, epoch milliseconds, every hit is a machine's: one was found out by a burst or the trap link. */
    machine_from: count(),
    machine_until: count(),
    /** What people and proxies did with it: the bits of `BY_PERSON`. */
    by_person: count(),
    /** 1: the mail has no pixel and no links of this person, so that it is not known whether they opened it. */
    is_unmeasured: count(),
    unsubscribed_at: integer(),
    /** In the test group of an A/B test: the number of the variant they get. Null for everybody else; the rest of a test gets the winner. */
    variant: integer(),
    /** 1: begun while its account had limits of mails per person, or found for them later. */
    counts_to_caps: count(),
  },
  (table) => [
    uniqueIndex('deliveries_person').on(table.mailing_id, table.address_id),
    // Those of a mailing in the order of their ids, in which lists have them. New rows go to its end, which costs little.
    index('deliveries_mailing').on(table.mailing_id),
    index('deliveries_queue')
      .on(table.mailing_id, table.due_at, table.id)
      .where(sql`state = ${sql.raw(`${DELIVERY_STATE.queued}`)}`),
    // Those who opened it, which lists of single sends name, the latest first.
    index('deliveries_opened').on(table.mailing_id, table.opened_at).where(sql`opened_at IS NOT NULL`),
    // With what reports of A/B tests count.
    index('deliveries_variant')
      .on(table.mailing_id, table.variant, table.state, table.by_person, table.is_unmeasured)
      .where(sql`variant IS NOT NULL`),
    // Those who did not simply get their mail are few, and are looked for by state and reason.
    index('deliveries_unaccepted')
      .on(table.mailing_id, table.state, table.id)
      .where(sql`state > ${sql.raw(`${DELIVERY_STATE.accepted}`)}`),
    index('deliveries_sending')
      .on(table.id)
      .where(sql`state = ${sql.raw(`${DELIVERY_STATE.sending}`)}`),
    // What a person had, for the limits; empty without any.
    index('deliveries_capped')
      .on(table.address_id, table.updated_at)
      .where(sql.raw(`counts_to_caps = 1 AND ${IS_HAD}`)),
  ],
);

/** Of a mailing that its recipients get at a time by their own clocks: how many were put off to each moment when they were enqueued. */
export const localWaits = sqliteTable(
  'local_waits',
  {
    mailing_id: integer().notNull(),
    /** Epoch milliseconds. */
    due_at: integer().notNull(),
    people: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.mailing_id, table.due_at] })],
);

/** How far the canary of a mailing is: its first recipients are chosen, get the mail, and are waited for; released lets the rest go. */
export const CANARY_STAGES = ['choosing', 'sending', 'waiting', 'released'] as const;

/** Of mailings of single sends that began with a canary, were held because of their results, or whose owner let them go on after that. */
export const watchedMailings = sqliteTable(
  'watched_mailings',
  {
    mailing_id: integer()
      .primaryKey()
      .references(() => mailings.id),
    /** How many in a hundred recipients the canary is, and how long the rest waits after them; 0: no canary. */
    percent: count(),
    minutes: count(),
    stage: text({ enum: CANARY_STAGES }).notNull().default('released'),
    /** JSON: the ids of the deliveries of the canary, until it is released. */
    chosen: text(),
    /** How many there are. */
    size: count(),
    /** When all of them had been tried, steady epoch milliseconds. */
    tried_at: count(),
    /** The codes of holds after which its owner let it go on, which hold it no more, separated by spaces. */
    passed: line(),
    /** JSON: what came of the mails by recipient domain (`SeenDomains`); null before it was counted. */
    seen: text(),
  },
  (table) => [index('watched_mailings_canary').on(table.mailing_id).where(sql`stage <> 'released'`)],
);

/**
 * Of each mailing, how many of its deliveries have a reply that says the same, by state: of those that wait for another try and of those
 * with a final state that is not acceptance. They change in the transaction that changes the ledger.
 */
export const deliveryReasons = sqliteTable(
  'delivery_reasons',
  {
    mailing_id: integer().notNull(),
    /** A `DELIVERY_STATE`. */
    state: integer().notNull(),
    /** The reply without what differs from mail to mail, as `reasonKind` gives it. */
    reason: said().notNull(),
    count: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.mailing_id, table.state, table.reason] })],
);

/** Where a tracked link of a mailing leads; the address may contain placeholders. The counters change with the events. */
export const links = sqliteTable(
  'links',
  {
    mailing_id: integer().notNull(),
    number: integer().notNull(),
    url: text().notNull(),
    clicks: count(),
    /** How many of the clicks were made by bots. */
    machine_clicks: count(),
  },
  (table) => [
    primaryKey({ columns: [table.mailing_id, table.number] }),
    // For rules of segments about who clicked a link in any mail.
    index('links_url').on(table.url),
  ],
);

/** What happened to a delivery after it was sent, one row per event. */
export const events = sqliteTable(
  'events',
  {
    id: id(),
    mailing_id: integer().notNull(),
    delivery_id: integer().notNull(),
    kind: text({ enum: ['open', 'click', 'unsubscribe', 'bounce', 'complaint'] }).notNull(),
    link_number: integer(),
    /** One of `MADE_BY`; 0 for what is neither an open nor a click. */
    made_by: integer().$type<MadeBy>().notNull().default(0),
    /** Epoch milliseconds. */
    happened_at: integer().notNull(),
  },
  (table) => [
    index('events_complaint').on(table.mailing_id, table.delivery_id).where(sql`kind = 'complaint'`),
    index('events_delivery').on(table.delivery_id),
    index('events_link').on(table.mailing_id, table.link_number, table.delivery_id).where(sql`kind = 'click'`),
  ],
);

/** The events of a mailing by the hour, those of hours without any left out. They change in the transaction that adds the event. */
export const mailingHours = sqliteTable(
  'mailing_hours',
  {
    mailing_id: integer().notNull(),
    /** The start of the hour, epoch milliseconds. */
    hour: integer().notNull(),
    opens: count(),
    machine_opens: count(),
    proxied_opens: count(),
    clicks: count(),
    machine_clicks: count(),
    bounces: count(),
    unsubscribes: count(),
  },
  (table) => [primaryKey({ columns: [table.mailing_id, table.hour] })],
);

/** The newest mails of the built-in courier, which stores mails instead of sending them. */
export const outbox = sqliteTable('outbox', {
  id: id(),
  user_id: user(),
  mailing_id: integer().notNull(),
  envelope_from: text().notNull(),
  envelope_to: text().notNull(),
  /** From the header fields of the same name, decoded. */
  from: line(),
  to: line(),
  subject: text().notNull(),
  raw: blob({ mode: 'buffer' }).notNull(),
  created_at: text().notNull(),
});
