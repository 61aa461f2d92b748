/** Tables of what undoing an import needs. They are written with its contacts and removed 30 days later; src/audience/import/ owns them. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/**
 * The contacts an import added, as ranges of ids: one transaction adds some thousand in a row, and no other writes meanwhile. A range
 * may have ids that nobody got.
 */
export const importAdded = sqliteTable(
  'import_added',
  { import_id: integer().notNull(), first_id: integer().notNull(), last_id: integer().notNull() },
  (table) => [primaryKey({ columns: [table.import_id, table.first_id] })],
);

/** What an import changed for a person, as it was before. */
export const importChanges = sqliteTable(
  'import_changes',
  {
    import_id: integer().notNull(),
    address_id: integer().notNull(),
    /** What `row_id` names: a contact, a row of segment_recipients, or one of unsubscribers. */
    kind: text({ enum: ['contact', 'member', 'unsubscribed'] }).notNull(),
    row_id: integer().notNull(),
    /** The columns that were changed as they were before, as JSON; null where the import added the row. */
    before: text(),
  },
  (table) => [primaryKey({ columns: [table.import_id, table.address_id, table.kind, table.row_id] })],
);

/** Contacts that an undo left as they were, because they were changed after the import. */
export const importKept = sqliteTable(
  'import_kept',
  {
    import_id: integer().notNull(),
    contact_id: integer().notNull(),
    /** segment: they were added to a segment by hand. */
    reason: text({ enum: ['changed', 'moved', 'deleted', 'segment'] }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.import_id, table.contact_id] })],
);
