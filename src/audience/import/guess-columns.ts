/** Guesses which field each column of an uploaded CSV file is, and which type a new field for it would have. */
import { createReadStream } from 'node:fs';
import { RESERVED_FIELDS, reservedField } from '../contacts/contact-fields.ts';
import {
  type CustomField,
  type FieldType,
  isValidValue,
  shownDateOrder,
  writtenValue,
} from '../fields/custom-fields.ts';
import { comparableHeading, readCsv } from './csv.ts';
import { parseHeader } from './rows.ts';

interface GuessedColumn {
  /** The column's name in the header row. */
  name: string;
  /** The field of this name; null if there is none. */
  field: string | null;
  /** The column's cells in the first rows. */
  samples: string[];
  /** The type of a new custom field that suits the cells that were read. */
  type: FieldType;
}

/** The columns of an uploaded file. */
export interface GuessedColumns {
  columns: GuessedColumn[];
  /** Notes about how the file was read, in their stored form. */
  notes: string[];
}

const SAMPLES = 3;
/** The maximum number of rows that are read to guess the types of new fields. */
const TYPE_ROWS = 1000;
/** The maximum number of cells in these rows. */
const TYPE_CELLS = 20_000;
const SAMPLE_CHARACTERS = 100;
/** The maximum number of columns that are offered for mapping; no table of contacts has that many. */
export const MAX_MAPPED_COLUMNS = 500;
/** The field of each common heading and of each field's own name. */
const FIELD_BY_HEADING = new Map(
  RESERVED_FIELDS.flatMap((field) =>
    [field, ...(reservedField(field)?.headings ?? [])].map((heading) => [comparableHeading(heading), field] as const),
  ),
);

/** Guesses the field of each column from its name and reads the first rows. Throws a `CsvError` if the file is not a table. */
export async function guessColumns(path: string, customFields: readonly CustomField[]): Promise<GuessedColumns> {
  const csv = await readCsv(() => createReadStream(path));
  const headings = csv.header.slice(0, MAX_MAPPED_COLUMNS);
  const maxRows = Math.max(SAMPLES, Math.min(TYPE_ROWS, Math.floor(TYPE_CELLS / headings.length)));
  const rows: string[][] = [];
  for await (const batch of csv.batches()) {
    rows.push(...batch.rows.filter((cells) => cells.some((cell) => cell !== '')).slice(0, maxRows - rows.length));
    if (rows.length >= maxRows) break;
  }
  const guessed = guessFields(headings, customFields);
  const columns = headings.map((name, at) => ({
    name: name.trim().slice(0, SAMPLE_CHARACTERS),
    field: guessed[at] ?? null,
    samples: rows.slice(0, SAMPLES).map((row) => (row[at] ?? '').slice(0, SAMPLE_CHARACTERS).toWellFormed()),
    type: guessType(rows.map((row) => (row[at] ?? '').trim())),
  }));
  return { columns, notes: csv.notes };
}

/** A number that is not a code: postal codes and telephone numbers begin with 0 or +, which a number would lose. */
const AMOUNT = /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/;

const DATES = ['datetime-local', 'yearly-date'] as const;

/** Returns the type of a field that accepts all these cells; text if none has a value. */
function guessType(cells: readonly string[]): FieldType {
  const values = cells.filter((cell) => cell !== '');
  if (values.length === 0) return 'text';
  const order = values.map(shownDateOrder).find((shown) => shown !== null) ?? null;
  const isWritten = (type: FieldType) => (value: string) => isValidValue(type, writtenValue(type, value, order));
  if (values.every(isWritten('number')) && values.every((value) => AMOUNT.test(writtenValue('number', value))))
    return 'number';
  return DATES.find((type) => values.every(isWritten(type))) ?? 'text';
}

/** Returns the field of each heading. A field's own name takes precedence over other headings for the same field. */
function guessFields(headings: readonly string[], customFields: readonly CustomField[]): (string | null)[] {
  const named = parseHeader(headings, customFields).columns.map(
    (column) => column?.custom?.field_name ?? column?.field,
  );
  const used = new Set(named);
  return headings.map((heading, at) => {
    const own = named[at];
    if (own !== undefined) return own;
    const field = FIELD_BY_HEADING.get(comparableHeading(heading));
    if (field === undefined || used.has(field)) return null;
    used.add(field);
    return field;
  });
}
