/** What is known of a CSV file before it is imported: its columns, the fields they seem to be, and the first rows. */
import { createReadStream } from 'node:fs';
import type { CustomField } from '../contacts/contact-fields.ts';
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
/** Other common names of fields, as they are written without spaces and signs. */
const SYNONYMS: Readonly<Record<string, string>> = {
  mail: 'email',
  emailaddress: 'email',
  emailadresse: 'email',
  firstname: 'first_name',
  givenname: 'first_name',
  vorname: 'first_name',
  lastname: 'last_name',
  surname: 'last_name',
  familyname: 'last_name',
  nachname: 'last_name',
  land: 'country',
  town: 'city',
  stadt: 'city',
  ort: 'city',
  zip: 'postal_code',
  zipcode: 'postal_code',
  postcode: 'postal_code',
  plz: 'postal_code',
  street: 'address_line1',
  address: 'address_line1',
  strasse: 'address_line1',
  straße: 'address_line1',
};

/** Guesses the field of each column from its name and reads the first rows. Throws a `CsvError` when it is no table. */
export async function guessColumns(path: string, customFields: readonly CustomField[]): Promise<GuessedColumns> {
  const csv = await readCsv(() => createReadStream(path));
  const rows: string[][] = [];
  for await (const batch of csv.batches()) {
    rows.push(...batch.rows.filter((cells) => cells.some((cell) => cell !== '')).slice(0, SAMPLES - rows.length));
    if (rows.length >= SAMPLES) break;
  }
  const cells = csv.header.slice(0, MAX_MAPPED_COLUMNS);
  const guessed = parseHeader(cells.map(synonym), customFields).columns;
  const columns = cells.map((name, at) => ({
    name: name.trim().slice(0, SAMPLE_CHARACTERS),
    field: guessed[at]?.custom?.field_name ?? guessed[at]?.field ?? null,
    samples: rows.map((row) => (row[at] ?? '').slice(0, SAMPLE_CHARACTERS).toWellFormed()),
  }));
  return { columns, notes: csv.notes };
}

function synonym(cell: string): string {
  const name = cell.toLowerCase().replace(/[^\p{L}\d]/gu, '');
  return (Object.hasOwn(SYNONYMS, name) && SYNONYMS[name]) || cell;
}
