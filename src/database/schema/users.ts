/**
 * Tables of users. A user is a person who signs in. Here, `account_id` is the account whose data they work with, and `user_id`
 * is the person. (In the tables that the contract shapes, `user_id` is the account.)
 */
import { blob, index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { accounts } from './accounts.ts';
import { id, line, said, stamps } from './columns.ts';

/**
 * What a user may do, from least to most: a viewer changes nothing; an editor changes everything but settings, keys, users and senders.
 */
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
  /** Users sign in with the e-mail address alone, so an address belongs to one user of the whole installation. */
  normalized_email: text().notNull().unique(),
  name: line(),
  role: text({ enum: ROLES }).notNull(),
  /** Null until the invitation is accepted; until then the user cannot sign in with a password. */
  password_hash: text(),
  /** The secret from which one-time codes are computed, in base32; null without two-factor authentication. */
  totp_secret: text(),
  /** The 30-second step of the last used code, so that no code works twice. */
  totp_last_step: integer().notNull().default(0),
  /** SHA-256 hashes of the unused recovery codes. */
  recovery_hashes: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
  /** The language of the dashboard; empty: the browser's language. */
  language: line(),
  /** 1: single keys such as `/` are shortcuts in the dashboard. */
  shortcuts: integer().notNull().default(1),
  /** The colour scheme of the dashboard; system: the scheme that the browser asks for. */
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
    /** The network address from which the user signed in. */
    address: line(),
    user_agent: line(),
  },
  (table) => [index('sessions_user').on(table.user_id)],
);

/** One-time links for choosing a password. */
export const loginLinks = sqliteTable(
  'login_links',
  {
    id: id(),
    account_id: accountId(),
    /** Null: the person who opens the link becomes the account's first owner. */
    user_id: integer().references(() => users.id, { onDelete: 'cascade' }),
    token_hash: text().notNull().unique(),
    /** 1: the link also switches two-factor authentication off, for a user who has lost the second factor. */
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
    /** The authenticator's signature counter; 0 if it has none. */
    counter: integer().notNull().default(0),
    transports: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
    name: line(),
    created_at: text().notNull(),
    last_used_at: text(),
  },
  (table) => [index('passkeys_user').on(table.user_id)],
);

/** The audit log: who signed in and who changed users, keys and settings. Entries stay when their users are removed. */
export const auditLog = sqliteTable(
  'audit_log',
  {
    id: id(),
    account_id: accountId(),
    /**
     * The user, or null for a key pair, the command line and failed attempts of unknown persons. Not a foreign key, so that the row stays.
     */
    user_id: integer(),
    /** The user's e-mail address, the public key, or `command line`. */
    actor: said().notNull().default(''),
    action: text().notNull(),
    /** The object of the action, such as the address of a user or a public key. */
    subject: said().notNull().default(''),
    /** The network address of the caller. */
    address: line(),
    /** How often the action happened. Attempts from one address are counted in one row. */
    times: integer().notNull().default(1),
    created_at: text().notNull(),
  },
  (table) => [
    index('audit_log_account').on(table.account_id),
    index('audit_log_actions').on(table.account_id, table.action),
    index('audit_log_sign_ins').on(table.user_id, table.action, table.address),
  ],
);
