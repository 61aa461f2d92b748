/** The names of the files that backing up and restoring make beside the database, and removing what a killed service left of them. */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** What SQLite puts beside a file, by the end of the name. */
const BESIDE = ['-wal', '-shm', '-journal'];

/** The path with symbolic links resolved; only those of its folder when the file does not exist. */
export function realPath(path: string): string {
  const full = resolve(path);
  if (existsSync(full)) return realpathSync(full);
  const folder = dirname(full);
  return existsSync(folder) ? join(realpathSync(folder), basename(full)) : full;
}

/** A new name for a file that is not complete yet, in the same folder, so that it can be renamed to `path`. */
export function unfinishedName(path: string): string {
  return `${path}.${randomBytes(6).toString('hex')}.unfinished`;
}

/** Removes a file with what SQLite put beside it. */
export function removeWhole(path: string): void {
  for (const end of ['', ...BESIDE]) rmSync(path + end, { force: true });
}

/**
 * Removes the unfinished files of this database that a killed service or command left behind. Only the server that holds the database
 * may call this, before it makes any.
 */
export function removeUnfinished(databasePath: string): void {
  const path = realPath(databasePath);
  const start = `${basename(path)}.`;
  const left = readdirSync(dirname(path)).filter(
    (name) =>
      name.startsWith(start) && /^[0-9a-f]{12}\.unfinished(-wal|-shm|-journal)?$/.test(name.slice(start.length)),
  );
  for (const name of left) rmSync(join(dirname(path), name), { force: true });
}
