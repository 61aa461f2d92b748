/** What is known of a CSV file before it is imported: its columns, the fields they seem to be, and the first rows. */
import { createReadStream } from 'node:fs';
import { type CustomField, RESERVED_FIELDS } from '../contacts/contact-fields.ts';
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
/** The usual headings of the fields in English and German, beside their own names; compared as `folded` gives them. */
const HEADINGS: Readonly<Record<(typeof RESERVED_FIELDS)[number], readonly string[]>> = {
  first_name: ['given name', 'forename', 'vorname', 'rufname'],
  last_name: ['surname', 'family name', 'nachname', 'familienname', 'zuname'],
  email: [
    'e-mail address',
    'mail',
    'mail address',
    'primary e-mail',
    'subscriber e-mail',
    'e-mail-adresse',
    'e-mail-anschrift',
    'mailadresse',
  ],
  alt_email: [
    'alternative e-mail',
    'alternate e-mail',
    'secondary e-mail',
    'e-mail 2',
    'alternative e-mail-adresse',
    'zweite e-mail',
    'weitere e-mail',
  ],
  country: ['country name', 'country code', 'nation', 'land', 'staat', 'ländercode'],
  state: ['province', 'bundesland', 'kanton'],
  city: ['town', 'city name', 'stadt', 'ort', 'wohnort'],
  address_line1: [
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
  address_line2: ['address 2', 'street 2', 'adresse 2', 'adresszeile 2', 'adresszusatz', 'zusatz'],
  state_province_region: ['region', 'state or province', 'state or region'],
  postal_code: ['zip', 'zip code', 'postcode', 'post code', 'zip or postal code', 'plz', 'postleitzahl'],
};
/** The field of each heading and of each field's own name. */
const FIELD_OF = new Map(
  RESERVED_FIELDS.flatMap((field) => [field, ...HEADINGS[field]].map((heading) => [folded(heading), field] as const)),
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
