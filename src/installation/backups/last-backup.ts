/** The time of the last backup, which the dashboard and the health checks show. */
import type { Database } from 'better-sqlite3';
import { findNamedValue, writeNamedValue } from '../../database/named-values.ts';

/** The name of the stored value with the time of the last backup. */
const LAST_BACKUP = 'last_backup_at';

/** Records when a backup was finished (ISO timestamp). */
export function recordBackup(client: Database, at: string): void {
  writeNamedValue(client, LAST_BACKUP, at);
}

/** Returns when the last backup was finished, as an ISO timestamp; null if no backup was made. */
export function lastBackupAt(client: Database): string | null {
  return findNamedValue(client, LAST_BACKUP);
}
