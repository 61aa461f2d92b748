/** The keys that sign mails. */
import { integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { id } from './columns.ts';

/** DKIM keys by sender domain (ASCII form). The newest that does not wait for its record signs; receivers may still look up older ones. */
export const dkimKeys = sqliteTable(
  'dkim_keys',
  {
    id: id(),
    domain: text().notNull(),
    selector: text().notNull(),
    private_key: text().notNull(),
    /** 1: signs once its record was seen in the DNS, so that the key before it signs until then. */
    awaits_record: integer().$type<0 | 1>().notNull().default(0),
    created_at: text().notNull(),
  },
  (table) => [uniqueIndex('dkim_keys_selector').on(table.domain, table.selector)],
);
