/** Telling what stands in everybody's way for now from what is wrong with one record. */
import { SqliteError } from 'better-sqlite3';

/** Whether the disk is full or failing or the file locked: nothing can be written now, and later the same may well work. */
export function isTransientSqliteError(error: unknown): boolean {
  return error instanceof SqliteError && /^SQLITE_(FULL|IOERR|BUSY)/.test(error.code);
}
