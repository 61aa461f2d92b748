/** Distinguishes temporary failures of the whole database from errors of one record. */
import { SqliteError } from 'better-sqlite3';

/** Whether the disk is full or failing or the file is locked: nothing can be written now, but the same write may work later. */
export function isTransientSqliteError(error: unknown): boolean {
  return error instanceof SqliteError && /^SQLITE_(FULL|IOERR|BUSY)/.test(error.code);
}
