/** What a CSV row must be to become a contact. */
import { fieldLabel, texts } from '../failure.ts';
import { parseAddress } from './addresses.ts';
import { countryId } from './countries.ts';
import { type CustomField, isValueOf, RESERVED_FIELDS } from './fields.ts';
import type { RowError } from './import.ts';

export interface Staged {
  line: number;
  compared: string;
  email: string;
  first_name: string;
  last_name: string;
  alt_email: string | null;
  country_id: number | null;
  state: string;
  city: string;
  address_line1: string;
  address_line2: string;
  state_province_region: string;
  postal_code: string;
  /** JSON keyed by custom field id; an empty value is null, which removes the key. */
  custom_values: string;
}

type Column = { field: string; custom: CustomField | null } | null;

export interface Header {
  /** What each cell of a row is; null: not known. */
  columns: Column[];
  unknown: string[];
}

const MAXIMUM = 255;
const CONTROL = /[\p{Cc}\u2028\u2029]/u;

/** Reads the header row: reserved or custom names, case-insensitive, spaces as underscores; the first of two equal ones counts. */
export function headerOf(cells: readonly string[], customFields: readonly CustomField[]): Header {
  const seen = new Set<string>();
  const unknown: string[] = [];
  const columns = cells.map((cell): Column => {
    const name = cell.trim().toLowerCase().replace(/\s+/g, '_');
    const custom = customFields.find((field) => field.field_name.toLowerCase() === name) ?? null;
    const isKnown = custom !== null || RESERVED_FIELDS.some((field) => field === name);
    if (!isKnown || seen.has(name)) {
      unknown.push(cell.trim().slice(0, MAXIMUM));
      return null;
    }
    seen.add(name);
    return { field: name, custom };
  });
  return { columns, unknown };
}

/** Turns rows into what is staged, or says what is wrong with them. */
export class RowReader {
  /** The contact columns this file sets. */
  readonly columns: string[];
  readonly #header: Header;
  readonly #countries = new Map<string, number | null>();

  constructor(header: Header) {
    this.#header = header;
    const known = header.columns.filter((column) => column !== null);
    this.columns = known
      .filter((column) => column.custom === null)
      .map(({ field }) => (field === 'country' ? 'country_id' : field));
    if (known.some((column) => column.custom !== null)) this.columns.push('custom_values');
  }

  read(line: number, cells: readonly string[]): { row: Staged | null; errors: RowError[] } {
    const errors: RowError[] = [];
    const custom: Record<string, string | null> = {};
    const values: Record<string, string> = {};
    this.#header.columns.forEach((column, at) => {
      if (column === null) return;
      const value = (cells[at] ?? '').trim();
      const problem = value === '' ? null : this.#problem(column, value);
      if (problem !== null) errors.push({ line, field: column.field, text: problem });
      else if (column.custom === null) values[column.field] = value;
      else custom[column.custom.id] = value === '' ? null : value;
    });
    const address = parseAddress(values.email ?? '');
    if (address === null && !errors.some(({ field }) => field === 'email')) {
      errors.push({ line, field: 'email', text: texts.required('email') });
    }
    if (address === null || errors.length > 0) return { row: null, errors };
    const text = (field: string) => values[field] ?? '';
    const row = {
      line,
      compared: address.compared,
      email: address.address,
      first_name: text('first_name'),
      last_name: text('last_name'),
      alt_email: values.alt_email || null,
      country_id: values.country ? this.#countryId(values.country) : null,
      state: text('state'),
      city: text('city'),
      address_line1: text('address_line1'),
      address_line2: text('address_line2'),
      state_province_region: text('state_province_region'),
      postal_code: text('postal_code'),
      custom_values: JSON.stringify(custom),
    };
    return { row, errors };
  }

  #problem({ field, custom }: NonNullable<Column>, value: string): string | null {
    if (custom !== null) return isValueOf(custom.field_type, value) ? null : texts.selected(field);
    if (field === 'email' || field === 'alt_email') return parseAddress(value) === null ? texts.email(field) : null;
    if (field === 'country') return this.#countryId(value) === null ? texts.selected(field) : null;
    if (value.length > MAXIMUM) return texts.maximum(field, MAXIMUM);
    return CONTROL.test(value) ? `The ${fieldLabel(field)} may not contain line breaks or control characters.` : null;
  }

  #countryId(value: string): number | null {
    const given = value.toLowerCase();
    const known = this.#countries.get(given);
    if (known !== undefined) return known;
    const id = countryId(given);
    this.#countries.set(given, id);
    return id;
  }
}
