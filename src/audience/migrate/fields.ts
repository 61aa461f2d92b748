/** Maps the columns of an export to fields: a reserved field, a custom field of a type that fits all values, or none. */

import { isTimeZone } from '../../time/zones.ts';
import { parseAddress } from '../contacts/addresses.ts';
import { isReservedName, reservedField } from '../contacts/contact-fields.ts';
import { languageCode } from '../contacts/contact-languages.ts';
import { countryId } from '../contacts/countries.ts';
import {
  type CustomField,
  FIELD_TYPES,
  type FieldType,
  fieldNameFor,
  isValidValue,
  MAX_FIELDS,
  ZONE_FIELD,
} from '../fields/custom-fields.ts';

export interface MigratedColumn {
  /** The column's name in the export. */
  column: string;
  field: string;
  type: FieldType;
  isNew: boolean;
  /** True if all values are a day of every year as month/day, which becomes MM-DD. */
  isMonthDay: boolean;
  samples: string[];
}

/** The maximum number of columns; further ones are skipped. */
const MAX_COLUMNS = 200;
const MAX_SAMPLES = 3;
const SAMPLE_CHARACTERS = 100;
/** The maximum number of characters of a value, because a longer cell cannot be imported. */
const MAX_VALUE = 65_535;
/** Values that may be telephone numbers or postal codes, which would lose digits or signs as numbers. */
const NO_QUANTITY = /^\+|^-?0\d|^.{16}/;
const MOMENT = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.\d{1,9})?\s?(Z|UTC|[+-]\d{2}:?\d{2})?)?$/;
/** Columns of telephone numbers and postal codes. They are texts, even if all values look like numbers. */
const TEXT_COLUMNS = /^(sms|whatsapp)$|phone|mobile|postal|(^|[ _])zip/;
const MONTH_DAY = /^(0[1-9]|1[0-2])\/([0-2]\d|3[01])$/;
const CONTROL = /[\p{Cc}\u2028\u2029]+/gu;

/** What the values of a column that were read so far have in common, and the first of these values. */
interface ColumnFacts {
  isNumber: boolean;
  isMoment: boolean;
  isMonthDay: boolean;
  samples: string[];
}

/** Collects the columns of an export while its contacts are read once, then maps each column to a field. */
export class ColumnCollector {
  readonly #facts = new Map<string, ColumnFacts>();
  readonly #writesMonthDay: boolean;
  /** Columns ignored because there are too many. */
  readonly ignored = new Set<string>();

  /** `writesMonthDay`: the service writes a day of every year as month/day. */
  constructor(writesMonthDay: boolean) {
    this.#writesMonthDay = writesMonthDay;
  }

  /** Adds the values of a contact, by column. */
  add(values: ReadonlyMap<string, string>): void {
    for (const [column, value] of values) {
      let facts = this.#facts.get(column);
      if (facts === undefined) {
        if (this.#facts.size >= MAX_COLUMNS) {
          if (this.ignored.size < MAX_COLUMNS) this.ignored.add(column);
          continue;
        }
        facts = { isNumber: !TEXT_COLUMNS.test(column), isMoment: true, isMonthDay: this.#writesMonthDay, samples: [] };
        this.#facts.set(column, facts);
      }
      facts.isNumber &&= isQuantity(value);
      facts.isMoment &&= moment(value) !== null;
      facts.isMonthDay &&= monthDay(value) !== null;
      if (facts.samples.length < MAX_SAMPLES) facts.samples.push(value.slice(0, SAMPLE_CHARACTERS).toWellFormed());
    }
  }

  /** Returns the columns as fields of this account. Columns for which the account has no room are added to `ignored`. */
  columns(existing: readonly CustomField[]): MigratedColumn[] {
    const fields = new Map(existing.map(({ field_name, field_type }) => [field_name.toLowerCase(), field_type]));
    const used = new Set<string>();
    const columns: MigratedColumn[] = [];
    for (const [column, facts] of this.#facts) {
      const { isMonthDay, samples } = facts;
      const name = fieldNameFor(column, columns.length + 1);
      if (reservedField(name) !== undefined && name !== 'email' && !used.has(name) && !fields.has(name)) {
        used.add(name);
        columns.push({ column, field: name, type: 'text', isNew: false, isMonthDay: false, samples });
        continue;
      }
      const type = typeOf(facts);
      const field = freeName(name, type, fields, used);
      const isNew = !fields.has(field);
      if (isNew && fields.size >= MAX_FIELDS) {
        this.ignored.add(column);
        continue;
      }
      used.add(field);
      if (isNew) fields.set(field, type);
      columns.push({
        column,
        field,
        type: FIELD_TYPES.find((known) => known === fields.get(field)) ?? type,
        isNew,
        isMonthDay,
        samples,
      });
    }
    return columns;
  }
}

function typeOf({ isNumber, isMoment, isMonthDay }: ColumnFacts): FieldType {
  if (isNumber) return 'number';
  if (isMoment) return 'datetime-local';
  return isMonthDay ? 'yearly-date' : 'text';
}

/**
 * Returns the name. Adds a number to it if the name is reserved, if another column uses it, or if the field of this name does not fit the
 * values.
 */
function freeName(
  name: string,
  type: FieldType,
  fields: ReadonlyMap<string, string>,
  used: ReadonlySet<string>,
): string {
  const fits = (candidate: string) => {
    if (isReservedName(candidate) || used.has(candidate)) return false;
    const existing = fields.get(candidate);
    return existing === undefined || existing === type || existing === 'text';
  };
  if (fits(name)) return name;
  for (let number = 2; ; number++) if (fits(`${name}_${number}`)) return `${name}_${number}`;
}

function isQuantity(value: string): boolean {
  return isValidValue('number', value) && !NO_QUANTITY.test(value);
}

/** Returns a point in time in the form of a custom field, in UTC if the value names a zone; null if it is not a time. */
function moment(value: string): string | null {
  const [, date = '', time, zone] = MOMENT.exec(value) ?? [];
  const text = time === undefined ? date : `${date}T${time}`;
  if (!isValidValue('datetime-local', text)) return null;
  if (time === undefined || zone === undefined || zone === 'Z' || zone === 'UTC') return text;
  const at = new Date(`${text}${zone.includes(':') ? zone : `${zone.slice(0, 3)}:${zone.slice(3)}`}`);
  return Number.isNaN(at.getTime()) ? null : at.toISOString().slice(0, text.length);
}

/** Returns a day of every year as MM-DD; null if the value is none. */
function monthDay(value: string): string | null {
  const [, month, day] = MONTH_DAY.exec(value) ?? [];
  return month !== undefined && isValidValue('yearly-date', `${month}-${day}`) ? `${month}-${day}` : null;
}

/** Returns the value of a contact's field; '' if the export has none that fits the field. */
export function migratedValue({ field, type, isMonthDay }: MigratedColumn, value: string): string {
  if (value === '' || value.length > MAX_VALUE) return '';
  if (field === 'country') return countryId(value) === null ? '' : value;
  if (field === 'language') return languageCode(value) ?? '';
  if (field === ZONE_FIELD) return isTimeZone(value) ? value : '';
  if (field === 'alt_email') return parseAddress(value) === null ? '' : value;
  if (reservedField(field) !== undefined) return value.replaceAll(CONTROL, ' ').trim();
  if (isMonthDay) return monthDay(value) ?? '';
  return type === 'datetime-local' ? (moment(value) ?? '') : value;
}
