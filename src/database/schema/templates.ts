/** Tables of stored contents: the accounts' own templates, brand and blocks, and earlier contents of mails. */
import { blob, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { accounts, user } from './accounts.ts';
import type { LanguageVersion } from './campaigns.ts';
import { id, line, stamps } from './columns.ts';
import { pictures } from './pictures.ts';

/**
 * The accounts' own templates. Their ids begin at 1001, above those of the built-in ones, so that an id identifies one
 * template. A mail made from a template has a copy of its code, so changing or deleting the template does not change the mail.
 */
export const ownTemplates = sqliteTable(
  'own_templates',
  {
    id: id(),
    user_id: user(),
    /** Identifies the template in links to its design page. */
    utr: text().notNull().unique(),
    template_name: text().notNull(),
    /** MJML's JSON form; empty for a template written as HTML. */
    json_code: line(),
    /** The HTML made from the MJML, or the HTML as written. */
    html_code: text().notNull(),
    /** The size of both codes in bytes. */
    size: integer().notNull(),
    /** The template's versions in other languages, for transactional mails; null: no versions. */
    languages: text({ mode: 'json' }).$type<LanguageVersion[]>(),
    ...stamps(),
  },
  // Covers the sizes, because each new template needs their sum.
  (table) => [index('own_templates_user').on(table.user_id, table.id, table.size)],
);

/** What has versions: a single send, or a mail of an automation. */
const VERSION_OWNERS = ['single_send', 'automation_mail'] as const;

/**
 * Earlier contents of mails. Triggers write a version whenever stored content changes: the new content, and the previous one if it
 * was not stored yet. A change by the same user within five minutes replaces the newest version while that version is open. A mail has
 * at most 20 versions and an account at most 50 MiB of versions; the oldest are removed first. A mail's versions are removed with the mail.
 */
export const mailVersions = sqliteTable(
  'mail_versions',
  {
    id: id(),
    user_id: user(),
    kind: text({ enum: VERSION_OWNERS }).notNull(),
    /** The id of the single send or the schedule. */
    owner_id: integer().notNull(),
    /** The id of the user who made the version; null for a program or a design link. */
    made_by: integer(),
    /** 0: later changes do not replace this version. */
    is_open: integer().notNull(),
    /** The content as `packContent` returns it. */
    content: blob({ mode: 'buffer' }).notNull(),
    /** The size of `content` in bytes. */
    size: integer().notNull(),
    ...stamps(),
  },
  (table) => [
    index('mail_versions_owner').on(table.kind, table.owner_id, table.id),
    // Covers the sizes, because each new version needs their sum.
    index('mail_versions_user').on(table.user_id, table.id, table.size),
  ],
);

/** Fonts that mail programs have or replace by a similar one. */
export const BRAND_FONTS = [
  'Arial',
  'Verdana',
  'Tahoma',
  'Trebuchet MS',
  'Georgia',
  'Times New Roman',
  'Courier New',
] as const;
export const BUTTON_SHAPES = ['square', 'rounded', 'pill'] as const;

/** One row for each account that has changed its brand. */
export const brands = sqliteTable('brands', {
  user_id: integer()
    .primaryKey()
    .references(() => accounts.id),
  logo_picture_id: integer().references(() => pictures.id),
  /** Colours such as #1d5b46. The first one is for buttons and links. */
  colours: text({ mode: 'json' }).$type<string[]>().notNull(),
  text_font: text({ enum: BRAND_FONTS }).notNull(),
  heading_font: text({ enum: BRAND_FONTS }).notNull(),
  button_shape: text({ enum: BUTTON_SHAPES }).notNull(),
  ...stamps(),
});

export const savedBlocks = sqliteTable(
  'saved_blocks',
  {
    id: id(),
    user_id: user(),
    block_name: text().notNull(),
    /** MJML's JSON form: a document whose body contains only the block. */
    json_code: text().notNull(),
    /** The size of the code in bytes. */
    size: integer().notNull(),
    ...stamps(),
  },
  // Covers the sizes, because each new block needs their sum.
  (table) => [index('saved_blocks_user').on(table.user_id, table.id, table.size)],
);

/** How many test mails were sent from a design link. The mail and the expiry (epoch milliseconds) identify a link. */
export const designTests = sqliteTable(
  'design_tests',
  { utr: text().notNull(), until: integer().notNull(), tests: integer().notNull() },
  (table) => [primaryKey({ columns: [table.utr, table.until] })],
);

/** When the design links of a mail were revoked, epoch milliseconds. Links made before that no longer work. */
export const designRevocations = sqliteTable('design_revocations', {
  utr: text().primaryKey(),
  revoked_at: integer().notNull(),
});
