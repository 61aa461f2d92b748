/** Tables of what recipients chose, beside the lists that it changes. */
import { integer, sqliteTable, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { user } from './accounts.ts';
import { id } from './columns.ts';

/**
 * With sender nodes: whose place on which list was changed in this file and is not in JetStream yet. Triggers on `unsubscribers` and
 * `suppressions` add the rows in the transaction of the change, so that no way of changing a list is forgotten. There is at most one
 * for each person and list; one that is changed again gets a new id.
 */
export const unpublishedChoices = sqliteTable(
  'unpublished_choices',
  {
    id: id(),
    user_id: user(),
    /** Without a reference, so that a row here keeps no address in the file. */
    address_id: integer().notNull(),
    /** The group; 0: all mail; -1: the list of suppressed addresses. */
    list: integer().notNull(),
    /** Epoch milliseconds. */
    changed_at: integer().notNull(),
  },
  (table) => [uniqueIndex('unpublished_choices_place').on(table.address_id, table.list)],
);
