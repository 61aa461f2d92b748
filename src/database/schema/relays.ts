/** The relays that are kept in the file: SMTP servers that mail is handed to. Also what others report of that mail: providers, sender nodes, feedback loops. */
import { blob, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { user } from './accounts.ts';
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

export const MAIL_PROVIDERS = ['ses', 'mailgun', 'postmark', 'sendgrid', 'brevo', 'sparkpost'] as const;
export type MailProvider = (typeof MAIL_PROVIDERS)[number];

/** Why a request of a mail provider is refused. */
export const REFUSALS = ['signature', 'expired', 'login', 'topic', 'malformed'] as const;

/** One address below /hooks/in that an account gave to a provider. It is changed by src/delivery/feedback/providers/intakes.ts alone. */
export const providerIntakes = sqliteTable(
  'provider_intakes',
  {
    id: id(),
    user_id: user(),
    provider: text({ enum: MAIL_PROVIDERS }).notNull(),
    /** The signing key, verification key or password of the requests, sealed; null where the address alone is the secret. */
    sealed_secret: text(),
    /** Amazon SNS: the topic that was confirmed first, the only one accepted from then on. */
    topic: text(),
    /** How many events had which effect. */
    permanent: count(),
    returned: count(),
    temporary: count(),
    complaints: count(),
    unsubscribes: count(),
    /** Events without a meaning here, such as deliveries. */
    others: count(),
    /** Events about addresses that the account does not know. */
    unmatched: count(),
    duplicates: count(),
    /** The provider's name of the last event. */
    last_event: text(),
    last_event_at: text(),
    refused: count(),
    last_refusal: text({ enum: REFUSALS }),
    last_refused_at: text(),
    /** How many rows of provider_event_keys it has. */
    remembered: count(),
    created_at: text().notNull(),
  },
  (table) => [index('provider_intakes_user').on(table.user_id, table.id)],
);

/** Hashes of the events that were taken in lately, so that a repeated one changes nothing. */
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

/** Some claimed recipients of one mailing that one node was given, until it has reported all of them. */
export const nodePages = sqliteTable('node_pages', {
  id: id(),
  /** The run of the node: a node that is started again has another. */
  run: text().notNull(),
  mailing_id: integer().notNull(),
  /** JSON: the ids of the deliveries. A delivery that is on several pages belongs to the newest. */
  deliveries: text().notNull(),
});

/**
 * sending: takes mail; waiting: is there but takes none, since it is not known yet or of another release; draining: was told to end
 * and finishes what is in flight; refused: its relays take no mail from it; silent: was not heard of for longer than its lease.
 */
export const NODE_STATES = ['sending', 'waiting', 'draining', 'refused', 'silent'] as const;
export type NodeState = (typeof NODE_STATES)[number];

/** A node that is there, or was not heard of for too long. One that said good-bye is removed. */
export const senderNodes = sqliteTable('sender_nodes', {
  /** A node that is started again is another run. */
  run: text().primaryKey(),
  name: text().notNull(),
  version: line(),
  state: text({ enum: NODE_STATES }).notNull(),
  /** What its relays said when they refused its mail. */
  refusal: line(),
  /** Mails a second that its relays took lately. */
  rate: count(),
  /** How many recipients it takes at a time, and how many of them it has. */
  capacity: count(),
  load: count(),
  /** When it was last heard, and until when it may begin mails, epoch milliseconds; 0: not at all. */
  heard_at: integer().notNull(),
  lease_until: count(),
});

/** What a node was given on a day, UTC, and how it ended. */
export const nodeDays = sqliteTable(
  'node_days',
  {
    name: text().notNull(),
    /** YYYY-MM-DD. */
    day: text().notNull(),
    /** The most it may be given that day; null without a warm-up. */
    ceiling: integer(),
    /** Recipients it was given, without those it gave back. */
    given: count(),
    accepted: count(),
    deferred: count(),
    refused: count(),
  },
  (table) => [primaryKey({ columns: [table.name, table.day] })],
);

/** The addresses at the domain of return paths that belong to the installation: of feedback loops (RFC 5965), and of RFC 2142. */
export const ROLE_MAILBOXES = ['fbl', 'abuse', 'postmaster'] as const;
export type RoleMailbox = (typeof ROLE_MAILBOXES)[number];

/** Mail to these addresses in which no mail of ours was recognized. Rows are added and removed by src/delivery/feedback/bounces/kept-mails.ts alone. */
export const roleMails = sqliteTable('role_mails', {
  id: id(),
  mailbox: text({ enum: ROLE_MAILBOXES }).notNull(),
  /** From the header; without markup and control characters, like what follows. */
  sender: line(),
  subject: line(),
  /** Its beginning. */
  text: line(),
  created_at: text().notNull(),
});
