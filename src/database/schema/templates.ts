/** The table of templates that accounts have of their own. */
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { user } from './accounts.ts';
import { id, line, stamps } from './columns.ts';

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
