/** The files that backing up and restoring make beside the database: their names, the room for them, and removing what a killed service left. */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Database } from 'better-sqlite3';
import { findNamedValue, writeNamedValue } from '../database/named-values.ts';
import { conflict } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';

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

/** What stays free for the service itself. */
const RESERVE_BYTES = 128 * 2 ** 20;

/** The size of the database with its write-ahead log, and the free space beside it, in bytes. */
export async function diskUse(databasePath: string): Promise<{ database: number; free: number }> {
  const { bavail, bsize } = await statfs(dirname(databasePath));
  return { database: (await sizeOf(databasePath)) + (await sizeOf(`${databasePath}-wal`)), free: bavail * bsize };
}

/** The bytes that another file beside the database may have. Throws 409 when they are fewer than `needed`. */
export async function roomFor(needed: number, databasePath: string): Promise<number> {
  const { free } = await diskUse(databasePath);
  const room = free - RESERVE_BYTES;
  if (room < needed) {
    const megabytes = (bytes: number) => Math.ceil(Math.max(0, bytes) / 2 ** 20);
    const values = { needed: megabytes(needed), free: megabytes(room) };
    throw conflict(sentence('backup_no_room', values));
  }
  return room;
}

/** The size of a file; 0 if it does not exist, such as a write-ahead log that was merged into the database. */
async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => ({ size: 0 }))).size;
}

const NAME = 'last_backup_at';

/** Remembers that a backup was finished at this time (ISO timestamp). */
export function recordBackup(client: Database, at: string): void {
  writeNamedValue(client, NAME, at);
}

/** When the last backup was finished, as an ISO timestamp; null when there was none. */
export function lastBackupAt(client: Database): string | null {
  return findNamedValue(client, NAME);
}
