/** Whether the disk has room for a copy of the database. */
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { conflict } from '../failure.ts';
import { sentence } from '../sentences.ts';

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
