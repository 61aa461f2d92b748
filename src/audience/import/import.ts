/**
 * Imports contacts from a CSV file. Rows are first checked and stored in a temporary table of this connection, then written in short
 * transactions, sorted by address. Sorting keeps the cost per row from growing with the table, and short transactions keep other
 * threads from waiting. After a kill half-way, the same file can be imported again.
 */
import { createReadStream, statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { sql } from 'drizzle-orm';
import type { Clock } from '../../clock.ts';
import { isoTimestamp, systemClock } from '../../clock.ts';
import { inChunks } from '../../database/bulk.ts';
import type { Db } from '../../database/open.ts';
import { contactImports } from '../../database/schema/index.ts';
import { sentence } from '../../sentences.ts';
import { listCustomFields } from '../contacts/contact-fields.ts';
import { erasedTest } from '../contacts/erased.ts';
import { recordMembershipChange, syncAfterContactChange } from '../segments/membership.ts';
import { readCsv } from './csv.ts';
import { CsvError } from './csv-parse.ts';
import { parseHeader, type RowError, RowReader, type StagedRow } from './import-rows.ts';

export interface ImportJob {
  databasePath: string;
  accountId: number;
  typeId: number;
  /** The path of the uploaded file. */
  path: string;
  fileName: string;
  /** The field of each column of the file, '' for none; absent: as the header row says. */
  mapping?: string[];
  /** Where the progress is written: bytes read, of how many, people written, of how many. Shared with the thread that shows it. */
  progress?: Float64Array;
}

export interface ImportReport {
  /** The id of the stored report; 0 when the file could not be imported at all. */
  id: number;
  created: number;
  updated: number;
  rows: number;
  failed: number;
  notes: string[];
  errors: RowError[];
}

/** Receives the progress of an import: first the bytes that are read and checked, then the people that are written. */
export interface ImportProgress {
  read(bytes: number, whole: number): void;
  wrote(people: number, whole: number): void;
}

const MAX_ERRORS = 1000;

/** Imports the file and stores a report. A file without a valid row changes nothing, and its report has the id 0. */
export async function importContacts(
  db: Db,
  job: ImportJob,
  clock: Clock = systemClock,
  progress?: ImportProgress,
): Promise<ImportReport> {
  const told = progress ?? (job.progress && sharedProgress(job.progress));
  const client = db.$client;
  const report: ImportReport = { id: 0, created: 0, updated: 0, rows: 0, failed: 0, notes: [], errors: [] };
  let writtenAt = '';
  try {
    const columns = await stage(db, job, report, told);
    if (report.rows === report.failed) return report;
    sortStaged(client);
    // Do not wait for the disk after every chunk. The report is stored with synchronous = FULL, and that makes all chunks durable
    // before the import is answered.
    client.pragma('synchronous = NORMAL');
    writtenAt = isoTimestamp(clock.now());
    await write(db, job, columns, writtenAt, report, told);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { ...report, notes: [...report.notes, error.message] };
  } finally {
    client.pragma('synchronous = FULL');
    client.exec('DROP TABLE IF EXISTS temp.staged; DROP TABLE IF EXISTS temp.sorted');
  }
  const { created, updated, rows, failed, notes, errors } = report;
  const stored = db
    .insert(contactImports)
    .values({
      user_id: job.accountId,
      contact_type_id: job.typeId,
      file_name: job.fileName,
      created,
      updated,
      rows,
      failed,
      notes,
      errors,
      written_at: writtenAt,
      created_at: isoTimestamp(clock.now()),
    })
    .returning({ id: contactImports.id })
    .get();
  return { ...report, id: stored.id };
}

function sharedProgress(shared: Float64Array): ImportProgress {
  return { read: (...bytes) => shared.set(bytes, 0), wrote: (...people) => shared.set(people, 2) };
}

/** Reads and checks every row; gives the contact columns that the file has. */
async function stage(
  db: Db,
  job: ImportJob,
  report: ImportReport,
  progress: ImportProgress | undefined,
): Promise<string[]> {
  const client = db.$client;
  const size = statSync(job.path).size;
  let bytesRead = () => 0;
  const csv = await readCsv(() => {
    const file = createReadStream(job.path);
    bytesRead = () => file.bytesRead;
    return file;
  });
  const fields = listCustomFields(db, job.accountId);
  const header = parseHeader(job.mapping ?? csv.header, fields);
  report.notes.push(...csv.notes);
  if (job.mapping === undefined)
    report.notes.push(...header.unknown.map((name) => sentence('column_unknown', { name })));
  const reader = new RowReader(header, erasedTest(client, job.accountId));
  const staged = ['normalized', ...reader.columns];
  client.exec(`CREATE TEMP TABLE staged (line INTEGER PRIMARY KEY, ${staged.join(', ')})`);
  const insert = client.prepare<StagedRow>(`INSERT INTO staged VALUES (?, ${staged.map(() => '?').join(', ')})`);
  const refuse = (errors: readonly RowError[]) => {
    report.failed++;
    if (report.errors.length < MAX_ERRORS) report.errors.push(...errors);
  };
  client.exec('BEGIN');
  try {
    for await (const { rows, lines, malformed } of csv.batches()) {
      rows.forEach((cells, at) => {
        if (cells.every((cell) => cell === '')) return;
        report.rows++;
        const { row, errors } = reader.read(lines[at] ?? 0, cells);
        if (row !== null) insert.run(...row);
        else refuse(errors);
      });
      for (const line of malformed) {
        report.rows++;
        refuse([{ line, field: '', text: 'Text follows a closing quote.' }]);
      }
      progress?.read(bytesRead(), size);
    }
  } finally {
    client.exec('COMMIT');
  }
  if (reader.folded > 0) report.notes.push(`Address cells of several lines, joined into one: ${reader.folded}`);
  return reader.columns;
}

/** Sorts the rows in the order of the unique key. When an address occurs twice, the last row wins. */
function sortStaged(client: Database): void {
  client.exec(
    'CREATE TEMP TABLE sorted AS SELECT *, max(line) AS last_line FROM staged GROUP BY normalized ORDER BY normalized',
  );
}

async function write(
  db: Db,
  job: ImportJob,
  columns: string[],
  now: string,
  report: ImportReport,
  progress: ImportProgress | undefined,
): Promise<void> {
  const client = db.$client;
  const range = 'sorted.rowid > @after AND sorted.rowid <= @until';
  const addresses = client.prepare(`
    INSERT INTO addresses (user_id, normalized_email) SELECT @user, normalized FROM sorted WHERE ${range} ON CONFLICT DO NOTHING`);
  const kept = columns.filter((column) => column !== 'custom_values');
  const list = columns.join(', ');
  const updates = [
    ...kept.map((column) => `${column} = excluded.${column}`),
    ...(columns.includes('custom_values')
      ? ["custom_values = json_patch(ifnull(contacts.custom_values, '{}'), excluded.custom_values)"]
      : []),
  ];
  // CROSS JOIN makes the chunk the outer loop; otherwise the planner reads all contacts of the type for every chunk.
  const upsert = client.prepare(`
    INSERT INTO contacts (user_id, contact_type_id, address_id, ${list}, created_at, updated_at)
    SELECT @user, @type, a.id, ${columns.map((column) => (column === 'email' ? 'ifnull(sorted.email, normalized)' : `sorted.${column}`)).join(', ')}, @now, @now
    FROM sorted CROSS JOIN addresses a ON a.user_id = @user AND a.normalized_email = sorted.normalized WHERE ${range} ORDER BY sorted.rowid
    ON CONFLICT (contact_type_id, address_id) WHERE deleted_at IS NULL DO UPDATE SET ${updates.join(', ')}, updated_at = @now`);
  const last = client.prepare<[], number>('SELECT ifnull(max(id), 0) FROM contacts').pluck();
  // The plus keeps the planner from using the index on the type instead of the range of new ids.
  const countNew = client
    .prepare<[number, number], number>('SELECT count(*) FROM contacts WHERE id > ? AND +contact_type_id = ?')
    .pluck();
  const hasSegments = client
    .prepare<[number], number>(
      'SELECT EXISTS (SELECT 1 FROM segments WHERE contact_type_id = ? AND deleted_at IS NULL)',
    )
    .pluck();
  const written = client
    .prepare<Record<string, number>, number>(
      `SELECT a.id FROM sorted CROSS JOIN addresses a ON a.user_id = @user AND a.normalized_email = sorted.normalized WHERE ${range}`,
    )
    .pluck();
  const { accountId: user, typeId: type } = job;
  const whole = Number(client.prepare('SELECT max(rowid) FROM sorted').pluck().get());
  let after = 0;
  await inChunks(client, (rows) => {
    const chunk = { user, after, until: after + rows };
    addresses.run(chunk);
    const before = last.get() ?? 0;
    const { changes } = upsert.run({ ...chunk, type, now });
    const created = countNew.get(before, type) ?? 0;
    const joined = sql`SELECT address_id, id AS contact_id FROM contacts WHERE id > ${before} AND +contact_type_id = ${type}`;
    recordMembershipChange(db, { accountId: user, table: 'contacts', id: type }, 'joined', joined, now);
    if (hasSegments.get(type) === 1) syncAfterContactChange(db, type, written.all(chunk), now);
    report.created += created;
    report.updated += changes - created;
    after = chunk.until;
    progress?.wrote(Math.min(after, whole), whole);
    return changes === rows;
  });
}
