/**
 * Reads and checks a CSV file and stores its rows in temporary tables of a connection, from which it is previewed or imported.
 * If several rows have the same address, the last one counts.
 */
import { createReadStream, statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import type { Db } from '../../database/open.ts';
import { sentence } from '../../errors/sentences.ts';
import { stored } from '../../errors/stored.ts';
import { addressesIn } from '../contacts/addresses.ts';
import { countErasedAddresses, erasedTest } from '../contacts/erased-addresses.ts';
import { ZONE_FIELD } from '../fields/custom-fields.ts';
import { readCsv } from './csv.ts';
import { dateOrders } from './date-orders.ts';
import { DEFAULT_OPTIONS, type ImportJob, type ImportProgress } from './import-job.ts';
import { plannedFields } from './make-lists.ts';
import { parseHeader, type RowError, RowReader, type StagedRow } from './rows.ts';

/** The result of reading a file. */
export interface StagedFile {
  /** The columns of contacts that the file has. */
  columns: string[];
  /** The fields of contacts that the file has, in the order of its columns. */
  fields: string[];
  /** The domains that look misspelt, with the likely correct domain and the number of rows, including those that are corrected. */
  misspelt: ReadonlyMap<string, { meant: string; rows: number }>;
  /** True if the file has tracking choices. They are in the column `tracking` of temp.sorted. */
  hasTracking: boolean;
  /** How many addresses of the account had been erased by the time the file was read. temp.sorted has none of them. */
  erased: number;
  /** The number of rows, failed ones included. */
  rows: number;
  failed: number;
  /** What the reader of the report should know, in stored form. */
  notes: string[];
  errors: RowError[];
}

/** How many errors are stored. The row that reaches this number is stored with all its errors. */
export const MAX_ERRORS = 1000;

/**
 * Stages the file of a job in the table temp.sorted: a row for each contact, keyed by `normalized` in the order of the unique
 * index, with the columns of contacts. Without a valid row there is no such table. Throws a `CsvError` if the file is not a
 * table. Call `dropStaged` at the end.
 */
export async function stage(db: Db, job: ImportJob, progress: ImportProgress | undefined): Promise<StagedFile> {
  const staged = await stageRows(db, job, progress);
  // Rows are written in the order of the index, so that a row costs the same in a large table.
  if (staged.rows > staged.failed)
    db.$client.exec(
      'CREATE TEMP TABLE sorted AS SELECT *, max(line) AS last_line FROM staged GROUP BY normalized ORDER BY normalized',
    );
  return staged;
}

/** Drops the temporary tables of an import. */
export function dropStaged(client: Database): void {
  client.exec('DROP TABLE IF EXISTS temp.staged; DROP TABLE IF EXISTS temp.sorted; DROP TABLE IF EXISTS temp.leavers');
}

/** Checks every row and stores the valid ones in temp.staged. */
async function stageRows(db: Db, job: ImportJob, progress: ImportProgress | undefined): Promise<StagedFile> {
  const client = db.$client;
  const size = statSync(job.path).size;
  let bytesRead = () => 0;
  const csv = await readCsv(() => {
    const file = createReadStream(job.path);
    bytesRead = () => file.bytesRead;
    return file;
  });
  const fields = plannedFields(db, job);
  const header = parseHeader(job.mapping ?? csv.header, fields);
  const notes = [...csv.notes];
  if (job.mapping === undefined)
    notes.push(...header.unknown.map((name) => stored(sentence('column_unknown', { name }))));
  const erased = countErasedAddresses(client, job.accountId);
  const isErased = erasedTest(client, job.accountId);
  const orders = await dateOrders(job.path, header);
  const reader = new RowReader(header, isErased, job.options ?? DEFAULT_OPTIONS, orders);
  const staged: StagedFile = {
    columns: reader.contactColumns,
    fields: reader.fields,
    misspelt: reader.misspelt,
    hasTracking: reader.hasTracking,
    erased,
    rows: 0,
    failed: 0,
    notes,
    errors: [],
  };
  const columns = ['normalized', ...reader.contactColumns, ...(reader.hasTracking ? ['tracking'] : [])];
  client.exec(`CREATE TEMP TABLE staged (line INTEGER PRIMARY KEY, ${columns.join(', ')})`);
  const insert = client.prepare<StagedRow>(`INSERT INTO staged VALUES (?, ${columns.map(() => '?').join(', ')})`);
  const refuse = (errors: readonly RowError[]) => {
    staged.failed++;
    if (staged.errors.length >= MAX_ERRORS) return;
    // A cell that contains an erased address is not stored.
    for (const { value, ...error } of errors)
      staged.errors.push(value === undefined || addressesIn(value).some(isErased) ? error : { ...error, value });
  };
  client.exec('BEGIN');
  try {
    for await (const { rows, lines, malformed } of csv.batches()) {
      rows.forEach((cells, at) => {
        if (cells.every((cell) => cell === '')) return;
        staged.rows++;
        const { row, errors } = reader.read(lines[at] ?? 0, cells);
        if (row !== null) insert.run(...row);
        else refuse(errors);
      });
      for (const line of malformed) {
        staged.rows++;
        refuse([{ line, field: '', text: stored(sentence('row_text')) }]);
      }
      progress?.read(bytesRead(), size);
    }
  } finally {
    client.exec('COMMIT');
  }
  const { count, named } = reader.invalidZones;
  if (count > 0)
    notes.push(stored(sentence('column_zones', { name: ZONE_FIELD, count, values: [...named].join(', ') })));
  if (reader.joinedCells > 0) notes.push(stored(sentence('column_folded', { count: reader.joinedCells })));
  return staged;
}
