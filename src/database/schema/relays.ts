/** The relays that are kept in the file: SMTP servers that mail is handed to. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { count, id, line, stamps } from './columns.ts';

/** implicit: TLS from the first byte; starttls: STARTTLS or no mail; none: no TLS is asked for. */
export const RELAY_SECURITY = ['implicit', 'starttls', 'none'] as const;
export type RelaySecurity = (typeof RELAY_SECURITY)[number];

export const relays = sqliteTable('relays', {
  id: id(),
  name: text().notNull(),
  /** In lower case and ASCII form; an IPv6 address without brackets. */
  host: text().notNull(),
  port: integer().notNull(),
  security: text({ enum: RELAY_SECURITY }).notNull(),
  /** Empty: no login. */
  username: line(),
  /** See src/delivery/transport/relays/sealing.ts; null without a login. */
  sealed_password: text(),
  /** Mails a second, at most; 0: no limit. */
  rate: count(),
  /** The most connections at a time. */
  connections: integer().notNull(),
  /** Mail goes to the first in this order that works. */
  position: integer().notNull(),
  /** When it last took a mail, when a test of it last passed, and when and why it last failed; see src/delivery/queue/relay-use.ts. */
  accepted_at: text(),
  answered_at: text(),
  failed_at: text(),
  failure: text(),
  ...stamps(),
});
