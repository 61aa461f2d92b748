/**
 * The stored relays: SMTP servers that mail is handed to. Also what providers, sender nodes and feedback loops report about that mail.
 */
import { blob, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { user } from './accounts.ts';
import { count, id, line, stamps } from './columns.ts';

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
  /** Empty: no login. */
  username: line(),
  /** Sealed by src/delivery/transport/relays/sealing.ts; null without a login. */
  sealed_password: text(),
  /** The maximum number of mails per second; 0: no limit. */
  rate: count(),
  /** The maximum number of connections at a time. */
  connections: integer().notNull(),
  /** Mail goes to the first working relay in this order. */
  position: integer().notNull(),
  /** When it last accepted a mail, when its last test passed, and when and why it last failed; see src/delivery/queue/relay-use.ts. */
  accepted_at: text(),
  answered_at: text(),
  failed_at: text(),
  failure: text(),
  ...stamps(),
});

export const MAIL_PROVIDERS = ['ses', 'mailgun', 'postmark', 'sendgrid', 'brevo', 'sparkpost'] as const;
export type MailProvider = (typeof MAIL_PROVIDERS)[number];

/** Why a request of a mail provider was refused. */
export const REFUSALS = ['signature', 'expired', 'login', 'topic', 'malformed'] as const;

/** One URL below /hooks/in that an account gave to a provider. Only src/delivery/feedback/providers/intakes.ts changes it. */
export const providerIntakes = sqliteTable(
  'provider_intakes',
  {
    id: id(),
    user_id: user(),
    provider: text({ enum: MAIL_PROVIDERS }).notNull(),
    /** The signing key, verification key or password of the requests, sealed; null if the URL alone is the secret. */
    sealed_secret: text(),
    /** Amazon SNS: the topic that was confirmed first. Only this topic is accepted from then on. */
    topic: text(),
    /** How many events had which effect. */
    permanent: count(),
    returned: count(),
    temporary: count(),
    complaints: count(),
    unsubscribes: count(),
    /** Events that have no effect here, such as deliveries. */
    others: count(),
    /** Events about addresses that the account does not know. */
    unmatched: count(),
    duplicates: count(),
    /** The provider's name for the last event. */
    last_event: text(),
    last_event_at: text(),
    refused: count(),
    last_refusal: text({ enum: REFUSALS }),
    last_refused_at: text(),
    /** The number of its rows in provider_event_keys. */
    remembered: count(),
    created_at: text().notNull(),
  },
  (table) => [index('provider_intakes_user').on(table.user_id, table.id)],
);

/** Hashes of recently processed events, so that a repeated event changes nothing. */
export const providerEventKeys = sqliteTable(
  'provider_event_keys',
  {
    intake_id: integer()
      .notNull()
      .references(() => providerIntakes.id, { onDelete: 'cascade' }),
    key: blob({ mode: 'buffer' }).notNull(),
    /** Epoch milliseconds. */
    seen_at: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.intake_id, table.key] }),
    index('provider_event_keys_age').on(table.intake_id, table.seen_at),
  ],
);

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
  /** A restarted node is another run. */
  run: text().primaryKey(),
  name: text().notNull(),
  version: line(),
  state: text({ enum: NODE_STATES }).notNull(),
  /** The reply with which its relays refused its mail. */
  refusal: line(),
  /** Mails per second that its relays accepted recently. */
  rate: count(),
  /** How many recipients it takes at a time, and how many of them it has. */
  capacity: count(),
  load: count(),
  /** When its last message came, and until when it may begin mails, epoch milliseconds; 0: it may not begin any. */
  heard_at: integer().notNull(),
  lease_until: count(),
});

/** The recipients that a node was given on a day (UTC), and their results. */
export const nodeDays = sqliteTable(
  'node_days',
  {
    name: text().notNull(),
    /** YYYY-MM-DD. */
    day: text().notNull(),
    /** The most recipients it may be given on that day; null without a warm-up. */
    ceiling: integer(),
    /** Recipients that it was given, not counting those it gave back. */
    given: count(),
    accepted: count(),
    deferred: count(),
    refused: count(),
  },
  (table) => [primaryKey({ columns: [table.name, table.day] })],
);

/** Mailboxes at the domain of return paths that belong to the installation: for feedback loops (RFC 5965), and those of RFC 2142. */
export const ROLE_MAILBOXES = ['fbl', 'abuse', 'postmaster'] as const;
export type RoleMailbox = (typeof ROLE_MAILBOXES)[number];

/**
 * Mail to these mailboxes that could not be matched to a mail of this installation. Only
 * src/delivery/feedback/bounces/kept-mails.ts adds and removes rows.
 */
export const roleMails = sqliteTable('role_mails', {
  id: id(),
  mailbox: text({ enum: ROLE_MAILBOXES }).notNull(),
  /** From the header; without markup and control characters, like the next columns. */
  sender: line(),
  subject: line(),
  /** The beginning of its text. */
  text: line(),
  created_at: text().notNull(),
});
