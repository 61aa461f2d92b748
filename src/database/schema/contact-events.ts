/**
 * Tables of the events that other programs report about contacts, such as a purchase. src/audience/events/ owns them. Opens,
 * clicks and bounces are in `events` (delivery.ts), because they belong to a delivery.
 */
import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, real, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { user } from './accounts.ts';
import { address } from './audience.ts';
import { id, integerOrZero } from './columns.ts';

/** The names of events and of their properties. Events refer to them by id, so that each name is stored once per account. */
export const eventWords = sqliteTable(
  'event_words',
  {
    id: id(),
    user_id: user(),
    word: text().notNull(),
    /** How many events with this name were recorded, including removed events; 0 for the name of a property. */
    events: integerOrZero(),
    /** When the last event with this name happened, epoch milliseconds; 0 for the name of a property. */
    last_at: integerOrZero(),
  },
  (table) => [uniqueIndex('event_words_word').on(table.user_id, table.word)],
);

/** Reported events. Each is removed after EVENTS_DAYS. */
export const contactEvents = sqliteTable(
  'contact_events',
  {
    id: id(),
    user_id: user(),
    address_id: address(),
    /** The id of the name in `event_words`. */
    name_id: integer().notNull(),
    /** Epoch milliseconds. */
    happened_at: integer().notNull(),
    /** The key that the reporting program gave the event: a second event with the same key is not recorded. */
    event_key: text(),
    value: real(),
    /** The currency of `value`, as an ISO 4217 code. */
    currency: text(),
    /** A JSON object of texts and numbers by the id of the property's name; null without properties. */
    properties: text(),
  },
  (table) => [
    uniqueIndex('contact_events_key').on(table.user_id, table.event_key).where(sql`event_key IS NOT NULL`),
    index('contact_events_person').on(table.address_id, table.happened_at, table.name_id),
    index('contact_events_time').on(table.happened_at),
    index('contact_events_name').on(table.name_id, table.happened_at),
  ],
);

/** How often each event happened to each contact. These counters stay when events are removed. */
export const eventTotals = sqliteTable(
  'event_totals',
  {
    address_id: address(),
    name_id: integer().notNull(),
    events: integerOrZero(),
    /** The sum of the values of these events. */
    value: real().notNull().default(0),
    /** When the last of these events happened, epoch milliseconds. */
    last_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.address_id, table.name_id] })],
);
