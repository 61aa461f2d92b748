/**
 * Putting a checked backup in the place of the database, while no service runs on it. A restore that was confirmed in the dashboard
 * waits as a file beside the database, since the file under open connections cannot be exchanged; the next start puts it in place.
 */
import {
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
import { findNamedValue, removeNamedValue, writeNamedValue } from '../database/named-values.ts';
import { connect, schemaState } from '../database/open.ts';
import { continueFromCopy, lastIds } from './copies.ts';
import { realPath, removeWhole } from './files.ts';

/** The row of `installation` that says who confirmed the restore. */
const CONFIRMED_BY = 'restore_confirmed_by';

/** Makes a checked backup the one that the next start puts in place of the database; `who` is for the audit log. */
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
 * Puts the backup in place that waits beside the database, if there is one; gives the name under which the replaced file is kept, or null.
 * A kill at any moment leaves either file at the database's path, and the next start goes on. A backup that cannot be used is set aside:
 * the service then starts with the database it has. To be called by whoever holds the lock of the database, before it is opened.
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
    removeWhole(waiting);
    return { refused: `${aside} could not be restored: ${error instanceof Error ? error.message : error}` };
  }
  foldIn(path);
  const kept = keep(path, now);
  renameSync(waiting, path);
  syncFolder(path);
  return { kept };
}

/** Makes the file one with which the service goes on where the replaced one stopped: sending held, ids beyond those handed out. */
function prepare(waiting: string, path: string): void {
  const { $client } = connect(waiting);
  try {
    if (schemaState($client) === 'newer') throw new Error('it is of a newer release');
    const who = findNamedValue($client, CONFIRMED_BY);
    // Without the row, a start that was killed has done this already.
    if (who !== null) {
      $client.transaction(() => {
        continueFromCopy($client, idsHandedOut(path), who);
        removeNamedValue($client, CONFIRMED_BY);
      })();
    }
    $client.pragma('journal_mode = DELETE');
  } finally {
    $client.close();
  }
}

/** Gives the replaced file a second name, so that there is a database at its path at every moment. */
function keep(path: string, now: Date): string {
  const start = `${basename(path)}.before-restore-`;
  const kept = join(dirname(path), start + stamp(now));
  if (!existsSync(path)) return kept;
  // A kill after this and before the exchange: the next start keeps it under one name all the same.
  for (const name of readdirSync(dirname(path)).filter((one) => one.startsWith(start)))
    if (isSameFile(join(dirname(path), name), path)) return join(dirname(path), name);
  try {
    linkSync(path, kept);
  } catch {
    // The file system has no hard links.
    renameSync(path, kept);
  }
  return kept;
}

/** The highest ids of the database that is replaced. None when it is missing or cannot be read, which may be why it is replaced. */
export function idsHandedOut(path: string): Map<string, number> {
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

/** Removes the old write-ahead log: SQLite would apply it to the new file. */
export function foldIn(path: string): void {
  try {
    if (existsSync(path)) connect(path).$client.close();
  } catch {
    // The file is damaged, which may be why it is replaced.
  }
  for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true });
}

function waitingPath(databasePath: string): string {
  return `${realPath(databasePath)}.to-restore`;
}

/** A moment as a part of a file name, such as 20260115T090000Z. */
function stamp(now: Date): string {
  return now.toISOString().replace(/[-:]|\.\d+/g, '');
}

/** Waits until the folder of a file has the names it was given on disk, so that a power cut does not undo them. */
function syncFolder(path: string): void {
  const folder = openSync(dirname(realPath(path)), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function isSameFile(one: string, other: string): boolean {
  const [a, b] = [statSync(one), statSync(other)];
  return a.dev === b.dev && a.ino === b.ino;
}
