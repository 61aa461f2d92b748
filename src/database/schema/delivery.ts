/** Tables of the engine: mailings, the ledger of their recipients, and the events after each mail. */
import { sql } from 'drizzle-orm';
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { user } from './accounts.ts';
import { address } from './audience.ts';
import { flag, id, integerOrZero, line, said } from './columns.ts';
import { DELIVERY_STATE, HELD_CODES, isReceivedOrUnderway, MAILING_ENDED, type MadeBy } from './states.ts';

/** What the check found in a mail. The code and the severity are those of src/delivery/checks/severity.ts. */
export interface RecordedFinding {
  code: string;
  severity: string;
  count: number;
  limit: number;
  names: string[];
  /** The variant, such as B, or the language of the version in which it was found; absent: the mail itself. */
  version?: string;
}

/**
 * A mailing: frozen content and its recipients. Its counters change in the same transaction as the ledger, so that they always
 * agree with it.
 */
export const mailings = sqliteTable(
  'mailings',
  {
    id: id(),
    user_id: user(),
    /**
     * The kind of record that `owner_id` is the id of. `single_test`, `schedule_test` and `template_test` are tests of a single send, of a
     * mail of an automation and of an own template. Earlier releases recorded all three as `test`.
     */
    owner_kind: text({
      enum: ['single', 'schedule', 'test', 'single_test', 'schedule_test', 'template_test', 'system', 'form'],
    }).notNull(),
    owner_id: integer().notNull(),
    revision: integer().notNull().default(1),
    /**
     * The automation that a schedule's mailing belongs to. An automation's counters are the sums of its mailings, including
     * those of deleted schedules.
     */
    automation_id: integer(),
    unsubscribe_group_id: integer(),
    /** The sender whose current name and addresses the mails have; null: they are frozen in the content. */
    sender_id: integer(),
    content: text().notNull(),
    /**
     * enqueueing (recipients are being enqueued) → sending → done. A held mailing waits and has a reason; a cancelled one
     * starts no further hand-off.
     */
    state: text({ enum: ['enqueueing', 'sending', 'paused', 'held', 'done', 'cancelled'] }).notNull(),
    /** Why the mailing is held: a code for programs and a stored reason for its owner. */
    held_code: text({ enum: HELD_CODES }),
    held_reason: said(),
    /** The state that the worker acknowledged last. Once the worker has acknowledged a stop, it begins no further SMTP transaction. */
    acknowledged_state: text().notNull().default(''),
    /** The targets and how far enqueueing has come, as JSON (`EnqueueProgress`); null once all recipients are enqueued. */
    enqueue_progress: text(),
    /**
     * What the check found when a single send was launched, or a mail of an automation was set live or changed after
     * that, as JSON; null if it was not checked.
     */
    findings: text({ mode: 'json' }).$type<RecordedFinding[]>(),
    /** For a single send: how many recipients are enqueued. The number grows while `enqueue_progress` is set. */
    recipients: integerOrZero(),
    triggered: integerOrZero(),
    delivered: integerOrZero(),
    /** How many of the delivered mails are unmeasured. */
    unmeasured: integerOrZero(),
    bounces: integerOrZero(),
    /** How many of the bounces came back after the mail had been accepted. */
    returned: integerOrZero(),
    failed: integerOrZero(),
    suppressed: integerOrZero(),
    cancelled: integerOrZero(),
    /** Unique and total opens by people and proxies, never by machines. */
    unique_opens: integerOrZero(),
    total_opens: integerOrZero(),
    /** Recipients who clicked, not counting machines. */
    unique_clicks: integerOrZero(),
    /** Recipients with at least one open, or click, by a person. */
    people_opens: integerOrZero(),
    people_clicks: integerOrZero(),
    /** Recipients whose only known event is that a proxy loaded the pictures. */
    proxied_only: integerOrZero(),
    unsubscribes: integerOrZero(),
    created_at: text().notNull(),
    finished_at: text(),
  },
  (table) => [
    uniqueIndex('mailings_owner')
      .on(table.owner_kind, table.owner_id, table.revision)
      .where(sql`owner_kind IN ('single', 'schedule')`),
    // Finds a mailing by its owner. SQLite cannot use the partial index above for this, because it does not infer that one kind
    // is among the two of that index.
    index('mailings_of_owner').on(table.owner_kind, table.owner_id, table.revision),
    // Covers the time, so that the timeline of a contact does not read the content of every mailing.
    index('mailings_user').on(table.user_id, table.id, table.created_at),
    // Covers the figures that lists of automations add up, so that they do not read the content of every mailing.
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
    // Finds mailings that ended after a certain time, for rules of segments. Unfinished mailings are sorted after every time.
    index('mailings_recent').on(table.user_id, sql.raw(MAILING_ENDED)).where(sql`owner_kind IN ('single', 'schedule')`),
    // The same for other mail, such as tests and confirmations, for providers' reports that contain only an address.
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
    /** The row of the segment from which the recipient was enqueued. It has the name of contacts added by hand. */
    segment_recipient_id: integer(),
    state: integer().notNull().default(DELIVERY_STATE.queued),
    attempt: integerOrZero(),
    /** When the next attempt is due, epoch milliseconds, or a value of src/delivery/queue/due.ts; 0 at first. */
    due_at: integerOrZero(),
    /** When the delivery was first tried, epoch milliseconds. It fails after 4 days of temporary refusals. */
    first_tried_at: integer(),
    /** The server's reply, or why the recipient got no mail. */
    reply: said(),
    updated_at: integerOrZero(),
    /** The first open by a person or proxy, not by a machine. */
    opened_at: integer(),
    /** The counted opens and clicks of people and proxies, and hits of machines. Each counter has a maximum. */
    opens: integerOrZero(),
    clicks: integerOrZero(),
    machine_hits: integerOrZero(),
    /**
     * Start and end, epoch milliseconds, of a time in which every hit counts as a machine's, because a burst of hits or the trap link
     * revealed a machine.
     */
    machine_from: integerOrZero(),
    machine_until: integerOrZero(),
    /** What people and proxies did with the mail: the bits of `BY_PERSON`. */
    by_person: integerOrZero(),
    /** 1: unmeasured. The mail has no pixel and no links of this recipient's own, so opens and clicks cannot be recorded. */
    is_unmeasured: flag(),
    unsubscribed_at: integer(),
    /**
     * The number of the variant that a recipient in the test group of an A/B test gets; null for all other recipients. The rest
     * of the audience gets the winner.
     */
    variant: integer(),
    /** 1: the mail counts towards frequency caps. It was tried while the account had caps, or was found when caps were set later. */
    counts_to_caps: flag(),
    /** The run of the enrolment to which the mail of an automation belongs; 1 for all other mails. */
    run: integer().notNull().default(1),
  },
  (table) => [
    uniqueIndex('deliveries_person').on(table.mailing_id, table.address_id, table.run),
    // Deliveries of a mailing in the order of their ids, which lists use. New rows go to its end, which costs little.
    index('deliveries_mailing').on(table.mailing_id),
    index('deliveries_queue')
      .on(table.mailing_id, table.due_at, table.id)
      .where(sql`state = ${sql.raw(`${DELIVERY_STATE.queued}`)}`),
    // Recipients who opened a single send, latest first, for its lists.
    index('deliveries_opened').on(table.mailing_id, table.opened_at).where(sql`opened_at IS NOT NULL`),
    // Covers the columns that reports of A/B tests count.
    index('deliveries_variant')
      .on(table.mailing_id, table.variant, table.state, table.by_person, table.is_unmeasured)
      .where(sql`variant IS NOT NULL`),
    // Deliveries that were not simply accepted. They are few, and are looked for by state and reason.
    index('deliveries_unaccepted')
      .on(table.mailing_id, table.state, table.id)
      .where(sql`state > ${sql.raw(`${DELIVERY_STATE.accepted}`)}`),
    index('deliveries_sending')
      .on(table.id)
      .where(sql`state = ${sql.raw(`${DELIVERY_STATE.sending}`)}`),
    // Mails that a contact got, for frequency caps; empty without caps.
    index('deliveries_capped')
      .on(table.address_id, table.updated_at)
      .where(sql.raw(`counts_to_caps = 1 AND ${isReceivedOrUnderway()}`)),
  ],
);

/** Recipients who got a mailing at its start although it is sent at each contact's best hour, so that both times can be compared. */
export const bestHourHoldouts = sqliteTable(
  'best_hour_holdouts',
  {
    mailing_id: integer().notNull(),
    delivery_id: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.mailing_id, table.delivery_id] })],
);

/**
 * For a mailing in the recipients' own time zones, or at their best hours: how many recipients were deferred to each moment when they were
 * enqueued.
 */
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

/**
 * The stages of a mailing's canary: its recipients are chosen, get the mail, and the mailing waits for their results. `released` means
 * that all other recipients get the mail.
 */
export const CANARY_STAGES = ['choosing', 'sending', 'waiting', 'released'] as const;

/**
 * Mailings of single sends that began with a canary, were held because of their results, or were released by their owner after such a hold.
 */
export const watchedMailings = sqliteTable(
  'watched_mailings',
  {
    mailing_id: integer()
      .primaryKey()
      .references(() => mailings.id),
    /** The canary as a percentage of the recipients; 0: no canary. */
    percent: integerOrZero(),
    /** How many minutes the other recipients wait after the canary. */
    minutes: integerOrZero(),
    stage: text({ enum: CANARY_STAGES }).notNull().default('released'),
    /** The ids of the canary's deliveries as JSON, until the canary is released. */
    chosen: text(),
    /** The number of recipients in the canary. */
    size: integerOrZero(),
    /** When all recipients of the canary had been tried, epoch milliseconds by the monotonic clock. */
    tried_at: integerOrZero(),
    /** Codes of holds, separated by spaces, that cannot hold the mailing again, because its owner resumed it after such a hold. */
    passed: line(),
    /** The results of the mails by recipient domain as JSON (`SeenDomains`); null before they are counted. */
    seen: text(),
  },
  (table) => [index('watched_mailings_canary').on(table.mailing_id).where(sql`stage <> 'released'`)],
);

/**
 * How many deliveries of each mailing have replies that mean the same, by state: deliveries that wait for a retry, and
 * deliveries with a final state other than accepted. The counts change in the transaction that changes the ledger.
 */
export const deliveryReasons = sqliteTable(
  'delivery_reasons',
  {
    mailing_id: integer().notNull(),
    /** A `DELIVERY_STATE`. */
    state: integer().notNull(),
    /** The reply without the parts that differ from mail to mail, as `reasonKind` returns it. */
    reason: said().notNull(),
    count: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.mailing_id, table.state, table.reason] })],
);

/**
 * The tracked links of a mailing. Their URLs may contain placeholders. The counters change in the transaction that adds the events.
 */
export const links = sqliteTable(
  'links',
  {
    mailing_id: integer().notNull(),
    number: integer().notNull(),
    /** The URL of the link, without the link parameters that the mailing adds. */
    url: text().notNull(),
    /** The URL with these parameters; null if the mailing adds none to this link. */
    target: text(),
    clicks: integerOrZero(),
    /** How many of the clicks were made by machines. */
    machine_clicks: integerOrZero(),
  },
  (table) => [
    primaryKey({ columns: [table.mailing_id, table.number] }),
    // For rules of segments about contacts who clicked a link in any mail.
    index('links_url').on(table.url),
  ],
);

/** What happened to a mail after it was sent, one row per event. */
export const events = sqliteTable(
  'events',
  {
    id: id(),
    mailing_id: integer().notNull(),
    delivery_id: integer().notNull(),
    kind: text({ enum: ['open', 'click', 'unsubscribe', 'bounce', 'complaint'] }).notNull(),
    link_number: integer(),
    /** One of `MADE_BY`; 0 for events that are neither opens nor clicks. */
    made_by: integer().$type<MadeBy>().notNull().default(0),
    /** Epoch milliseconds. */
    happened_at: integer().notNull(),
    /** For an open or a click: one of `DEVICE`; null for events of releases that did not record devices. */
    device: integer(),
  },
  (table) => [
    index('events_complaint').on(table.mailing_id, table.delivery_id).where(sql`kind = 'complaint'`),
    index('events_delivery').on(table.delivery_id),
    index('events_link').on(table.mailing_id, table.link_number, table.delivery_id).where(sql`kind = 'click'`),
  ],
);

/**
 * The number of events of a mailing by the hour. Hours without events have no row. The counts change in the transaction that
 * adds the event.
 */
export const mailingHours = sqliteTable(
  'mailing_hours',
  {
    mailing_id: integer().notNull(),
    /** The start of the hour, epoch milliseconds. */
    hour: integer().notNull(),
    opens: integerOrZero(),
    machine_opens: integerOrZero(),
    proxied_opens: integerOrZero(),
    clicks: integerOrZero(),
    machine_clicks: integerOrZero(),
    bounces: integerOrZero(),
    unsubscribes: integerOrZero(),
  },
  (table) => [primaryKey({ columns: [table.mailing_id, table.hour] })],
);

/**
 * The number of opens and clicks by people, by the kind of device. Devices without opens and clicks have no row. The counts change in the
 * transaction that adds the event.
 */
export const mailingDevices = sqliteTable(
  'mailing_devices',
  {
    mailing_id: integer().notNull(),
    /** One of `DEVICE`. */
    device: integer().notNull(),
    opens: integerOrZero(),
    clicks: integerOrZero(),
  },
  (table) => [primaryKey({ columns: [table.mailing_id, table.device] })],
);

/**
 * What the mails of a mailing had in common when they were handed off, in addition to its content: the sender, the DKIM key and so on.
 * Another row is added when one of these facts has changed, and on each day.
 */
export const sentFacts = sqliteTable(
  'sent_facts',
  {
    id: id(),
    mailing_id: integer().notNull(),
    /** `SentFacts` as JSON. */
    facts: text().notNull(),
    /** Epoch milliseconds. */
    created_at: integer().notNull(),
  },
  (table) => [index('sent_facts_created').on(table.created_at), index('sent_facts_mailing').on(table.mailing_id)],
);

/** For accounts that keep sent mails: what is needed to render a delivery's mail again, byte for byte. */
export const sentMails = sqliteTable(
  'sent_mails',
  {
    delivery_id: integer().primaryKey(),
    facts_id: integer().notNull(),
    /** The recipient's address and values, as JSON (`SentRecipient`). */
    recipient: text().notNull(),
    /** When the mail was rendered, epoch milliseconds. */
    rendered_at: integer().notNull(),
    /** The SHA-256 of the message. */
    digest: blob({ mode: 'buffer' }).notNull(),
  },
  (table) => [index('sent_mails_rendered').on(table.rendered_at)],
);

/** The newest mails of the built-in courier, which stores mails instead of sending them. */
export const outbox = sqliteTable('outbox', {
  id: id(),
  user_id: user(),
  mailing_id: integer().notNull(),
  envelope_from: text().notNull(),
  envelope_to: text().notNull(),
  /** Decoded from the header fields of the same name. */
  from: line(),
  to: line(),
  subject: text().notNull(),
  raw: blob({ mode: 'buffer' }).notNull(),
  created_at: text().notNull(),
});
