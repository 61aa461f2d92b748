/** When the database was last backed up by `sendlark backup`. */
import type { Database } from 'better-sqlite3';
import { findNamedValue, writeNamedValue } from './named-values.ts';

const NAME = 'last_backup_at';

/** Remembers that a backup was finished at this time (ISO timestamp). */
export function recordBackup(client: Database, at: string): void {
  writeNamedValue(client, NAME, at);
}

/** When the last backup was finished, as an ISO timestamp; null when there was none. */
export function lastBackupAt(client: Database): string | null {
  return findNamedValue(client, NAME);
}
