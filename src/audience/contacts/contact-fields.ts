/** The fields of contacts: the reserved ones, an account's custom ones, and the values that custom fields accept. */
import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../database/open.ts';
import { contacts, type customFields } from '../../database/schema/index.ts';

/** The properties of a field that every contact has. */
interface ReservedField {
  /** For the API reference; without it: "as it was given". */
  description?: string;
  /** Other names for the column of a file, in English and German. Case, spaces and signs are ignored in comparisons. */
  headings: readonly string[];
  /** The value in the sample file. */
  sample: string;
  /** The autofill token for browsers (HTML, 4.10.18.7.1). */
  autocomplete?: string;
  /** A part of a postal address. An import joins several lines of its cell into one. */
  isOfAddress?: true;
}

/** The fields that every contact has, in the order of their ids, from 1. Their columns are in src/database/schema/audience.ts. */
const RESERVED = {
  first_name: {
    description: 'First name.',
    headings: ['given name', 'forename', 'vorname', 'rufname'],
    sample: 'Zoë',
    autocomplete: 'given-name',
  },
  last_name: {
    description: 'Last name.',
    headings: ['surname', 'family name', 'nachname', 'familienname', 'zuname'],
    sample: 'Müller',
    autocomplete: 'family-name',
  },
  email: {
    headings: [
      'e-mail address',
      'mail',
      'mail address',
      'primary e-mail',
      'subscriber e-mail',
      'e-mail-adresse',
      'e-mail-anschrift',
      'mailadresse',
    ],
    sample: 'zoe@example.com',
    autocomplete: 'email',
  },
  alt_email: {
    headings: [
      'alternative e-mail',
      'alternate e-mail',
      'secondary e-mail',
      'e-mail 2',
      'alternative e-mail-adresse',
      'zweite e-mail',
      'weitere e-mail',
    ],
    sample: 'zoe.mueller@example.org',
  },
  country: {
    headings: ['country name', 'country code', 'nation', 'land', 'staat', 'ländercode'],
    sample: 'Germany',
  },
  state: {
    headings: ['province', 'bundesland', 'kanton'],
    sample: 'Bavaria',
    autocomplete: 'address-level1',
    isOfAddress: true,
  },
  city: {
    headings: ['town', 'city name', 'stadt', 'ort', 'wohnort'],
    sample: 'Munich',
    autocomplete: 'address-level2',
    isOfAddress: true,
  },
  address_line1: {
    headings: [
      'address',
      'address 1',
      'street',
      'street address',
      'street 1',
      'adresse',
      'adresse 1',
      'anschrift',
      'adresszeile 1',
      'straße',
      'strasse',
      'straße und hausnummer',
      'straße hausnummer',
      'straße nr',
    ],
    sample: 'Lindenstr. 4',
    autocomplete: 'address-line1',
    isOfAddress: true,
  },
  address_line2: {
    headings: ['address 2', 'street 2', 'adresse 2', 'adresszeile 2', 'adresszusatz', 'zusatz'],
    sample: '',
    autocomplete: 'address-line2',
    isOfAddress: true,
  },
  state_province_region: {
    headings: ['region', 'state or province', 'state or region'],
    sample: 'Upper Bavaria',
    autocomplete: 'address-level1',
    isOfAddress: true,
  },
  postal_code: {
    headings: ['zip', 'zip code', 'postcode', 'post code', 'zip or postal code', 'plz', 'postleitzahl'],
    sample: '80331',
    autocomplete: 'postal-code',
    isOfAddress: true,
  },
} as const satisfies Record<string, ReservedField>;

type ReservedName = keyof typeof RESERVED;
/** The fields that are one line of text in a column of the same name. */
export type LineName = Exclude<ReservedName, 'email' | 'alt_email' | 'country'>;

/** The names of the reserved fields in the order of their ids, from 1. */
export const RESERVED_FIELDS = Object.keys(RESERVED) as readonly ReservedName[];

/** Returns the properties of the reserved field with this name; undefined if there is none. */
export function reservedField(name: string): ReservedField | undefined {
  return isReservedField(name) ? RESERVED[name] : undefined;
}

function isReservedField(name: string): name is ReservedName {
  return Object.hasOwn(RESERVED, name);
}

/** Returns true if this is the name of a field that is one line of text in a column of the same name. */
export function isLineField(name: string): name is LineName {
  return isReservedField(name) && name !== 'email' && name !== 'alt_email' && name !== 'country';
}

/** The columns of contacts with free text. */
export const TEXT_COLUMNS: readonly LineName[] = RESERVED_FIELDS.filter(isLineField);

/**
 * Returns a value for each reserved field, in their order: the result of `line` for fields of one line of text, and the value
 * in `others` for the rest.
 */
export function byField<Others extends Record<Exclude<ReservedName, LineName>, unknown>, Line>(
  others: Others,
  line: (name: LineName) => Line,
): Others & Record<LineName, Line> {
  const entries = RESERVED_FIELDS.map((name) => [name, isLineField(name) ? line(name) : others[name]]);
  return Object.fromEntries(entries);
}

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

/** The maximum number of custom fields of an account, because every list, export and mail has to handle all of them for each contact. */
export const MAX_FIELDS = 1000;

export const FIELD_TYPES = ['text', 'number', 'datetime-local'] as const;
export type FieldType = (typeof FIELD_TYPES)[number];
export type CustomField = typeof customFields.$inferSelect;

/** Returns true if this name, in any case, is not allowed for a custom field. */
export function isReservedName(name: string): boolean {
  return RESERVED_NAMES.has(name.toLowerCase());
}

const readers = new WeakMap<Db, (accountId: number) => CustomField[]>();

/** Returns the account's custom fields, ascending by id. */
export function listCustomFields(db: Db, accountId: number): CustomField[] {
  const reader = readers.get(db) ?? customFieldsReader(db);
  readers.set(db, reader);
  return reader(accountId);
}

/**
 * Returns a function that reads the custom fields of an account. The query is prepared once, because every request about
 * contacts runs it. Also adds the SQL function that `storedFieldRecord` calls.
 */
function customFieldsReader({ $client }: Db): (accountId: number) => CustomField[] {
  $client.function('field_title', { deterministic: true }, (name) => fieldTitle(String(name)));
  const statement = $client.prepare<[number], CustomField>('SELECT * FROM custom_fields WHERE user_id = ?');
  return (accountId) => statement.all(accountId).sort((one, other) => one.id - other.id);
}

/** Returns the display label of a field: underscores become spaces, in title case. */
function fieldTitle(name: string): string {
  return name.replaceAll('_', ' ').replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
}

/** Returns the JSON path of a custom field's value in `contacts.custom_values`. */
export function customValuePath(fieldId: number): string {
  return `$."${fieldId}"`;
}

/** The maximum number of fields in one `json_object` call: SQLite allows 1,000 arguments, and a field takes two. */
const MAX_INLINE_FIELDS = 300;

/**
 * Returns the SQL of a contact's `custom_field` in answers: an object of every defined field by name, or null if the account has none.
 */
export function customFieldRecord(fields: readonly CustomField[]): SQL {
  if (fields.length === 0) return sql`NULL`;
  if (fields.length > MAX_INLINE_FIELDS) return storedFieldRecord();
  const pairs = fields.map(
    ({ id, field_name }) =>
      sql`${field_name}, json_object('field_name', ${fieldTitle(field_name)}, 'field_value', ${contacts.custom_values} ->> ${customValuePath(id)})`,
  );
  return sql`json_object(${sql.join(pairs, sql`, `)})`;
}

/**
 * Returns SQL with the same result for any number of fields, on a connection on which `listCustomFields` was called. It reads
 * the fields for each contact, so that one statement serves all accounts.
 */
export function storedFieldRecord(): SQL {
  return sql`json((SELECT nullif(json_group_object(field_name, json_object(
      'field_name', field_title(field_name), 'field_value', ${contacts.custom_values} ->> ('$."' || field_id || '"'))), '{}')
    FROM (SELECT id AS field_id, field_name FROM custom_fields WHERE user_id = ${contacts.user_id} ORDER BY id)))`;
}

const NUMBER = /^[+-]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})$/;
const MOMENT = /^(\d{4})-(\d{2})-(\d{2})(?:T([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?)?$/;

/** Returns true if a text is a valid value of this type: numbers in decimal notation, dates as `YYYY-MM-DD` with an optional `THH:MM`. */
export function isValidValue(type: string, value: string): boolean {
  if (type === 'number') return NUMBER.test(value);
  if (type !== 'datetime-local') return value.length <= 65_535;
  const parts = MOMENT.exec(value);
  if (parts === null) return false;
  const [year, month, day] = parts.slice(1, 4).map(Number);
  const date = new Date(Date.UTC(year ?? 0, (month ?? 0) - 1, day));
  return date.getUTCMonth() + 1 === month && date.getUTCDate() === day;
}

/** The maximum length of a name made from a column's name. */
const MAX_MADE_NAME = 64;

/**
 * Returns the name of a field for a column: letters, digits and underscores, as in a placeholder. `Straße (privat)` becomes
 * `strasse_privat`.
 */
export function fieldNameFor(column: string, number: number): string {
  const name = column
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, MAX_MADE_NAME);
  return name === '' ? `column_${number}` : name;
}
