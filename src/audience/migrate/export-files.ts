/** The files of an export of another service: what they contain, and readers of CSV files, JSON files and texts. */

import { buffer } from 'node:stream/consumers';
import { sentence } from '../../errors/sentences.ts';
import { isObject, parseJson } from '../../json.ts';
import { readCsv } from '../import/csv.ts';
import { CsvError } from '../import/csv-parse.ts';

/** A file of an export: the uploaded file, or a file inside an archive. */
export interface ExportFile {
  /** The path in the archive, or the name of the uploaded file. It is never opened as a path. */
  name: string;
  open(): AsyncIterable<Buffer>;
}

/**
 * Why an address gets no more mail at the other service: unsubscribed from all mail, unsubscribed from one list (`name`),
 * bounced, or complained.
 */
export type Leaving = { kind: 'all' | 'bounce' | 'complaint' } | { kind: 'group'; name: string };

/** A contact in the export. */
export interface ExportedPerson {
  email: string;
  /** Values by field of a contact or name of a column; null for an address on a list of leavers, which does not become a contact. */
  values: ReadonlyMap<string, string> | null;
  /** The lists, tags or groups that the contact is in. */
  lists: readonly string[];
  leavings: readonly Leaving[];
}

/** A template in the export. */
export interface ExportedTemplate {
  name: string;
  html: string;
}

/** The columns and files that are ignored. */
export interface Ignored {
  /** Columns that only the other service can use, or that exceed the maximum number of columns. */
  columns: Set<string>;
  /** Unknown files of the archive. */
  files: Set<string>;
}

/** A service from which users can migrate. */
export interface Vendor {
  /** The name of the service in its own spelling. */
  title: string;
  /** The name of the field that gets the lists of a contact. */
  listsField: string;
  /** Columns that are used but do not become fields, so that they are not reported as ignored. */
  used: readonly string[];
  /** True if a day of every year, such as a birthday, is written as month/day (12/24). */
  writesMonthDay?: true;
  /** Yields contacts and templates in the order of the files. Throws a `CsvError` if a file is not valid. */
  read(files: readonly ExportFile[], ignored: Ignored): AsyncGenerator<ExportedPerson | ExportedTemplate>;
}

/** The maximum size of a JSON file. It is parsed as a whole, which takes several times its size in memory. */
const MAX_JSON_BYTES = 50_000_000;
/** The maximum number of columns of one row, because JSON can have a key for every contact. */
const MAX_KEYS = 500;

/** Known columns by name in lower case: a field of a contact, or null if only the other service can use the column. */
export type KnownColumns = Readonly<Record<string, string | null>>;

/** A row of a table: cells by the column's name in lower case. */
export type Row = ReadonlyMap<string, string>;

/** Yields the rows of a CSV file. Of two columns with the same name the first counts. */
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

/** Returns the names of a CSV file's columns in lower case. */
export async function columnsOf(file: ExportFile): Promise<ReadonlySet<string>> {
  const { header } = await readCsv(() => file.open());
  return new Set(header.map((cell) => cell.trim().toLowerCase()));
}

/** Returns the values of a row by field. Unknown columns keep their name; useless ones are added to `ignored`. */
export function valuesOf(row: Row, known: KnownColumns, ignored: Ignored): Map<string, string> {
  const values = new Map<string, string>();
  for (const [column, cell] of row) {
    const field = Object.hasOwn(known, column) ? known[column] : column;
    if (field === null) ignored.columns.add(column);
    else if (field !== undefined && cell !== '' && !values.has(field)) values.set(field, cell);
  }
  return values;
}

/** Adds the custom fields of a contact, which are a JSON object. A name that has a value keeps it. Lists and objects become JSON texts. */
export function addAttributes(values: Map<string, string>, attributes: unknown): void {
  if (!isObject(attributes)) return;
  for (const [key, value] of Object.entries(attributes).slice(0, MAX_KEYS)) {
    const text = typeof value === 'object' && value !== null ? jsonText(value) : String(value ?? '');
    const name = key.trim().toLowerCase();
    if (text !== '' && !values.has(name)) values.set(name, text);
  }
}

/** Returns a value as JSON; '' if it is nested too deeply. */
function jsonText(value: object): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '';
  }
}

/** Returns the content of a JSON file. Throws a `CsvError` if it is not JSON or is too large. */
export async function readJson(file: ExportFile): Promise<unknown> {
  const text = (await buffer(bounded(file))).toString('utf8');
  const value = parseJson(text);
  if (value === undefined) throw new CsvError(null, sentence('export_json', { name: file.name.slice(-255) }));
  return value;
}

/** Returns the text of a small file, such as a template; null if it is larger than `maxBytes`. */
export async function readText(file: ExportFile, maxBytes: number): Promise<string | null> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of file.open()) {
    bytes += piece.length;
    if (bytes > maxBytes) return null;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** Yields a JSON file piece by piece. Throws a `CsvError` if it is too large. */
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

/**
 * Returns the records of an API's answer: a list at the top level, or below these keys. Each key is looked up in the value of the key
 * before it. A missing key is skipped.
 */
export function recordsOf(answer: unknown, ...keys: readonly string[]): Record<string, unknown>[] {
  if (Array.isArray(answer)) return answer.filter(isObject);
  const [key, ...others] = keys;
  if (key === undefined || !isObject(answer)) return [];
  return recordsOf(Object.hasOwn(answer, key) ? answer[key] : answer, ...others);
}

/** Returns a JSON value as a text; '' for anything other than a text or number. */
export function textOf(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value.trim() : '';
}

/** Returns the names in a JSON list. */
export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(textOf).filter((text) => text !== '') : [];
}
