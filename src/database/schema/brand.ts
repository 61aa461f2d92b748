/** Tables of what mails of an account have in common: its brand, and blocks that were kept to be used again. */
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { accounts, user } from './accounts.ts';
import { id, stamps } from './columns.ts';
import { pictures } from './pictures.ts';

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
