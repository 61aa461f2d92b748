/**
 * Puts a checked backup in the place of the database while no service runs on it. A restore confirmed in the dashboard waits as
 * a file next to the database, because a database that is open cannot be replaced. The next start puts that file in place.
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { findNamedValue, removeNamedValue, writeNamedValue } from '../../database/named-values.ts';
import { connect } from '../../database/open.ts';
import { schemaState } from '../../database/upgrade.ts';
import { realPath, removeWithCompanions } from './files.ts';
import { continueFromCopy, lastIds } from './restored-copy.ts';

/** The name of the stored value that says who confirmed the restore. */
const CONFIRMED_BY = 'restore_confirmed_by';

/** Marks a checked backup as confirmed, so that the next start puts it in place. `who` is for the audit log. */
export function confirmRestore(path: string, databasePath: string, who: string): void {
  const { $client } = connect(path);
  try {
    writeNamedValue($client, CONFIRMED_BY, who);
    $client.pragma('journal_mode = DELETE');
  } finally {
    $client.close();
  }
  renameSync(path, waitingPath(databasePath));
  syncFolder(databasePath);
}

/**
 * Puts a confirmed backup in the place of the database. Returns the name under which the replaced file is kept, or why the backup cannot be
 * used; null if no backup waits. After a kill at any moment a database is at the path, and the next start continues. A backup that cannot be
 * used is renamed, and the service starts with its present database. Call this while holding the lock of the database, before opening it.
 */
export function putWaitingInPlace(databasePath: string, now: Date): { kept: string } | { refused: string } | null {
  const path = realPath(databasePath);
  const waiting = waitingPath(path);
  if (!existsSync(waiting)) return null;
  try {
    prepare(waiting, path);
  } catch (error) {
    const aside = `${path}.not-restored-${stamp(now)}`;
    renameSync(waiting, aside);
    removeWithCompanions(waiting);
    return { refused: `${aside} could not be restored: ${error instanceof Error ? error.message : error}` };
  }
  mergeWriteAheadLog(path);
  if (existsSync(path)) chmodSync(waiting, statSync(path).mode & 0o777);
  const kept = keepReplaced(path, now);
  renameSync(waiting, path);
  syncFolder(path);
  return { kept };
}

/** Prepares the waiting backup so that the service can continue with it: sending is held, and new ids begin beyond all assigned ids. */
function prepare(waiting: string, path: string): void {
  const { $client } = connect(waiting);
  try {
    if (schemaState($client) === 'newer') throw new Error('it is of a newer release');
    const who = findNamedValue($client, CONFIRMED_BY);
    // If the value is missing, an earlier start has already prepared the backup and was then killed.
    if (who !== null) {
      $client.transaction(() => {
        continueFromCopy($client, readLastIds(path), who);
        removeNamedValue($client, CONFIRMED_BY);
      })();
    }
    $client.pragma('journal_mode = DELETE');
  } finally {
    $client.close();
  }
}

/**
 * Gives the file that will be replaced a second name (a hard link), so that a database is at its path at every moment. Returns the second
 * name, which stays unused if there is no file.
 */
function keepReplaced(path: string, now: Date): string {
  const prefix = `${basename(path)}.before-restore-`;
  const kept = join(dirname(path), prefix + stamp(now));
  if (!existsSync(path)) return kept;
  // After a kill between this link and the replacement, the file already has its second name.
  for (const name of readdirSync(dirname(path)).filter((file) => file.startsWith(prefix)))
    if (isSameFile(join(dirname(path), name), path)) return join(dirname(path), name);
  try {
    linkSync(path, kept);
  } catch {
    // The file system does not support hard links.
    renameSync(path, kept);
  }
  return kept;
}

/**
 * Returns the last ids of the replaced database by table name. The map is empty if that database is missing or cannot be read, which may be
 * the reason for the restore.
 */
export function readLastIds(path: string): Map<string, number> {
  if (!existsSync(path)) return new Map();
  try {
    const { $client } = connect(path);
    try {
      return lastIds($client);
    } finally {
      $client.close();
    }
  } catch {
    return new Map();
  }
}

/** Merges the old write-ahead log into its database and removes it, because SQLite would apply it to the new file. */
export function mergeWriteAheadLog(path: string): void {
  try {
    if (existsSync(path)) connect(path).$client.close();
  } catch {
    // The file is damaged, which may be the reason for the restore.
  }
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
}

function waitingPath(databasePath: string): string {
  return `${realPath(databasePath)}.to-restore`;
}

/** Formats a time for a file name, such as 20260115T090000Z. */
function stamp(now: Date): string {
  return now.toISOString().replace(/[-:]|\.\d+/g, '');
}

/** Waits until the renamed files of a folder are on the disk, so that a power failure does not undo the renaming. */
function syncFolder(path: string): void {
  const folder = openSync(dirname(realPath(path)), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function isSameFile(path: string, otherPath: string): boolean {
  const file = statSync(path);
  const other = statSync(otherPath);
  return file.dev === other.dev && file.ino === other.ino;
}
