/** Tables of the picture library: pictures that mails load from this service, and where they are used. */
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { user } from './accounts.ts';
import { count, id, line, stamps } from './columns.ts';

/** The kinds of picture, each known by its bytes. */
export const PICTURE_KINDS = ['png', 'jpeg', 'gif', 'webp'] as const;

/** What uses a picture: the content of a single send, that of a mail of an automation, the frozen content of a mailing, an own template, a saved block, or the brand as
 * its logo. */
export const PICTURE_USES = ['single_send', 'automation_mail', 'sent_mail', 'template', 'block', 'brand'] as const;

export const pictures = sqliteTable(
  'pictures',
  {
    id: id(),
    user_id: user(),
    /** 32 random hexadecimal digits, which the public address contains. Nobody can guess them, and content that uses the picture is found by them. */
    public_id: text().notNull().unique(),
    /** SHA-256 of the bytes, hexadecimal: the same picture is stored once in an account. */
    hash: text().notNull(),
    kind: text({ enum: PICTURE_KINDS }).notNull(),
    width: integer().notNull(),
    height: integer().notNull(),
    /** Bytes. */
    size: integer().notNull(),
    /** The end of the public address. It stays as it is, whatever the picture is called later. */
    file_name: text().notNull(),
    name: text().notNull(),
    alt: line(),
    /** Rows of `picture_uses` by kind, which the rows themselves count. */
    single_sends: count(),
    automation_mails: count(),
    sent_mails: count(),
    templates: count(),
    blocks: count(),
    brands: count(),
    ...stamps(),
  },
  (table) => [
    uniqueIndex('pictures_hash').on(table.user_id, table.hash),
    // Has the sizes, of which each upload needs the sum.
    index('pictures_user').on(table.user_id, table.id, table.size),
  ],
);

/**
 * The bytes of pictures in parts, because one write of megabytes would hold the thread. The row in `pictures` follows the last part;
 * parts without it, which a killed upload left, are removed at the next start.
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

/** Which content contains the address of which picture. Triggers keep it whenever content is saved, in the same transaction. */
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
    /** The subject of a mailing, whose campaign may be deleted while the picture stays; otherwise empty. */
    subject: line(),
  },
  (table) => [
    uniqueIndex('picture_uses_owner').on(table.kind, table.owner_id, table.picture_id),
    index('picture_uses_picture').on(table.picture_id),
  ],
);
