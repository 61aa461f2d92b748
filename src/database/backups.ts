/** When the database was last backed up by `sendlark backup`. */
import type { Database } from 'better-sqlite3';

const NAME = 'last_backup_at';

/** Remembers that a backup was finished at this time (ISO timestamp). */
export function recordBackup(client: Database, at: string): void {
  client
    .prepare(
      'INSERT INTO installation (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    )
    .run(NAME, at);
}

/** When the last backup was finished, as an ISO timestamp; null when there was none. */
export function lastBackupAt(client: Database): string | null {
  return client.prepare<[string], string>('SELECT value FROM installation WHERE name = ?').pluck().get(NAME) ?? null;
}
