/**
 * A view of the database in which a replay can write without changing the file: a connection that only reads the file, and
 * has temporary tables with the names of all tables that an automation writes. SQLite looks for a name among the temporary
 * tables first (https://www.sqlite.org/lang_naming.html), so the statements of the live service work here unchanged. A
 * statement that would write to the file itself fails.
 */
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { Connection } from '../../database/connection.ts';
import { addFunctions, type Db } from '../../database/open.ts';

/** The tables that are temporary in the view, and empty at first. The view reads all other tables from the file. */
const TABLES = [
  'activity',
  'automation_moves',
  'automation_schedules',
  'automations',
  'batch_moves',
  'contact_dates',
  'contact_events',
  'contact_moves',
  'contacts',
  'dated_fields',
  'deliveries',
  'delivery_reasons',
  'enrolment_counts',
  'enrolment_log',
  'enrolments',
  'events',
  'installation',
  'links',
  'mailings',
  'membership_changes',
  'moved_mails',
  'proxied_activity',
  'rezoned_contacts',
  'segment_leaves',
  'segment_recipients',
  'segments',
  'steps',
  'suppressions',
  'sunset_people',
  'unsubscribers',
  // `webhook_wants` stays empty in the view, so no events for webhooks are written.
  'webhook_events',
  'webhook_wants',
];
/** The views of the schema that read or write these tables. */
const VIEWS = ['contact_date_values', 'field_changes'];

/** The memory for pages of the temporary tables, in KiB. Further pages are in a temporary file that the operating system removes. */
const CACHE_KIB = 65_536;

/** A row of `sqlite_schema`. */
interface SchemaObject {
  type: 'table' | 'index' | 'trigger' | 'view';
  name: string;
  tbl_name: string;
  sql: string;
}

/** Opens a view of the database file at this path. Closing the connection removes everything that was written. */
export function openView(path: string): Db {
  const client = new Connection(path, { readonly: true });
  // SQLite does not follow a foreign key from a temporary table to a table of the file.
  client.pragma('foreign_keys = OFF');
  client.pragma('temp_store = FILE');
  client.pragma(`temp.cache_size = -${CACHE_KIB}`);
  // No journal is needed, because after a failure the whole view is closed.
  client.pragma('temp.journal_mode = OFF');
  addFunctions(client);
  const objects = client
    .prepare<[], SchemaObject>('SELECT type, name, tbl_name, sql FROM main.sqlite_schema WHERE sql IS NOT NULL')
    .all();
  const ofKind = (type: SchemaObject['type'], names: readonly string[]) =>
    objects.filter((object) => object.type === type && names.includes(object.tbl_name));
  for (const { sql } of ofKind('table', TABLES)) client.exec(sql.replace(/^CREATE TABLE/, 'CREATE TEMP TABLE'));
  for (const { sql } of ofKind('index', TABLES))
    client.exec(sql.replace(/^CREATE (UNIQUE )?INDEX /, (_, unique = '') => `CREATE ${unique}INDEX temp.`));
  for (const { sql } of ofKind('view', VIEWS)) client.exec(sql.replace(/^CREATE VIEW/, 'CREATE TEMP VIEW'));
  for (const { sql } of ofKind('trigger', [...TABLES, ...VIEWS]))
    if (writesOnlyTo(sql, [...TABLES, ...VIEWS])) client.exec(sql.replace(/^CREATE TRIGGER/, 'CREATE TEMP TRIGGER'));
  return drizzle(client);
}

/** Returns true if a trigger writes only to these tables. All other triggers keep counts and indexes that no automation reads. */
function writesOnlyTo(trigger: string, tables: readonly string[]): boolean {
  const body = trigger.slice(trigger.indexOf('BEGIN'));
  const written = body.matchAll(/\b(?:INSERT(?: OR \w+)? INTO|DELETE FROM|UPDATE(?! SET\b)(?: OR \w+)?) +[`"]?(\w+)/g);
  return [...written].every(([, table = '']) => tables.includes(table));
}
