/** Returns the space of removed rows from the file to the disk. */
import { setTimeout } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { inChunks } from './bulk.ts';

/** The value of the pragma auto_vacuum with which free pages can be cut off in parts. */
const INCREMENTAL = 2;
/** The number of pages that one short write moves and cuts off, which takes a few milliseconds. */
const PAGES_AT_ONCE = 100;
/** How long the lock stays free between two of these writes. */
const PAUSE_MS = 2;
/** Moving and cutting off a page takes about as long as writing this number of rows. */
const ROWS_PER_PAGE = 4;
/** This share of the file may stay free for new rows, so that the file does not shrink and grow repeatedly. */
const SPARE_SHARE = 1 / 8;

/** Returns how many bytes of the file are unused. */
export function freeBytes(client: Database): number {
  return (
    Number(client.pragma('freelist_count', { simple: true })) * Number(client.pragma('page_size', { simple: true }))
  );
}

/**
 * Cuts the free pages off the file in short writes, so that the service can keep running. Returns how many bytes were cut off: 0 for a file
 * made by an early release, which needs `makeShrinkable` first. The file on the disk shrinks at the next checkpoint.
 */
export async function shrink(client: Database): Promise<number> {
  if (!isShrinkable(client)) return 0;
  const before = freeBytes(client);
  for (let free = before; free > 0; ) {
    client.pragma(`incremental_vacuum(${PAGES_AT_ONCE})`);
    const stillFree = freeBytes(client);
    if (stillFree >= free) break;
    free = stillFree;
    await setTimeout(PAUSE_MS);
  }
  client.pragma('wal_checkpoint(PASSIVE)');
  return before - freeBytes(client);
}

/**
 * Cuts free pages off the file in short writes while more than an eighth of it is free, at most until `performance.now()`
 * reaches `until`. Returns true if there is more to cut. Does nothing to a file made by an early release.
 */
export async function continueShrinking(client: Database, until: number): Promise<boolean> {
  if (!isShrinkable(client) || !hasMuchFree(client)) return false;
  await inChunks(client, (rows) => {
    client.pragma(`incremental_vacuum(${Math.ceil(rows / ROWS_PER_PAGE)})`);
    return hasMuchFree(client) && performance.now() < until;
  });
  if (hasMuchFree(client)) return true;
  client.pragma('wal_checkpoint(PASSIVE)');
  return false;
}

function hasMuchFree(client: Database): boolean {
  const pages = Number(client.pragma('page_count', { simple: true }));
  return Number(client.pragma('freelist_count', { simple: true })) > pages * SPARE_SHARE;
}

/** Returns true if free pages can be cut off the file in short writes (SQLite, "PRAGMA auto_vacuum"). */
export function isShrinkable(client: Database): boolean {
  return client.pragma('auto_vacuum', { simple: true }) === INCREMENTAL;
}

/**
 * Rewrites the whole file without its free pages and unused parts, in a form that `shrink` can cut later. No other connection
 * may use the file meanwhile. Returns false if the old pages stay in the file because another connection is still reading.
 */
export function makeShrinkable(client: Database): boolean {
  client.pragma(`auto_vacuum = ${INCREMENTAL}`);
  client.exec('VACUUM');
  // Until this checkpoint the old pages stay in the file, and the new pages are in the write-ahead log.
  return client.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 0;
}
