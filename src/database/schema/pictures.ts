/** Tables of the image library: pictures that mails load from this service, and where they are used. */
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { user } from './accounts.ts';
import { id, integerOrZero, line, stamps } from './columns.ts';

/** The formats of pictures, each recognized by its first bytes. */
export const PICTURE_KINDS = ['png', 'jpeg', 'gif', 'webp'] as const;

/**
 * What uses a picture: the content of a single send, the content of a mail of an automation, the frozen content of a mailing,
 * an own template, a saved block, or the brand as its logo.
 */
export const PICTURE_USES = ['single_send', 'automation_mail', 'sent_mail', 'template', 'block', 'brand'] as const;

export const pictures = sqliteTable(
  'pictures',
  {
    id: id(),
    user_id: user(),
    /**
     * 32 random hexadecimal digits that the public URL contains. They cannot be guessed, and content that uses the picture is
     * found by them.
     */
    public_id: text().notNull().unique(),
    /** SHA-256 of the bytes, hexadecimal. An account stores the same picture once. */
    hash: text().notNull(),
    kind: text({ enum: PICTURE_KINDS }).notNull(),
    width: integer().notNull(),
    height: integer().notNull(),
    /** In bytes. */
    size: integer().notNull(),
    /** The end of the public URL. It stays the same when the picture is renamed. */
    file_name: text().notNull(),
    name: text().notNull(),
    alt: line(),
    /** The number of rows of `picture_uses` by kind. Triggers on those rows update it. */
    single_sends: integerOrZero(),
    automation_mails: integerOrZero(),
    sent_mails: integerOrZero(),
    templates: integerOrZero(),
    blocks: integerOrZero(),
    brands: integerOrZero(),
    ...stamps(),
  },
  (table) => [
    uniqueIndex('pictures_hash').on(table.user_id, table.hash),
    // Covers the sizes, because each upload needs their sum.
    index('pictures_user').on(table.user_id, table.id, table.size),
  ],
);

/**
 * The bytes of pictures in parts, because one write of megabytes would block the thread. The row in `pictures` is added after the last
 * part. Parts without such a row are left by a killed upload and are removed at the next start.
 */
export const pictureParts = sqliteTable(
  'picture_parts',
  {
    public_id: text().notNull(),
    number: integer().notNull(),
    bytes: blob({ mode: 'buffer' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.public_id, table.number] })],
);

/** Which content contains the URL of which picture. Triggers update it in the transaction that saves the content. */
export const pictureUses = sqliteTable(
  'picture_uses',
  {
    id: id(),
    picture_id: integer()
      .notNull()
      .references(() => pictures.id),
    kind: text({ enum: PICTURE_USES }).notNull(),
    /** The id of the single send, the schedule, the mailing, the template, the block or the account. */
    owner_id: integer().notNull(),
    /** The subject of a mailing, because its campaign may be deleted while the picture stays; otherwise empty. */
    subject: line(),
  },
  (table) => [
    uniqueIndex('picture_uses_owner').on(table.kind, table.owner_id, table.picture_id),
    index('picture_uses_picture').on(table.picture_id),
  ],
);
