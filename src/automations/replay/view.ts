/**
 * A view of the database for trying things out: a connection that reads the file and has temporary tables in place of
 * the tables that an automation writes, with the same names. SQLite looks for a name among the temporary tables first
 * (https://www.sqlite.org/lang_naming.html), so the statements of the live service run here as they are. The file
 * itself is opened for reading only: a statement that would write to it fails.
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
  // Nobody wants events of webhooks in the view, so none are written.
  'webhook_events',
  'webhook_wants',
];
/** The views of the schema that read or write these tables. */
const VIEWS = ['contact_date_values', 'field_changes'];

/** Memory for the pages of the temporary tables, in KiB. What does not fit is in a file that the system removes by itself. */
const CACHE_KIB = 65_536;

interface SchemaObject {
  type: 'table' | 'index' | 'trigger' | 'view';
  name: string;
  tbl_name: string;
  sql: string;
}

/** Opens a view of the database file at this path. Closing it removes everything that was written. */
export function openView(path: string): Db {
  const client = new Connection(path, { readonly: true });
  // References lead to tables of the file, which SQLite does not look for from a temporary table.
  client.pragma('foreign_keys = OFF');
  client.pragma('temp_store = FILE');
  client.pragma(`temp.cache_size = -${CACHE_KIB}`);
  // After a failure the whole view is closed.
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

/** Returns true if a trigger writes to no other tables. Those that do keep counts and indexes which no automation reads. */
function writesOnlyTo(trigger: string, tables: readonly string[]): boolean {
  const body = trigger.slice(trigger.indexOf('BEGIN'));
  const written = body.matchAll(/\b(?:INSERT(?: OR \w+)? INTO|DELETE FROM|UPDATE(?! SET\b)(?: OR \w+)?) +[`"]?(\w+)/g);
  return [...written].every(([, table = '']) => tables.includes(table));
}
