/** Tables of what happened with people that no other table tells. */
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { address } from './audience.ts';
import { id } from './columns.ts';

/**
 * Who was in a segment and left it by its rules, from when to when, for the timeline of a person. Who is in it now has a row in
 * `segment_recipients`, so that joining, which an import does for thousands, writes nothing more.
 */
export const segmentLeaves = sqliteTable(
  'segment_leaves',
  {
    id: id(),
    /** Without a reference, which would look through the leaves of all segments when one is purged. */
    segment_id: integer().notNull(),
    address_id: address(),
    joined_at: text().notNull(),
    left_at: text().notNull(),
  },
  (table) => [index('segment_leaves_address').on(table.address_id)],
);

/** Moves of contacts to another contact type, for the timeline of a person. */
export const contactMoves = sqliteTable(
  'contact_moves',
  {
    id: id(),
    contact_id: integer().notNull(),
    from_type_id: integer().notNull(),
    to_type_id: integer().notNull(),
    created_at: text().notNull(),
  },
  (table) => [index('contact_moves_contact').on(table.contact_id)],
);
