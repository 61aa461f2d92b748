/**
 * Imports contacts from a CSV file. Rows are first checked and stored in a temporary table of this connection, then written in
 * short transactions, sorted by address. Sorting keeps the cost per row from growing with the table, and short transactions keep
 * other threads from waiting. After a kill in the middle, the same file can be imported again, and what was written can be undone.
 */

import type { Database } from 'better-sqlite3';
import { and, eq, sql } from 'drizzle-orm';
import { inChunks } from '../../database/bulk.ts';
import type { Db } from '../../database/open.ts';
import { contactImports } from '../../database/schema/index.ts';
import { messages } from '../../errors/field-errors.ts';
import { sentence } from '../../errors/sentences.ts';
import { english, stored } from '../../errors/stored.ts';
import { type Clock, isoTimestamp, systemClock } from '../../time/clock.ts';
import { parseAddress } from '../contacts/addresses.ts';
import { countErasedAddresses, erasedAmong } from '../contacts/erased-addresses.ts';
import { recordMembershipChange, syncAfterContactChange, withoutFieldTriggers } from '../segments/membership.ts';
import { CsvError } from './csv-parse.ts';
import {
  DEFAULT_OPTIONS,
  type ImportJob,
  type ImportOptions,
  type ImportProgress,
  sharedProgress,
} from './import-job.ts';
import { addToLists, importTrackingChoices, leavingNotes, markLeavers, stageLeavers } from './lists.ts';
import { makeFields, makeSegments } from './make-lists.ts';
import type { RowError } from './rows.ts';
import { dropStaged, MAX_ERRORS, type StagedFile, stage } from './staging.ts';
import { limitUndo, UNDO_MS } from './undo.ts';
import { type Chunk, UndoRecorder } from './undo-records.ts';
import { valueAfter } from './value-after.ts';

/** What an import did. */
export interface ImportReport {
  /** The id of the stored report; 0 if the file could not be imported at all. */
  id: number;
  created: number;
  updated: number;
  rows: number;
  failed: number;
  /** Notes for the user, in their stored form. */
  notes: string[];
  errors: RowError[];
}

/**
 * Imports the file and stores a report. A file without a valid row changes nothing, and its report has the id 0. A migration unsubscribes
 * or suppresses the leavers before it writes the first contact, so that after a kill no leaver has a contact that gets mail.
 */
export async function importContacts(
  db: Db,
  job: ImportJob,
  clock: Clock = systemClock,
  progress?: ImportProgress,
): Promise<ImportReport> {
  const shownProgress = progress ?? (job.progress && sharedProgress(job.progress));
  const client = db.$client;
  const report: ImportReport = { id: 0, created: 0, updated: 0, rows: 0, failed: 0, notes: [], errors: [] };
  try {
    await makeFields(db, job, clock);
    const staged = await stage(db, job, shownProgress);
    const leaving = await stageLeavers(db, job);
    staged.notes.push(...leavingNotes(leaving));
    const { columns, hasTracking, erased } = staged;
    report.rows = staged.rows;
    report.failed = staged.failed;
    report.notes = staged.notes;
    report.errors = staged.errors;
    const hasPeople = report.rows > report.failed;
    if (!hasPeople && leaving.length === 0) return report;
    const now = isoTimestamp(clock.now());
    const id = beginImport(db, job, staged, now);
    // Do not wait for the disk after every chunk. The end is stored with synchronous = FULL, which makes all chunks durable
    // before the import is answered.
    client.pragma('synchronous = NORMAL');
    const counts = { created: 0, updated: 0 };
    const recorder = new UndoRecorder(client, id, columns);
    const refuse = (errors: readonly RowError[]) => {
      if (errors.length === 0) return;
      report.failed += errors.length;
      // These contacts were erased after the file was read. The cells of other failed rows may name them, so the report drops all cells.
      const earlier = report.errors.map(({ value: _cell, ...error }) => error);
      report.errors = [...earlier, ...errors].slice(0, Math.max(MAX_ERRORS, earlier.length));
      const changed = { failed: report.failed, errors: report.errors };
      db.update(contactImports).set(changed).where(eq(contactImports.id, id)).run();
    };
    try {
      const running = { id, columns, hasTracking, erased, refuse, now, recorder };
      await markLeavers(db, job, running);
      if (hasPeople) Object.assign(counts, await writeContacts(db, job, running, shownProgress));
    } finally {
      recorder.close();
    }
    client.pragma('synchronous = FULL');
    const segmentsNote = await makeSegments(db, job, clock);
    if (segmentsNote !== null) {
      report.notes = [...report.notes, stored(segmentsNote)];
      db.update(contactImports).set({ notes: report.notes }).where(eq(contactImports.id, id)).run();
    }
    const ended = isoTimestamp(clock.now());
    endImport(db, id, ended);
    limitUndo(db, job.accountId, ended);
    return { ...report, ...counts, id };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { ...report, notes: [...report.notes, stored(error.said)] };
  } finally {
    client.pragma('synchronous = FULL');
    dropStaged(client);
  }
}

/** Returns a report with its texts in English, for commands. */
export function inEnglish<Report extends Pick<ImportReport, 'notes' | 'errors'>>(report: Report): Report {
  const errors = report.errors.map((error) => ({ ...error, text: english(error.text) }));
  return { ...report, notes: report.notes.map((note) => english(note)), errors };
}

/** Stores the report before the first contact is written, so that an import interrupted by a kill can be undone. Returns its id. */
function beginImport(db: Db, job: ImportJob, { rows, failed, notes, errors }: StagedFile, now: string): number {
  const { id } = db
    .insert(contactImports)
    .values({
      user_id: job.accountId,
      contact_type_id: job.typeId,
      file_name: job.fileName,
      rows,
      failed,
      notes,
      errors,
      written_at: now,
      state: 'writing',
      undo_until: isoTimestamp(new Date(Date.parse(now) + UNDO_MS)),
      created_at: now,
    })
    .returning({ id: contactImports.id })
    .get();
  return id;
}

function endImport(db: Db, id: number, now: string): void {
  // The state of an import stays if its undo was requested meanwhile.
  const isWriting = and(eq(contactImports.id, id), eq(contactImports.state, 'writing'));
  db.update(contactImports).set({ state: 'done', created_at: now }).where(isWriting).run();
}

/** What the transactions of an import share. */
interface RunningImport {
  /** The id of its row in contact_imports. */
  id: number;
  /** The contact columns that the file has. */
  columns: readonly string[];
  /** True if the file has choices about the recording of opens and clicks. */
  hasTracking: boolean;
  /** How many addresses of the account were erased when the file was read. */
  erased: number;
  /** Counts rows as failed that turn out not to be written. Call it in the transaction of their chunk. */
  refuse(errors: readonly RowError[]): void;
  /** The ISO timestamp of the contacts that the import writes. */
  now: string;
  recorder: UndoRecorder;
}

/**
 * Writes all contacts of temp.sorted. Returns how many were created and changed. Throws a `CsvError` if the import is undone meanwhile.
 */
async function writeContacts(
  db: Db,
  job: ImportJob,
  { id, columns, hasTracking, erased, refuse, now, recorder }: RunningImport,
  progress: ImportProgress | undefined,
): Promise<{ created: number; updated: number }> {
  const client = db.$client;
  const { accountId: user, typeId: type, options = DEFAULT_OPTIONS } = job;
  const { startsAutomations } = options;
  const addAddresses = client.prepare(`
    INSERT INTO addresses (user_id, normalized_email) SELECT @user, normalized FROM sorted WHERE ${IN_CHUNK} ON CONFLICT DO NOTHING`);
  const upsert = client.prepare(upsertSql(columns, options));
  const highestId = client.prepare<[], number>('SELECT ifnull(max(id), 0) FROM contacts').pluck();
  // The unary plus keeps the planner from using the index on the type instead of the range of new ids.
  const countNew = client
    .prepare<[number, number], number>('SELECT count(*) FROM contacts WHERE id > ? AND +contact_type_id = ?')
    .pluck();
  const hasSegments = client
    .prepare<[number], number>(
      'SELECT EXISTS (SELECT 1 FROM segments WHERE contact_type_id = ? AND deleted_at IS NULL)',
    )
    .pluck();
  const addressIds = client
    .prepare<Record<string, number>, number>(
      `SELECT a.id FROM sorted CROSS JOIN addresses a ON a.user_id = @user AND a.normalized_email = sorted.normalized WHERE ${IN_CHUNK}`,
    )
    .pluck();
  // Changes no row if a user has requested the undo of the import, which then ends.
  const addToCounts = client.prepare(
    "UPDATE contact_imports SET created = created + ?, updated = updated + ? WHERE id = ? AND state = 'writing'",
  );
  const rowCount = Number(client.prepare('SELECT max(rowid) FROM sorted').pluck().get());
  const counts = { created: 0, updated: 0 };
  let after = 0;
  const write = (rows: number) => {
    const chunk = { user, after, until: Math.min(after + rows, rowCount) };
    if (countErasedAddresses(client, user) > erased) refuse(dropErased(client, columns, chunk));
    addAddresses.run(chunk);
    const before = highestId.get() ?? 0;
    const run = () => upsert.run({ ...chunk, type, now });
    const { changes } = startsAutomations ? run() : withoutFieldTriggers(db, run);
    const created = countNew.get(before, type) ?? 0;
    recorder.recordAdded(before, highestId.get() ?? 0);
    const joined = sql`SELECT address_id, id AS contact_id FROM contacts WHERE id > ${before} AND +contact_type_id = ${type}`;
    if (startsAutomations) recordMembershipChange(db, { table: 'contacts', id: type }, 'joined', joined, now);
    if (hasSegments.get(type) === 1)
      syncAfterContactChange(db, type, addressIds.all(chunk), now, {
        saveOldRows: (rows) => recorder.recordMembers(rows),
        startsAutomations,
      });
    addToLists(db, job, chunk, recorder, now);
    if (hasTracking) importTrackingChoices(db, job, chunk, recorder, now);
    if (addToCounts.run(created, changes - created, id).changes === 0)
      throw new CsvError(null, sentence('import_stopped'));
    counts.created += created;
    counts.updated += changes - created;
    after = chunk.until;
    progress?.wrote(after, rowCount);
    return after < rowCount;
  };
  await inChunks(client, write);
  return counts;
}

/** SQL: the rows of a chunk of temp.sorted. */
const IN_CHUNK = 'sorted.rowid > @after AND sorted.rowid <= @until';

/** Returns SQL that adds the contacts of a chunk, and changes those that exist already unless the options say to keep them. */
function upsertSql(columns: readonly string[], options: ImportOptions): string {
  const values = columns.map((column) =>
    column === 'email' ? 'ifnull(sorted.email, normalized)' : `sorted.${column}`,
  );
  const updates = columns.map((column) => `${column} = ${valueAfter(column, options, 'excluded', 'contacts')}`);
  // CROSS JOIN makes the chunk the outer loop; otherwise the planner reads all contacts of the type for every chunk.
  return `
    INSERT INTO contacts (user_id, contact_type_id, address_id, ${columns.join(', ')}, created_at, updated_at)
    SELECT @user, @type, a.id, ${values.join(', ')}, @now, @now
    FROM sorted CROSS JOIN addresses a ON a.user_id = @user AND a.normalized_email = sorted.normalized WHERE ${IN_CHUNK} ORDER BY sorted.rowid
    ON CONFLICT (contact_type_id, address_id) WHERE deleted_at IS NULL
      DO ${options.existing === 'keep' ? 'NOTHING' : `UPDATE SET ${updates.join(', ')}, updated_at = @now`}`;
}

/**
 * Removes rows from a chunk of temp.sorted whose first or second address was erased since the file was read, so that erased
 * contacts are not added again. Returns these rows as failed.
 */
function dropErased(client: Database, columns: readonly string[], { user, after, until }: Chunk): RowError[] {
  const second = columns.includes('alt_email') ? 'alt_email' : 'NULL';
  const rows = client
    .prepare<[number, number], { id: number; line: number; email: string; alt_email: string | null }>(
      `SELECT rowid AS id, last_line AS line, normalized AS email, ${second} AS alt_email FROM sorted WHERE rowid > ? AND rowid <= ?`,
    )
    .all(after, until)
    .map((row) => ({ ...row, alt_email: row.alt_email && (parseAddress(row.alt_email)?.normalized ?? null) }));
  const addresses = rows.flatMap(({ email, alt_email }) => (alt_email === null ? [email] : [email, alt_email]));
  const erased = new Set(erasedAmong(client, user, addresses));
  const errors = rows.flatMap(({ id, line, ...emails }) => {
    const field = (['email', 'alt_email'] as const).find((name) => erased.has(emails[name] ?? ''));
    return field === undefined ? [] : [{ id, line, field, text: stored(messages.erased(field)) }];
  });
  client
    .prepare('DELETE FROM sorted WHERE rowid IN (SELECT value FROM json_each(?))')
    .run(JSON.stringify(errors.map(({ id }) => id)));
  return errors.map(({ line, field, text }) => ({ line, field, text }));
}
