/** Tables of webhooks: the endpoints of accounts, their events, events that wait for a retry, and the log. */
import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { user } from './accounts.ts';
import { flag, id, integerOrZero, line, said, stamps } from './columns.ts';

/** Why an endpoint is disabled: by its owner, no event arrived for three days, it answered 410, or too many events wait. */
export const WEBHOOK_DISABLED_CODES = ['by_owner', 'failing', 'gone', 'too_many'] as const;

export const webhookEndpoints = sqliteTable(
  'webhook_endpoints',
  {
    id: id(),
    user_id: user(),
    url: text().notNull(),
    note: line(),
    /** The types of events that the endpoint receives. */
    events: text({ mode: 'json' }).$type<string[]>().notNull(),
    state: text({ enum: ['enabled', 'disabled'] }).notNull(),
    disabled_code: text({ enum: WEBHOOK_DISABLED_CODES }),
    /** Sealed by src/delivery/transport/relays/sealing.ts. */
    sealed_secret: text().notNull(),
    /** The secret before the last rotation. It also signs until `previous_until`, epoch milliseconds. */
    previous_sealed_secret: text(),
    previous_until: integerOrZero(),
    /** The id of the event up to which all events were delivered or put into webhook_waiting. */
    position: integerOrZero(),
    /** How many attempts have failed since the last successful one. */
    failures: integerOrZero(),
    /** When an attempt last succeeded, and when an attempt last failed, epoch milliseconds; null: never. */
    succeeded_at: integer(),
    failed_at: integer(),
    ...stamps(),
  },
  (table) => [index('webhook_endpoints_user').on(table.user_id, table.id)],
);

/**
 * The types of events that the enabled endpoints of an account ask for. Triggers (drizzle/triggers.sql) and `record-events.ts` write an event
 * only if its type is in this table, so that accounts without endpoints cost only one lookup in an empty index.
 */
export const webhookWants = sqliteTable(
  'webhook_wants',
  { user_id: integer().notNull(), event: text().notNull() },
  (table) => [primaryKey({ columns: [table.user_id, table.event] })],
);

/** Events, written in the transaction in which they happened. A row is never changed, except when its contact is erased. */
export const webhookEvents = sqliteTable(
  'webhook_events',
  {
    id: id(),
    user_id: integer().notNull(),
    type: text().notNull(),
    /** Events with the same lane are delivered in order: the address id of a contact, or minus the id of a single send; 0: neither. */
    lane: integer().notNull(),
    /** What the event is about, as JSON. */
    data: text().notNull(),
    /** Epoch milliseconds. */
    created_at: integer().notNull().default(sql`(CAST(unixepoch('subsec') * 1000 AS INTEGER))`),
  },
  (table) => [index('webhook_events_user').on(table.user_id, table.id), index('webhook_events_lane').on(table.lane)],
);

/** Events that one endpoint must still receive although its position is beyond them. */
export const webhookWaiting = sqliteTable(
  'webhook_waiting',
  {
    endpoint_id: integer().notNull(),
    event_id: integer().notNull(),
    lane: integer().notNull(),
    /** How many attempts have failed. */
    attempts: integerOrZero(),
    /** When the next attempt is due, epoch milliseconds; null while the event waits for an earlier event of its lane. */
    due_at: integer(),
    /** When the first attempt failed, epoch milliseconds; null: none has failed. */
    failed_since: integer(),
    /** 1: a test or a replay, which is tried once, whatever the state of the endpoint, and delays no other event. */
    is_manual: flag(),
  },
  (table) => [
    primaryKey({ columns: [table.endpoint_id, table.event_id, table.is_manual] }),
    index('webhook_waiting_due').on(table.endpoint_id, table.due_at).where(sql`due_at IS NOT NULL`),
    index('webhook_waiting_lane').on(table.endpoint_id, table.lane, table.event_id).where(sql`is_manual = 0`),
    index('webhook_waiting_event').on(table.event_id),
  ],
);

/** The latest attempts of each endpoint, those that succeeded and those that failed. */
export const webhookLog = sqliteTable(
  'webhook_log',
  {
    id: id(),
    endpoint_id: integer().notNull(),
    event_id: integer().notNull(),
    type: text().notNull(),
    /** 1 for the first attempt. */
    attempt: integer().notNull(),
    is_success: integer().$type<0 | 1>().notNull(),
    /** The HTTP status; 0: there was no answer. */
    status: integer().notNull(),
    /** The beginning of the response, or why none came or was accepted; empty after a success. */
    reply: said().notNull().default(''),
    took_ms: integer().notNull(),
    /** When the attempt was made, epoch milliseconds. */
    at: integer().notNull(),
  },
  (table) => [
    index('webhook_log_endpoint').on(table.endpoint_id, table.is_success, table.id),
    index('webhook_log_event').on(table.event_id).where(sql`reply <> ''`),
  ],
);
