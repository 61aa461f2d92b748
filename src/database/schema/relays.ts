/** The stored relays: SMTP servers that mail is handed to. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { id, integerOrZero, line, stamps } from './columns.ts';

/** implicit: TLS from the first byte; starttls: STARTTLS is required; none: no TLS. */
export const RELAY_SECURITY = ['implicit', 'starttls', 'none'] as const;
export type RelaySecurity = (typeof RELAY_SECURITY)[number];

export const relays = sqliteTable('relays', {
  id: id(),
  name: text().notNull(),
  /** In lower case and ASCII form; an IPv6 address has no brackets. */
  host: text().notNull(),
  port: integer().notNull(),
  security: text({ enum: RELAY_SECURITY }).notNull(),
  /** Empty if the relay needs no login. */
  username: line(),
  /** Sealed by src/delivery/transport/relays/sealing.ts; null without a login. */
  sealed_password: text(),
  /** The maximum number of mails per second; 0: no limit. */
  rate: integerOrZero(),
  /** The maximum number of connections at a time. */
  connections: integer().notNull(),
  /** Mail goes to the first working relay in this order. */
  position: integer().notNull(),
  // src/delivery/queue/relay-use.ts writes the following columns.
  /** When the relay last accepted a mail. */
  accepted_at: text(),
  /** When the relay last passed a test. */
  answered_at: text(),
  /** When the relay last failed. */
  failed_at: text(),
  /** Why the relay last failed. */
  failure: text(),
  ...stamps(),
});
