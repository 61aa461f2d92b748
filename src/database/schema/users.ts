/**
 * Tables of the people who sign in. A user is a person; the account whose data they work with is `account_id` here, while `user_id`
 * is the person. (In the tables that the contract shapes, `user_id` is the account.)
 */
import { blob, index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { accounts } from './accounts.ts';
import { id, line, said, stamps } from './columns.ts';

/** What a user may do: a viewer changes nothing, an editor changes no settings, keys, users and senders. From least to most. */
export const ROLES = ['viewer', 'editor', 'owner'] as const;
export type Role = (typeof ROLES)[number];

export const COLOUR_SCHEMES = ['system', 'light', 'dark'] as const;
export type ColourScheme = (typeof COLOUR_SCHEMES)[number];

const accountId = () =>
  integer()
    .notNull()
    .references(() => accounts.id, { onDelete: 'cascade' });

export const users = sqliteTable('users', {
  id: id(),
  account_id: accountId(),
  email: text().notNull(),
  /** A person signs in with the e-mail address alone, so one address is one user of the whole installation. */
  normalized_email: text().notNull().unique(),
  name: line(),
  role: text({ enum: ROLES }).notNull(),
  /** Null until the invitation was followed: nobody can sign in with a password. */
  password_hash: text(),
  /** In base32; null without a second factor. */
  totp_secret: text(),
  /** The 30-second step of the last code that was used, so that no code works twice. */
  totp_last_step: integer().notNull().default(0),
  /** SHA-256 of the recovery codes that are not used yet. */
  recovery_hashes: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
  /** Language of the dashboard; empty: what the browser asks for. */
  language: line(),
  /** Whether single keys such as `/` do something in the dashboard. */
  shortcuts: integer().notNull().default(1),
  /** Colours of the dashboard; system: as the browser asks for. */
  colour_scheme: text({ enum: COLOUR_SCHEMES }).notNull().default('system'),
  ...stamps(),
});

const userId = () =>
  integer()
    .notNull()
    .references(() => users.id, { onDelete: 'cascade' });

export const sessions = sqliteTable(
  'sessions',
  {
    id: id(),
    user_id: userId(),
    token_hash: text().notNull().unique(),
    created_at: text().notNull(),
    last_seen_at: text().notNull(),
    address: line(),
    user_agent: line(),
  },
  (table) => [index('sessions_user').on(table.user_id)],
);

/** One-time links to choose a password. */
export const loginLinks = sqliteTable(
  'login_links',
  {
    id: id(),
    account_id: accountId(),
    /** Null: whoever follows the link becomes the account's first owner. */
    user_id: integer().references(() => users.id, { onDelete: 'cascade' }),
    token_hash: text().notNull().unique(),
    /** 1: following it also switches the second factor off, for a person who has lost it. */
    resets_second_factor: integer().notNull().default(0),
    created_at: text().notNull(),
    expires_at: text().notNull(),
    used_at: text(),
  },
  (table) => [index('login_links_user').on(table.user_id)],
);

export const passkeys = sqliteTable(
  'passkeys',
  {
    id: id(),
    user_id: userId(),
    credential_id: text().notNull().unique(),
    public_key: blob({ mode: 'buffer' }).notNull(),
    /** The authenticator's signature counter; 0 where it has none. */
    counter: integer().notNull().default(0),
    transports: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
    name: line(),
    created_at: text().notNull(),
    last_used_at: text(),
  },
  (table) => [index('passkeys_user').on(table.user_id)],
);

/** Who signed in and who changed users, keys and settings. It outlives the users it names. */
export const auditLog = sqliteTable(
  'audit_log',
  {
    id: id(),
    account_id: accountId(),
    /** The person, or null for a key pair, the command line and attempts of nobody we know. Not a reference: the row stays. */
    user_id: integer(),
    /** The person's e-mail address, the public key, or `command line`. */
    actor: said().notNull().default(''),
    action: text().notNull(),
    /** What was acted on, such as the address of a user or a public key. */
    subject: said().notNull().default(''),
    /** Network address of the caller. */
    address: line(),
    /** How often it happened: attempts from one address are counted in one row. */
    times: integer().notNull().default(1),
    created_at: text().notNull(),
  },
  (table) => [
    index('audit_log_account').on(table.account_id),
    index('audit_log_actions').on(table.account_id, table.action),
    index('audit_log_sign_ins').on(table.user_id, table.action, table.address),
  ],
);
