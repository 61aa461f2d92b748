/** Gives the space of removed rows back to the disk. */
import { setTimeout } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';

const INCREMENTAL = 2;
/** Pages moved and cut off in one short write: a few milliseconds. */
const PAGES_AT_ONCE = 100;
/** Between two of them the lock is free for so long. */
const PAUSE_MS = 2;

/** How many bytes of the file hold nothing. */
export function freeBytes(client: Database): number {
  return (
    Number(client.pragma('freelist_count', { simple: true })) * Number(client.pragma('page_size', { simple: true }))
  );
}

/**
 * Cuts the free pages off the file in short writes, so that the service may run meanwhile; gives the bytes. A file that an earlier
 * release made can not be cut so before `makeShrinkable`: then it is 0. The file itself is smaller after the next checkpoint.
 */
export async function shrink(client: Database): Promise<number> {
  if (!isShrinkable(client)) return 0;
  const before = freeBytes(client);
  for (let free = before; free > 0; ) {
    client.pragma(`incremental_vacuum(${PAGES_AT_ONCE})`);
    const left = freeBytes(client);
    if (left >= free) break;
    free = left;
    await setTimeout(PAUSE_MS);
  }
  client.pragma('wal_checkpoint(PASSIVE)');
  return before - freeBytes(client);
}

/** Whether free pages can be cut off the file in short writes (SQLite, "PRAGMA auto_vacuum"). */
export function isShrinkable(client: Database): boolean {
  return client.pragma('auto_vacuum', { simple: true }) === INCREMENTAL;
}

/** Writes the whole file anew without its free pages, and so that `shrink` can cut it later. Nothing else may use the file meanwhile. */
export function makeShrinkable(client: Database): void {
  client.pragma(`auto_vacuum = ${INCREMENTAL}`);
  client.exec('VACUUM');
}
