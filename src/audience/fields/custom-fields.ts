/** The custom fields of an account: their types, the values that they accept, and their form in answers. */
import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../database/open.ts';
import { preparedOnce } from '../../database/prepared.ts';
import { contacts, type customFields } from '../../database/schema/index.ts';
import { isDay } from '../../time/clock.ts';

/** The maximum number of custom fields of an account, because every list, export and mail has to handle all of them for each contact. */
export const MAX_FIELDS = 1000;

/** `yearly-date` is a day of every year, such as a birthday. */
export const FIELD_TYPES = ['text', 'number', 'datetime-local', 'yearly-date'] as const;
export type FieldType = (typeof FIELD_TYPES)[number];
/** The custom field that holds the IANA name of a contact's zone. */
export const ZONE_FIELD = 'time_zone';
export type CustomField = typeof customFields.$inferSelect;

/** Reads the fields of an account. The SQL function that `storedFieldRecord` calls is added with it. */
const fieldsQuery = preparedOnce(({ $client }) => {
  $client.function('field_title', { deterministic: true }, (name) => fieldTitle(String(name)));
  return $client.prepare<[number], CustomField>('SELECT * FROM custom_fields WHERE user_id = ?');
});

/** Returns the account's custom fields, ascending by id. */
export function listCustomFields(db: Db, accountId: number): CustomField[] {
  return fieldsQuery(db)
    .all(accountId)
    .sort((one, other) => one.id - other.id);
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
 * Returns SQL with the same result as `customFieldRecord`, for any number of fields. It reads the fields for each contact, so that one
 * statement serves all accounts. `listCustomFields` must have been called on the connection before.
 */
export function storedFieldRecord(): SQL {
  return sql`json((SELECT nullif(json_group_object(field_name, json_object(
      'field_name', field_title(field_name), 'field_value', ${contacts.custom_values} ->> ('$."' || field_id || '"'))), '{}')
    FROM (SELECT id AS field_id, field_name FROM custom_fields WHERE user_id = ${contacts.user_id} ORDER BY id)))`;
}

/** The maximum length of a text in characters. */
const MAX_TEXT = 65_535;
const NUMBER = /^[+-]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})$/;
const MOMENT = /^(\d{4}-\d{2}-\d{2})(?:T([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?)?$/;

/**
 * Returns true if a text is a valid value of this type: numbers in decimal notation, dates as `YYYY-MM-DD` with an
 * optional `THH:MM`, days of every year as `MM-DD`.
 */
export function isValidValue(type: string, value: string): boolean {
  if (type === 'number') return NUMBER.test(value);
  // 2024 is a leap year, so it has every day.
  if (type === 'yearly-date') return /^\d{2}-\d{2}$/.test(value) && isValidValue('datetime-local', `2024-${value}`);
  if (type !== 'datetime-local') return value.length <= MAX_TEXT;
  const [, day = ''] = MOMENT.exec(value) ?? [];
  return isDay(day);
}

/** A day with its year first, or with dots and its day first, and an optional time, as spreadsheets write it. */
const WRITTEN_DATE =
  /^(?:(?<year>\d{4})([-/])(?<month>\d{1,2})\2(?<day>\d{1,2})|(?<firstDay>\d{1,2})\. ?(?<dottedMonth>\d{1,2})\. ?(?<lastYear>\d{4}))(?:[T ]+(?<hour>\d{1,2})(?<minutes>:\d{2}(?::\d{2})?))?$/;
/** A day with slashes before its year. In some countries the first number is the month, in others the day. */
const SLASHED_DATE =
  /^(?<first>\d{1,2})\/(?<second>\d{1,2})\/(?<year>\d{4})(?:[T ]+(?<hour>\d{1,2})(?<minutes>:\d{2}(?::\d{2})?))?$/;
/** The number of months, above which a number in a date is a day. */
const MONTHS = 12;
/** What the first number of a date with slashes is. */
export type DateOrder = 'month-first' | 'day-first';

/** Returns the order that a date with slashes shows by a day above 12; null for a date that shows none and any other text. */
export function shownDateOrder(text: string): DateOrder | null {
  const { first, second } = SLASHED_DATE.exec(text)?.groups ?? {};
  const [isFirstDay, isSecondDay] = [Number(first) > MONTHS, Number(second) > MONTHS];
  if (isFirstDay === isSecondDay) return null;
  return isFirstDay ? 'day-first' : 'month-first';
}

/** A day of every year with dots, such as `24.12.`. */
const WRITTEN_DAY = /^(\d{1,2})\. ?(\d{1,2})\.?$/;
/** A number with a comma before its decimals. Without dots, three digits after the comma could also be thousands. */
const DECIMAL_COMMA = /^[+-]?(?:\d{1,3}(?:\.\d{3})+,\d+|(?![+-]?[1-9]\d{0,2},\d{3}$)\d+,\d+)$/;
/** A number with dots between its thousands, which a second dot shows. */
const DOT_THOUSANDS = /^[+-]?\d{1,3}(?:\.\d{3}){2,}$/;
/** A number with commas between its thousands, which a dot or a second comma shows. */
const COMMA_THOUSANDS = /^[+-]?\d{1,3}(?:(?:,\d{3})+\.\d+|(?:,\d{3}){2,})$/;

/**
 * Returns the value that a written text has in a field of this type; the text itself if it is no other form of a value. People and
 * spreadsheets write days as `31.12.1990` and numbers as `1.234,56`. A field for a day of every year takes the day from a whole date. A text
 * with two meanings, such as `1,234`, or `03/04/1990` unless `order` is known, stays as it is, and such a value is invalid.
 */
export function writtenValue(type: string, text: string, order: DateOrder | null = null): string {
  if (type === 'number') {
    if (DECIMAL_COMMA.test(text) || DOT_THOUSANDS.test(text)) return text.replaceAll('.', '').replace(',', '.');
    return COMMA_THOUSANDS.test(text) ? text.replaceAll(',', '') : text;
  }
  if (type === 'datetime-local') return writtenDate(text, order);
  if (type !== 'yearly-date') return text;
  const [, day, month] = WRITTEN_DAY.exec(text) ?? [];
  if (day !== undefined && month !== undefined) return `${twoDigits(month)}-${twoDigits(day)}`;
  const date = writtenDate(text, order);
  return isValidValue('datetime-local', date) ? date.slice('YYYY-'.length, 'YYYY-MM-DD'.length) : text;
}

function writtenDate(text: string, order: DateOrder | null): string {
  const slashed = order && SLASHED_DATE.exec(text)?.groups;
  if (slashed) {
    const { first, second, year, hour, minutes } = slashed;
    const [month, day] = order === 'day-first' ? [second, first] : [first, second];
    return dateText(year, month, day, hour, minutes);
  }
  const parts = WRITTEN_DATE.exec(text)?.groups;
  if (parts === undefined) return text;
  const { year = parts.lastYear, month = parts.dottedMonth, day = parts.firstDay, hour, minutes } = parts;
  return dateText(year, month, day, hour, minutes);
}

type Digits = string | undefined;

function dateText(year: Digits, month: Digits, day: Digits, hour: Digits, minutes: Digits): string {
  const date = [year, twoDigits(month), twoDigits(day)].join('-');
  return hour === undefined ? date : `${date}T${twoDigits(hour)}${minutes}`;
}

const twoDigits = (digits = '') => digits.padStart(2, '0');

/** The maximum length of a field's name that is made from the name of a column. */
const MAX_NAME_LENGTH = 64;

/**
 * Returns the name of a field for a column: letters, digits and underscores, as in a placeholder. `Straße (privat)` becomes
 * `strasse_privat`. The name of a column without letters and digits becomes `column_` with its `number`.
 */
export function fieldNameFor(column: string, number: number): string {
  const name = column
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, MAX_NAME_LENGTH);
  return name === '' ? `column_${number}` : name;
}
