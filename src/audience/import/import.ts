/**
 * Imports contacts from a CSV file. Rows are first checked and stored in a temporary table of this connection, then written in short
 * transactions, sorted by address. Sorting keeps the cost per row from growing with the table, and short transactions keep other
 * threads from waiting. After a kill half-way, the same file can be imported again, and what was written can be undone.
 */
import { and, eq } from 'drizzle-orm';
import type { Db } from '../../database/open.ts';
import { contactImports } from '../../database/schema/index.ts';
import type { Clock } from '../../time/clock.ts';
import { isoTimestamp, systemClock } from '../../time/clock.ts';
import { CsvError } from './csv-parse.ts';
import { type ImportJob, type ImportProgress, sharedProgress } from './import-options.ts';
import type { RowError } from './import-rows.ts';
import { leavingNotes, markLeavers, stageLeavers } from './lists/leavers.ts';
import { makeFields, makeSegments } from './lists/make-lists.ts';
import { dropStaged, MAX_ERRORS, type Staged, stage } from './staging.ts';
import { UndoRecorder } from './undo/recorder.ts';
import { limitUndo, UNDO_MS } from './undo/undo.ts';
import { writeContacts } from './write-contacts.ts';

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

/**
 * Imports the file and stores a report. A file without a valid row changes nothing, and its report has the id 0. Of a migration, those who
 * left are marked before the first contact is written, so that a kill at any moment leaves nobody who left with a contact that gets mail.
 */
export async function importContacts(
  db: Db,
  job: ImportJob,
  clock: Clock = systemClock,
  progress?: ImportProgress,
): Promise<ImportReport> {
  const told = progress ?? (job.progress && sharedProgress(job.progress));
  const client = db.$client;
  const report: ImportReport = { id: 0, created: 0, updated: 0, rows: 0, failed: 0, notes: [], errors: [] };
  try {
    await makeFields(db, job, clock);
    const staged = await stage(db, job, told);
    const leaving = await stageLeavers(db, job);
    staged.notes.push(...leavingNotes(leaving));
    const { columns, hasTracking, erased, ...found } = staged;
    Object.assign(report, found);
    const hasPeople = report.rows > report.failed;
    if (!hasPeople && leaving.length === 0) return report;
    const now = isoTimestamp(clock.now());
    const id = begin(db, job, staged, now);
    // Do not wait for the disk after every chunk. The end is stored with synchronous = FULL, and that makes all chunks durable
    // before the import is answered.
    client.pragma('synchronous = NORMAL');
    const counts = { created: 0, updated: 0 };
    const recorder = new UndoRecorder(client, id, columns);
    const refuse = (errors: readonly RowError[]) => {
      if (errors.length === 0) return;
      report.failed += errors.length;
      report.errors = [...report.errors, ...errors].slice(0, Math.max(MAX_ERRORS, report.errors.length));
      const { failed, errors: all } = report;
      db.update(contactImports).set({ failed, errors: all }).where(eq(contactImports.id, id)).run();
    };
    try {
      const begun = { id, columns, hasTracking, erased, refuse, now, recorder };
      await markLeavers(db, job, begun);
      if (hasPeople) Object.assign(counts, await writeContacts(db, job, begun, told));
    } finally {
      recorder.close();
    }
    client.pragma('synchronous = FULL');
    await makeSegments(db, job, clock);
    const ended = isoTimestamp(clock.now());
    end(db, id, ended);
    limitUndo(db, job.accountId, ended);
    return { ...report, ...counts, id };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { ...report, notes: [...report.notes, error.message] };
  } finally {
    client.pragma('synchronous = FULL');
    dropStaged(client);
  }
}

/** Stores the report before the first contact is written, so that what a kill leaves can be undone; gives its id. */
function begin(db: Db, job: ImportJob, { rows, failed, notes, errors }: Staged, now: string): number {
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

function end(db: Db, id: number, now: string): void {
  // Not where its undo was asked for meanwhile.
  const isWriting = and(eq(contactImports.id, id), eq(contactImports.state, 'writing'));
  db.update(contactImports).set({ state: 'done', created_at: now }).where(isWriting).run();
}
