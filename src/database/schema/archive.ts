/** Tables of the public archive: the page of an account, and the mails that its owner shows there. */
import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { accounts, user } from './accounts.ts';
import { singleSends } from './campaigns.ts';
import { id, line, stamps } from './columns.ts';

/** The archive of an account. It exists from the first mail in it on, and its page while there is one that anybody may read. */
export const archives = sqliteTable('archives', {
  user_id: integer()
    .primaryKey()
    .references(() => accounts.id),
  /** The part of its address that names it: random at first, or what its owner chose. */
  slug: text().notNull().unique(),
  /** What stands above its list; empty: a text of ours. */
  title: line(),
  ...stamps(),
});

/** The single sends that are in the archive of their account. A deleted one leaves it. */
export const archivedMails = sqliteTable(
  'archived_mails',
  {
    id: id(),
    user_id: user(),
    single_send_id: integer()
      .notNull()
      .unique()
      .references(() => singleSends.id, { onDelete: 'cascade' }),
    /** The part of its address that names it, random. */
    token: text().notNull().unique(),
    /** Its subject for readers, without personal fields; empty until it is published. */
    title: line(),
    /** When all of it was sent; null before that, while nobody can read it. */
    published_at: text(),
    created_at: text().notNull(),
  },
  (table) => [
    index('archived_mails_published')
      .on(table.user_id, table.published_at, table.id)
      .where(sql`published_at IS NOT NULL`),
    index('archived_mails_user').on(table.user_id),
  ],
);
