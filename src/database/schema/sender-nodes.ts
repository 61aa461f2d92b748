/** The sender nodes, and the recipients that each of them has. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { id, integerOrZero, line } from './columns.ts';

/** A page: some claimed recipients of one mailing that were given to one node, until it has reported all of them. */
export const nodePages = sqliteTable('node_pages', {
  id: id(),
  /** The run of the node: a restarted node is another run. */
  run: text().notNull(),
  mailing_id: integer().notNull(),
  /** The ids of the deliveries as JSON. A delivery that is on several pages belongs to the newest. */
  deliveries: text().notNull(),
});

/**
 * sending: takes mail; waiting: is connected but takes no mail, because it is not accepted yet or belongs to another release; draining:
 * was told to stop and finishes the mail in flight; refused: its relays refuse its mail; silent: no message for longer than its lease.
 */
export const NODE_STATES = ['sending', 'waiting', 'draining', 'refused', 'silent'] as const;
export type NodeState = (typeof NODE_STATES)[number];

/** A node that is connected, or was silent for too long. A node that signed off is removed. */
export const senderNodes = sqliteTable('sender_nodes', {
  /** The run of the node: a restarted node is another run. */
  run: text().primaryKey(),
  name: text().notNull(),
  version: line(),
  state: text({ enum: NODE_STATES }).notNull(),
  /** The reply with which its relays refused its mail. */
  refusal: line(),
  /** Mails per second that its relays accepted recently. */
  rate: integerOrZero(),
  /** How many recipients the node takes at a time. */
  capacity: integerOrZero(),
  /** How many recipients the node has now. */
  load: integerOrZero(),
  /** When the node's last message came, epoch milliseconds. */
  heard_at: integer().notNull(),
  /** When the node's right to begin mails ends, epoch milliseconds; 0: it may not begin any mail. */
  lease_until: integerOrZero(),
});

/** The recipients that a node was given on a day (UTC), and their results. */
export const nodeDays = sqliteTable(
  'node_days',
  {
    name: text().notNull(),
    /** YYYY-MM-DD. */
    day: text().notNull(),
    /** The maximum number of recipients that the node may be given on that day; null without a warm-up. */
    ceiling: integer(),
    /** The number of recipients that the node was given, not counting those it gave back. */
    given: integerOrZero(),
    accepted: integerOrZero(),
    deferred: integerOrZero(),
    refused: integerOrZero(),
  },
  (table) => [primaryKey({ columns: [table.name, table.day] })],
);
