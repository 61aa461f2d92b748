/** The rows of a CSV file of contacts: the field of each column, found by the column's name, and the checked values of each row. */
import { TRACKING_CHOICE } from '../../database/schema/index.ts';
import { messages } from '../../errors/field-errors.ts';
import { stored } from '../../errors/stored.ts';
import { isTimeZone } from '../../time/zones.ts';
import { type Address, addressesIn, parseAddress } from '../contacts/addresses.ts';
import { RESERVED_FIELDS, reservedField } from '../contacts/contact-fields.ts';
import { languageCode } from '../contacts/contact-languages.ts';
import { countryId } from '../contacts/countries.ts';
import { meantDomain } from '../contacts/misspelt-domains.ts';
import { type CustomField, type DateOrder, isValidValue, writtenValue, ZONE_FIELD } from '../fields/custom-fields.ts';
import type { ImportOptions } from './import-job.ts';

/** An error in a row of the file. `field` is '' if it concerns the whole row. */
export interface RowError {
  line: number;
  field: string;
  /** Why the row was refused, in its stored form. */
  text: string;
  /** The cell, or its beginning; absent for a whole row, an empty cell and an erased address. */
  value?: string;
}

/**
 * A checked row: its line, the normalized address, a value for each of `RowReader.contactColumns`, and the choice about opens and
 * clicks if the file has that column. The e-mail is null if it equals the normalized address, to save space.
 */
export type StagedRow = (string | number | null)[];

type Column = { field: string; custom: CustomField | null } | null;

export interface Header {
  /** The field of each cell of a row; null for an unknown column. */
  columns: Column[];
  /** The names of the columns that are not imported, as in the file. */
  unknown: string[];
}

/** The maximum length of a value in a column of contacts, in characters. */
const MAX_LENGTH = 255;
/** The maximum length of a cell that is stored with its error, in characters. */
const MAX_SHOWN = 100;
/**
 * The column with the choice whether a contact's opens and clicks may be recorded. It is not a field of contacts, because the
 * choice belongs to the address.
 */
export const TRACKING_COLUMN = 'tracking_allowed';
/** The values of the cells in that column. An empty cell is not a choice. */
const TRACKING_CELLS: Readonly<Record<string, number>> = {
  '1': TRACKING_CHOICE.allowed,
  true: TRACKING_CHOICE.allowed,
  yes: TRACKING_CHOICE.allowed,
  ja: TRACKING_CHOICE.allowed,
  '0': TRACKING_CHOICE.refused,
  false: TRACKING_CHOICE.refused,
  no: TRACKING_CHOICE.refused,
  nein: TRACKING_CHOICE.refused,
};
/** The maximum number of domains listed as misspelt. */
export const MAX_MISSPELT = 100;
/** The maximum number of domains of a file for which the result of `meantDomain` is cached. */
const MAX_KNOWN_DOMAINS = 10_000;
/** The fields that are parts of a postal address. */
const ADDRESS_FIELDS: ReadonlySet<string> = new Set(RESERVED_FIELDS.filter((name) => reservedField(name)?.isOfAddress));
const LINE_BREAKS = /[\r\n\u2028\u2029]+/;
const CONTROL = /[\p{Cc}\u2028\u2029]/u;
const CONTROLS = /[\p{Cc}\u2028\u2029]+/gu;
/** The maximum number of invalid time zones that are named. */
const MAX_NAMED_ZONES = 3;

/**
 * Returns the form in which a value appears in the notes of an import: at most 100 characters on one line. The notes are
 * kept, so a value with an address, which may belong to a person erased later, is shown as an ellipsis.
 */
export function notedValue(value: string): string {
  return addressesIn(value).length > 0 ? '…' : value.slice(0, MAX_SHOWN).replaceAll(CONTROLS, ' ').toWellFormed();
}

/**
 * Parses the header row. Names of reserved and custom fields are matched regardless of case, with spaces as underscores. If a
 * name occurs twice, the first column counts.
 */
export function parseHeader(cells: readonly string[], customFields: readonly CustomField[]): Header {
  const used = new Set<string>();
  const unknown: string[] = [];
  const columns = cells.map((cell): Column => {
    const name = cell.trim().toLowerCase().replace(/\s+/g, '_');
    const custom = customFields.find((field) => field.field_name.toLowerCase() === name) ?? null;
    const isKnown = custom !== null || name === TRACKING_COLUMN || reservedField(name) !== undefined;
    if (!isKnown || used.has(name)) {
      unknown.push(cell.trim().slice(0, MAX_LENGTH));
      return null;
    }
    used.add(name);
    return { field: name, custom };
  });
  return { columns, unknown };
}

/** Converts rows of cells to checked rows, or returns their errors. */
export class RowReader {
  /** The columns of contacts that this file sets. */
  readonly contactColumns: string[];
  /** The fields of contacts that this file has, in the order of its columns. */
  readonly fields: string[];
  /** True if the file has choices about the recording of opens and clicks. */
  readonly hasTracking: boolean;
  readonly #trackingAt: number;
  /** How many cells of several lines were joined into one line. */
  joinedCells = 0;
  /** How many values of the time-zone field are invalid, and the first few different ones. */
  readonly invalidZones = { count: 0, named: new Set<string>() };
  /** The reserved fields of the file and their places in a row, in the order of `contactColumns`. */
  readonly #plain: { at: number; field: string }[] = [];
  /**
   * The custom fields of the file and their places in a row. Their values become one JSON value, the last of `contactColumns`. `key` is the
   * key in this JSON with its colon, written once for all rows.
   */
  readonly #custom: { at: number; custom: CustomField; key: string; order: DateOrder | null }[] = [];
  readonly #isErased: (normalized: string) => boolean;
  readonly #emptyCells: ImportOptions['emptyCells'];
  /** The misspelt domains that are corrected. */
  readonly #corrected: ReadonlySet<string>;
  /** The domains that look misspelt, with the likely correct domain and the number of rows, whether corrected or not. */
  readonly misspelt = new Map<string, { meant: string; rows: number }>();
  readonly #meant = new Map<string, string | null>();
  readonly #countries = new Map<string, number | null>();

  /** `isErased` tells whether a normalized address was erased; `dateOrders` has the order of dates with slashes by place of the column. */
  constructor(
    { columns }: Header,
    isErased: (normalized: string) => boolean,
    { emptyCells, correctedDomains }: Pick<ImportOptions, 'emptyCells' | 'correctedDomains'>,
    dateOrders: ReadonlyMap<number, DateOrder>,
  ) {
    this.#isErased = isErased;
    this.#emptyCells = emptyCells;
    this.#corrected = new Set(correctedDomains);
    this.#trackingAt = columns.findIndex((column) => column?.custom === null && column.field === TRACKING_COLUMN);
    this.hasTracking = this.#trackingAt >= 0;
    columns.forEach((column, at) => {
      if (column === null || at === this.#trackingAt) return;
      if (column.custom === null) this.#plain.push({ at, field: column.field });
      else
        this.#custom.push({
          at,
          custom: column.custom,
          key: `"${column.custom.id}":`,
          order: dateOrders.get(at) ?? null,
        });
    });
    this.fields = columns.flatMap((column, at) =>
      column === null || at === this.#trackingAt ? [] : [column.custom?.field_name ?? column.field],
    );
    this.contactColumns = this.#plain.map(({ field }) => (field === 'country' ? 'country_id' : field));
    if (this.#custom.length > 0) this.contactColumns.push('custom_values');
  }

  /** Checks the cells of the row that begins on this line. Returns the checked row, or its errors. */
  read(line: number, cells: readonly string[]): { row: StagedRow | null; errors: RowError[] } {
    const errors: RowError[] = [];
    // The normalized address takes the place of null below.
    const row: StagedRow = [line, null];
    let email = '';
    let emailAt = 0;
    for (const { at, field } of this.#plain) {
      const value = this.#cellValue(field, (cells[at] ?? '').trim());
      if (field === 'email') {
        email = value;
        emailAt = row.push(value) - 1;
        continue;
      }
      const problem = value === '' ? null : this.#problem(field, value);
      if (problem !== null) errors.push({ line, field, ...problem });
      row.push(this.#storedValue(field, value));
    }
    const address = this.#address(email);
    const normalized = address?.normalized;
    if (address === null || normalized === undefined) {
      errors.push({
        line,
        field: 'email',
        ...(email === '' ? { text: stored(messages.required('email')) } : cellError(messages.email('email'), email)),
      });
    } else if (this.#isErased(normalized)) {
      errors.push({ line, field: 'email', text: stored(messages.erased('email')) });
    } else {
      row[1] = normalized;
      row[emailAt] = address.address === normalized ? null : address.address;
    }
    if (this.#custom.length > 0) row.push(this.#customValues(line, cells, errors));
    if (this.hasTracking) row.push(this.#tracking(line, cells, errors));
    return errors.length > 0 ? { row: null, errors } : { row, errors };
  }

  /** Returns the address of a cell, with a misspelt domain corrected if that was chosen; null if the cell is not an address. */
  #address(cell: string): Address | null {
    const address = parseAddress(cell);
    const meant = address && this.#meantDomain(address.domain);
    if (address === null || meant === null) return address;
    const known = this.misspelt.get(address.domain);
    if (known !== undefined) known.rows++;
    else if (this.misspelt.size < MAX_MISSPELT) this.misspelt.set(address.domain, { meant, rows: 1 });
    if (!this.#corrected.has(address.domain)) return address;
    return parseAddress(address.address.slice(0, address.address.lastIndexOf('@') + 1) + meant);
  }

  /** Returns the result of `meantDomain`, cached for most domains of a file. */
  #meantDomain(domain: string): string | null {
    const known = this.#meant.get(domain);
    if (known !== undefined) return known;
    const meant = meantDomain(domain);
    if (this.#meant.size < MAX_KNOWN_DOMAINS) this.#meant.set(domain, meant);
    return meant;
  }

  /** Returns a cell's value. A postal address in several lines becomes one line, as in the contact. */
  #cellValue(field: string, cell: string): string {
    if (!ADDRESS_FIELDS.has(field) || !LINE_BREAKS.test(cell)) return cell;
    this.joinedCells++;
    return cell
      .split(LINE_BREAKS)
      .map((part) => part.trim())
      .join(' ');
  }

  /** Returns the error of a value that is not empty; null if the value is valid. */
  #problem(field: string, value: string): Pick<RowError, 'text' | 'value'> | null {
    if (field === 'alt_email') {
      const normalized = parseAddress(value)?.normalized;
      if (normalized === undefined) return cellError(messages.email(field), value);
      return this.#isErased(normalized) ? { text: stored(messages.erased(field)) } : null;
    }
    if (field === 'country') return this.#countryId(value) === null ? cellError(messages.selected(field), value) : null;
    if (field === 'language') return languageCode(value) === null ? cellError(messages.selected(field), value) : null;
    if (value.length > MAX_LENGTH) return cellError(messages.maximum(field, MAX_LENGTH), value);
    return CONTROL.test(value) ? cellError(messages.oneLine(field), value) : null;
  }

  /** Returns a valid value as its column of contacts stores it. */
  #storedValue(field: string, value: string): string | number | null {
    if (field === 'country') return value === '' ? null : this.#countryId(value);
    if (field === 'language') return languageCode(value) ?? '';
    return field === 'alt_email' && value === '' ? null : value;
  }

  /** Returns JSON with custom field ids as keys. An empty value that clears is null, because `json_patch` then removes the key. */
  #customValues(line: number, cells: readonly string[], errors: RowError[]): string {
    let json = '';
    for (const { at, custom, key, order } of this.#custom) {
      const cell = (cells[at] ?? '').trim();
      const value = writtenValue(custom.field_type, cell, order);
      if (value !== '' && !isValidValue(custom.field_type, value)) {
        const field = custom.field_name.toLowerCase();
        errors.push({ line, field, ...cellError(messages.value(field, custom.field_type), cell) });
      }
      if (value !== '' && custom.field_name.toLowerCase() === ZONE_FIELD && !isTimeZone(value))
        this.#noteInvalidZone(value);
      if (value === '' && this.#emptyCells === 'keep') continue;
      json += (json === '' ? '' : ',') + key + (value === '' ? 'null' : JSON.stringify(value));
    }
    return `{${json}}`;
  }

  #noteInvalidZone(value: string): void {
    this.invalidZones.count++;
    if (this.invalidZones.named.size < MAX_NAMED_ZONES) this.invalidZones.named.add(notedValue(value));
  }

  /** Returns the tracking choice of a row; null if the cell is empty or invalid. */
  #tracking(line: number, cells: readonly string[], errors: RowError[]): number | null {
    const value = (cells[this.#trackingAt] ?? '').trim().toLowerCase();
    if (value === '') return null;
    const choice = Object.hasOwn(TRACKING_CELLS, value) ? TRACKING_CELLS[value] : undefined;
    if (choice === undefined)
      errors.push({ line, field: TRACKING_COLUMN, ...cellError(messages.selected(TRACKING_COLUMN), value) });
    return choice ?? null;
  }

  #countryId(value: string): number | null {
    const name = value.toLowerCase();
    const known = this.#countries.get(name);
    if (known !== undefined) return known;
    const id = countryId(name);
    this.#countries.set(name, id);
    return id;
  }
}

/**
 * Returns the error of a cell with the cell's text. A long text is cut after a whole word, so that no part of an address
 * remains when that address is erased.
 */
function cellError(problem: Parameters<typeof stored>[0], cell: string): Pick<RowError, 'text' | 'value'> {
  const value = cell.length > MAX_SHOWN ? `${cell.slice(0, MAX_SHOWN).replace(/\S*$/, '')}…` : cell;
  return { text: stored(problem), value: value.toWellFormed() };
}
