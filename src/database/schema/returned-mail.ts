/** What providers report about mail that was sent, and mail to the role mailboxes, such as reports of feedback loops. */
import { blob, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { user } from './accounts.ts';
import { id, integerOrZero, line } from './columns.ts';

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
    /** For Amazon SNS: the topic that was confirmed first. Only this topic is accepted from then on. */
    topic: text(),
    /** The number of events by their effect (`Effect` in src/delivery/feedback/providers/provider-event.ts). */
    permanent: integerOrZero(),
    returned: integerOrZero(),
    temporary: integerOrZero(),
    complaints: integerOrZero(),
    unsubscribes: integerOrZero(),
    /** Events that have no effect here, such as deliveries. */
    others: integerOrZero(),
    /** Events about addresses that the account does not know. */
    unmatched: integerOrZero(),
    duplicates: integerOrZero(),
    /** The provider's name for the last event. */
    last_event: text(),
    last_event_at: text(),
    refused: integerOrZero(),
    last_refusal: text({ enum: REFUSALS }),
    last_refused_at: text(),
    /** The number of the intake's rows in provider_event_keys. */
    remembered: integerOrZero(),
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
  /** The header field From. Like `subject` and `text`, it has no markup and no control characters. */
  sender: line(),
  subject: line(),
  /** The beginning of the mail's text. */
  text: line(),
  created_at: text().notNull(),
});
