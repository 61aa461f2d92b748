/** What the service must remember of sender nodes over a restart. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { id } from './columns.ts';

/** Some claimed recipients of one mailing that one node was given, until it has reported all of them. */
export const nodePages = sqliteTable('node_pages', {
  id: id(),
  /** The run of the node: a node that is started again has another. */
  run: text().notNull(),
  mailing_id: integer().notNull(),
  /** JSON: the ids of the deliveries. A delivery that is on several pages belongs to the newest. */
  deliveries: text().notNull(),
});
