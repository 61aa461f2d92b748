/**
 * The files that backups and restores create next to the database: their names, the free space for them, and the removal of unfinished files
 * after the service was killed.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { conflict } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { MEBIBYTE } from '../../units.ts';

/** The endings of the files that SQLite creates next to a database. */
const COMPANION_SUFFIXES = ['-wal', '-shm', '-journal'];
/** The end of the name of an unfinished file or of a file next to it, after the name of the database and a dot. */
const UNFINISHED = new RegExp(`^[0-9a-f]{12}\\.unfinished(${COMPANION_SUFFIXES.join('|')})?$`);

/** Returns the path with symbolic links resolved. If the file does not exist, resolves only the links of its folder. */
export function realPath(path: string): string {
  const full = resolve(path);
  if (existsSync(full)) return realpathSync(full);
  const folder = dirname(full);
  return existsSync(folder) ? join(realpathSync(folder), basename(full)) : full;
}

/** Returns a new name for an unfinished file in the same folder, so that the file can be renamed to `path`. */
export function unfinishedName(path: string): string {
  return `${path}.${randomBytes(6).toString('hex')}.unfinished`;
}

/** Removes a file and the files that SQLite created next to it. */
export function removeWithCompanions(path: string): void {
  for (const suffix of ['', ...COMPANION_SUFFIXES]) rmSync(path + suffix, { force: true });
}

/**
 * Removes the unfinished files of this database that a killed service or command left. Only the server that holds the lock of
 * the database may call this, before it creates such files itself.
 */
export function removeUnfinished(databasePath: string): void {
  const path = realPath(databasePath);
  const start = `${basename(path)}.`;
  const unfinished = readdirSync(dirname(path)).filter(
    (name) => name.startsWith(start) && UNFINISHED.test(name.slice(start.length)),
  );
  for (const name of unfinished) rmSync(join(dirname(path), name), { force: true });
}

/** The free space that is reserved for the service itself. */
const RESERVE_BYTES = 128 * MEBIBYTE;

/** Returns the size of the database with its write-ahead log, and the free space on its disk, in bytes. */
export async function diskUse(databasePath: string): Promise<{ database: number; free: number }> {
  const { bavail, bsize } = await statfs(dirname(databasePath));
  return { database: (await sizeOf(databasePath)) + (await sizeOf(`${databasePath}-wal`)), free: bavail * bsize };
}

/** Returns how many bytes another file next to the database may have. Throws 409 if this is less than `needed`. */
export async function requireRoom(needed: number, databasePath: string): Promise<number> {
  const { free } = await diskUse(databasePath);
  const room = free - RESERVE_BYTES;
  if (room < needed) {
    const mebibytes = (bytes: number) => Math.ceil(Math.max(0, bytes) / MEBIBYTE);
    const values = { needed: mebibytes(needed), free: mebibytes(room) };
    throw conflict(sentence('backup_no_room', values));
  }
  return room;
}

/** Returns the size of a file; 0 if it does not exist, such as a write-ahead log that SQLite removed after a checkpoint. */
async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => ({ size: 0 }))).size;
}
