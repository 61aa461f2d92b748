/** Contact fields: the reserved ones, an account's custom ones, and which values a custom field accepts. */
import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../database/open.ts';
import { contacts, type customFields } from '../../database/schema/index.ts';

/** The reserved fields in the order of their ids, from 1. */
export const RESERVED_FIELDS = [
  'first_name',
  'last_name',
  'email',
  'alt_email',
  'country',
  'state',
  'city',
  'address_line1',
  'address_line2',
  'state_province_region',
  'postal_code',
] as const;

/** The contact columns that hold free text. */
export const TEXT_COLUMNS = [
  'first_name',
  'last_name',
  'state',
  'city',
  'address_line1',
  'address_line2',
  'state_province_region',
  'postal_code',
] as const;

const RESERVED_NAMES = new Set<string>([
  ...RESERVED_FIELDS,
  'full_name',
  'sender_name',
  'sender_address',
  'unsubscribe_preferences',
  'web_copy',
  '__proto__',
  'constructor',
  'prototype',
]);

/** The most custom fields of an account. Every list, export and mail has to handle all of them for each contact. */
export const MAX_FIELDS = 1000;

export const FIELD_TYPES = ['text', 'number', 'datetime-local'] as const;
export type FieldType = (typeof FIELD_TYPES)[number];
export type CustomField = typeof customFields.$inferSelect;

/** Whether this name, in any case, is not allowed for a custom field. */
export function isReservedName(name: string): boolean {
  return RESERVED_NAMES.has(name.toLowerCase());
}

const readers = new WeakMap<Db, (accountId: number) => CustomField[]>();

/** The account's custom fields, ascending by id. */
export function listCustomFields(db: Db, accountId: number): CustomField[] {
  const reader = readers.get(db) ?? customFieldsReader(db);
  readers.set(db, reader);
  return reader(accountId);
}

/** Prepares the query once, since every request about contacts runs it. SQLite would need more time to sort the few rows than to find them. */
function customFieldsReader(db: Db): (accountId: number) => CustomField[] {
  const statement = db.$client.prepare<[number], CustomField>('SELECT * FROM custom_fields WHERE user_id = ?');
  return (accountId) => statement.all(accountId).sort((one, other) => one.id - other.id);
}

/** The display label of a field: underscores as spaces, in title case. */
function fieldTitle(name: string): string {
  return name.replaceAll('_', ' ').replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
}

/** The JSON path of a custom field's value in `contacts.custom_values`. */
export function customValuePath(fieldId: number): string {
  return `$."${fieldId}"`;
}

/** The most fields in one `json_object` call: SQLite allows 1,000 arguments, and a field takes two. */
const MAX_INLINE_FIELDS = 300;

/** Registers on the connection the SQL function that `storedFieldRecord` calls. */
export function installFieldTitle({ $client }: Db): void {
  $client.function('field_title', { deterministic: true }, (name) => fieldTitle(String(name)));
}

/** The SQL for a contact's `custom_field` in answers: an object of every defined field by name, or null when the account has none. */
export function customFieldRecord(fields: readonly CustomField[]): SQL {
  if (fields.length === 0) return sql`NULL`;
  if (fields.length > MAX_INLINE_FIELDS) return storedFieldRecord();
  const pairs = fields.map(
    ({ id, field_name }) =>
      sql`${field_name}, json_object('field_name', ${fieldTitle(field_name)}, 'field_value', ${contacts.custom_values} ->> ${customValuePath(id)})`,
  );
  return sql`json_object(${sql.join(pairs, sql`, `)})`;
}

/** The same for any number of fields. It reads their table for each contact, so one statement serves all accounts. */
export function storedFieldRecord(): SQL {
  return sql`json((SELECT nullif(json_group_object(field_name, json_object(
      'field_name', field_title(field_name), 'field_value', ${contacts.custom_values} ->> ('$."' || field_id || '"'))), '{}')
    FROM (SELECT id AS field_id, field_name FROM custom_fields WHERE user_id = ${contacts.user_id} ORDER BY id)))`;
}

const NUMBER = /^[+-]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})$/;
const MOMENT = /^(\d{4})-(\d{2})-(\d{2})(?:T([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?)?$/;

/** Whether a text is a value of this type: numbers in decimal notation, dates as `YYYY-MM-DD` with an optional `THH:MM`. */
export function isValidValue(type: string, value: string): boolean {
  if (type === 'number') return NUMBER.test(value);
  if (type !== 'datetime-local') return value.length <= 65_535;
  const parts = MOMENT.exec(value);
  if (parts === null) return false;
  const [year, month, day] = parts.slice(1, 4).map(Number);
  const date = new Date(Date.UTC(year ?? 0, (month ?? 0) - 1, day));
  return date.getUTCMonth() + 1 === month && date.getUTCDate() === day;
}
