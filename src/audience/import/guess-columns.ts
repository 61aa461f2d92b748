/** What is known of a CSV file before it is imported: its columns, the fields they seem to be, and the first rows. */
import { createReadStream } from 'node:fs';
import { type CustomField, RESERVED_FIELDS, reservedField } from '../contacts/contact-fields.ts';
import { readCsv } from './csv.ts';
import { parseHeader } from './import-rows.ts';

interface GuessedColumn {
  /** The column's name in the header row. */
  name: string;
  /** The field of this name; null when there is none. */
  field: string | null;
  /** Its cells in the first rows. */
  samples: string[];
}

export interface GuessedColumns {
  columns: GuessedColumn[];
  notes: string[];
}

const SAMPLES = 3;
const SAMPLE_CHARACTERS = 100;
/** Columns beyond these are left out: no table of contacts has so many. */
export const MAX_MAPPED_COLUMNS = 500;
/** The field of each usual heading and of each field's own name. */
const FIELD_OF = new Map(
  RESERVED_FIELDS.flatMap((field) =>
    [field, ...(reservedField(field)?.headings ?? [])].map((heading) => [folded(heading), field] as const),
  ),
);

/** Guesses the field of each column from its name and reads the first rows. Throws a `CsvError` when it is no table. */
export async function guessColumns(path: string, customFields: readonly CustomField[]): Promise<GuessedColumns> {
  const csv = await readCsv(() => createReadStream(path));
  const rows: string[][] = [];
  for await (const batch of csv.batches()) {
    rows.push(...batch.rows.filter((cells) => cells.some((cell) => cell !== '')).slice(0, SAMPLES - rows.length));
    if (rows.length >= SAMPLES) break;
  }
  const cells = csv.header.slice(0, MAX_MAPPED_COLUMNS);
  const guessed = guessFields(cells, customFields);
  const columns = cells.map((name, at) => ({
    name: name.trim().slice(0, SAMPLE_CHARACTERS),
    field: guessed[at] ?? null,
    samples: rows.map((row) => (row[at] ?? '').slice(0, SAMPLE_CHARACTERS).toWellFormed()),
  }));
  return { columns, notes: csv.notes };
}

/** The field of each cell of a header row; a field's own name goes before other headings of the same field. */
function guessFields(cells: readonly string[], customFields: readonly CustomField[]): (string | null)[] {
  const named = parseHeader(cells, customFields).columns.map((column) => column?.custom?.field_name ?? column?.field);
  const used = new Set(named);
  return cells.map((cell, at) => {
    const own = named[at];
    if (own !== undefined) return own;
    const field = FIELD_OF.get(folded(cell));
    if (field === undefined || used.has(field)) return null;
    used.add(field);
    return field;
  });
}

/** A heading without case, spaces, hyphens and other signs. */
function folded(heading: string): string {
  return heading
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\d]/gu, '');
}
