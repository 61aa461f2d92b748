/** The table of deleted records that can be restored. src/database/deleted-records.ts owns it. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { user } from './accounts.ts';

/** The template, the form and the saved block that an account deleted last. Each was removed from its own table. */
export const deletedRecords = sqliteTable(
  'deleted_records',
  {
    user_id: user(),
    /** The table that the record was in. */
    kind: text().notNull(),
    record_id: integer().notNull(),
    /** The row as it was, as JSON. */
    content: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.user_id, table.kind] })],
);
