/** What is read from the export of another service, and its CSV and JSON files row by row. */
import { buffer } from 'node:stream/consumers';
import { sentence } from '../../errors/sentences.ts';
import { readCsv } from '../import/csv.ts';
import { CsvError } from '../import/csv-parse.ts';

/** A file of an export: the uploaded one, or one inside of an archive. */
export interface ExportFile {
  /** Its path in the archive, or the name of the uploaded file. Never used to open anything. */
  name: string;
  open(): AsyncIterable<Buffer>;
}

/**
 * Why somebody gets no more mail there: they left everything, they left one list (`name`), their address bounced, or they complained.
 */
export type Leaving = { kind: 'all' | 'bounce' | 'complaint' } | { kind: 'group'; name: string };

/** A person as the export has them. */
export interface ExportedPerson {
  email: string;
  /** Values by field of a contact or name of a column; null: an address on a list, which becomes no contact. */
  values: ReadonlyMap<string, string> | null;
  /** The lists, tags or groups they are in. */
  lists: readonly string[];
  left: readonly Leaving[];
}

export interface ExportedTemplate {
  name: string;
  html: string;
}

/** What was left out, by what it is. */
export interface LeftOut {
  /** Columns that are of use only there, or too many. */
  columns: Set<string>;
  /** Files in the archive that are not known. */
  files: Set<string>;
}

/** One service that people move from. */
export interface Vendor {
  /** As it writes itself. */
  title: string;
  /** The name of the field that gets the lists of a person. */
  listsField: string;
  /** Columns that are taken over in another way than as a field, so that they are not named as left out. */
  used: readonly string[];
  /** People, templates, in the order of the files. Throws a `CsvError` when a file is not what it should be. */
  read(files: readonly ExportFile[], leftOut: LeftOut): AsyncGenerator<ExportedPerson | ExportedTemplate>;
}

/** A JSON file is parsed at once, which takes some times its size of memory. */
const MAX_JSON_BYTES = 50_000_000;
/** The most columns of one row: JSON can have a key for every person. */
const MAX_KEYS = 500;

/** What becomes of a column, by its name in small letters: a field of a contact, or null where only that service can use it. */
export type KnownColumns = Readonly<Record<string, string | null>>;

/** A row of a table: cells by the name of their column in small letters. */
export type Row = ReadonlyMap<string, string>;

/** The rows of a CSV file. Of two columns with one name the first counts. */
export async function* rowsOf(file: ExportFile): AsyncGenerator<Row> {
  const csv = await readCsv(() => file.open());
  const names = csv.header.map((cell) => cell.trim().toLowerCase());
  for await (const { rows } of csv.batches())
    for (const cells of rows) {
      if (cells.every((cell) => cell === '')) continue;
      const row = new Map<string, string>();
      names.forEach((name, at) => {
        if (!row.has(name)) row.set(name, (cells[at] ?? '').trim());
      });
      yield row;
    }
}

/** The names of a CSV file's columns in small letters. */
export async function columnsOf(file: ExportFile): Promise<ReadonlySet<string>> {
  const { header } = await readCsv(() => file.open());
  return new Set(header.map((cell) => cell.trim().toLowerCase()));
}

/** The values of a row by field; columns that are not known keep their name, and those of no use here are noted. */
export function valuesOf(row: Row, known: KnownColumns, leftOut: LeftOut): Map<string, string> {
  const values = new Map<string, string>();
  for (const [column, cell] of row) {
    const field = Object.hasOwn(known, column) ? known[column] : column;
    if (field === null) leftOut.columns.add(column);
    else if (field !== undefined && cell !== '' && !values.has(field)) values.set(field, cell);
  }
  return values;
}

/** Adds what a JSON object of a person's own fields holds. Lists and objects in it become JSON texts. */
export function addAttributes(values: Map<string, string>, attributes: unknown): void {
  if (!isObject(attributes)) return;
  for (const [key, value] of Object.entries(attributes).slice(0, MAX_KEYS)) {
    const text =
      value === null || value === undefined ? '' : typeof value === 'object' ? jsonText(value) : String(value);
    if (text !== '' && !values.has(key)) values.set(key.trim().toLowerCase(), text);
  }
}

/** A value as JSON; '' where it is nested too deeply for that. */
function jsonText(value: object): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '';
  }
}

/** A cell that holds JSON; undefined where it does not. */
export function jsonCell(cell: string): unknown {
  try {
    return JSON.parse(cell);
  } catch {
    return undefined;
  }
}

/** The content of a JSON file. Throws a `CsvError` when it is none, or too large. */
export async function readJson(file: ExportFile): Promise<unknown> {
  const text = (await buffer(bounded(file))).toString('utf8');
  const value = jsonCell(text);
  if (value === undefined) throw new CsvError(null, sentence('export_json', { name: file.name.slice(-255) }));
  return value;
}

/** The text of a small file, such as a template; null when it is larger. */
export async function readText(file: ExportFile, most: number): Promise<string | null> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of file.open()) {
    bytes += piece.length;
    if (bytes > most) return null;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

async function* bounded(file: ExportFile): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of file.open()) {
    bytes += piece.length;
    if (bytes > MAX_JSON_BYTES)
      throw new CsvError(
        null,
        sentence('export_json_large', { name: file.name.slice(-255), count: MAX_JSON_BYTES / 1e6 }),
      );
    yield piece;
  }
}

/** The records of an API's answer: a list at the top, or below these keys, each within the one before or instead of it. */
export function recordsOf(answer: unknown, ...keys: readonly string[]): Record<string, unknown>[] {
  if (Array.isArray(answer)) return answer.filter(isObject);
  const [key, ...others] = keys;
  if (key === undefined || !isObject(answer)) return [];
  return recordsOf(Object.hasOwn(answer, key) ? answer[key] : answer, ...others);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value of JSON as a text; '' for anything else than a text or number. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : '';
}

/** The names in a list of JSON. */
export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(textOf).filter((text) => text !== '') : [];
}
