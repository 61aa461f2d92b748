/** Tables of kept contents: the templates, brand and blocks that accounts have of their own, and the contents that mails have or had. */
import { blob, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { accounts, user } from './accounts.ts';
import { id, line, stamps } from './columns.ts';
import { pictures } from './pictures.ts';

/**
 * The templates of accounts. Their ids begin at 1001, above those of the built-in ones, so that no id means both. Mails made of one have
 * a copy of its code, so that changing or deleting it leaves them as they are.
 */
export const ownTemplates = sqliteTable(
  'own_templates',
  {
    id: id(),
    user_id: user(),
    /** Identifies it in links to its design page. */
    utr: text().notNull().unique(),
    template_name: text().notNull(),
    /** MJML's JSON form; empty when the template was written as HTML. */
    json_code: line(),
    /** The HTML made from it, or the HTML as it was written. */
    html_code: text().notNull(),
    /** Bytes of both codes. */
    size: integer().notNull(),
    ...stamps(),
  },
  // Has the sizes, of which each new template needs the sum.
  (table) => [index('own_templates_user').on(table.user_id, table.id, table.size)],
);

/** What has versions: a single send, or a mail of an automation. */
const VERSION_OWNERS = ['single_send', 'automation_mail'] as const;

/**
 * The versions of mails, which triggers write whenever stored content changes: the content as it is then, and the one before where it
 * was not kept yet. What the same person changes within five minutes of a version goes into that version while it is open. A mail has
 * 20 versions at most, those of an account take 50 MiB at most, and the oldest make room. They are removed with the mail.
 */
export const mailVersions = sqliteTable(
  'mail_versions',
  {
    id: id(),
    user_id: user(),
    kind: text({ enum: VERSION_OWNERS }).notNull(),
    /** The id of the single send or the schedule. */
    owner_id: integer().notNull(),
    /** The id of the user who made it; null for a program or a design link. */
    made_by: integer(),
    /** 0: stays as it is, whatever is changed next. */
    is_open: integer().notNull(),
    /** The content as `packContent` gives it. */
    content: blob({ mode: 'buffer' }).notNull(),
    /** Bytes of `content`. */
    size: integer().notNull(),
    ...stamps(),
  },
  (table) => [
    index('mail_versions_owner').on(table.kind, table.owner_id, table.id),
    // Has the sizes, of which each new version needs the sum.
    index('mail_versions_user').on(table.user_id, table.id, table.size),
  ],
);

/** Fonts that mail programs have, or replace by a similar one. */
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

/** One row for each account that has chosen something. */
export const brands = sqliteTable('brands', {
  user_id: integer()
    .primaryKey()
    .references(() => accounts.id),
  logo_picture_id: integer().references(() => pictures.id),
  /** Such as #1d5b46; the first is that of buttons and links. */
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
    /** MJML's JSON form: a document whose body has the block alone. */
    json_code: text().notNull(),
    /** Bytes of the code. */
    size: integer().notNull(),
    ...stamps(),
  },
  // Has the sizes, of which each new block needs the sum.
  (table) => [index('saved_blocks_user').on(table.user_id, table.id, table.size)],
);

/** How many test mails were sent from a design link. A link is identified by its mail and its expiry (epoch milliseconds). */
export const designTests = sqliteTable(
  'design_tests',
  { utr: text().notNull(), until: integer().notNull(), tests: integer().notNull() },
  (table) => [primaryKey({ columns: [table.utr, table.until] })],
);

/** When the design links of a mail were revoked, epoch milliseconds: links made before that no longer work. */
export const designRevocations = sqliteTable('design_revocations', {
  utr: text().primaryKey(),
  revoked_at: integer().notNull(),
});
