/** Copies databases, and makes checked backups of a single moment while others write. */
import type { Database } from 'better-sqlite3';
import { connect, type Db } from '../../database/open.ts';
import { makePrivateFile } from '../../database/private-file.ts';
import { markAsCopy } from './restored-copy.ts';

const PAGES_AT_ONCE = 1000;

/** Called with the number of copied pages and of all pages. */
type Progress = (copied: number, all: number) => void;

/** Copies a database into a new private file at `path`. */
export async function copyPages(source: Database, path: string, onProgress?: Progress): Promise<void> {
  makePrivateFile(path);
  await source.backup(path, {
    progress({ totalPages, remainingPages }) {
      onProgress?.(totalPages - remainingPages, totalPages);
      return PAGES_AT_ONCE;
    },
  });
}

/**
 * Makes a backup at `path`: one file that is marked as a copy made at `now`. Throws if the copy is damaged; the caller must
 * then remove the file at `path`.
 */
export async function makeBackup({ $client }: Db, path: string, now: Date, onProgress?: Progress): Promise<void> {
  // Within a read transaction, all pages are copied as they are at one moment. Without it, each write of the service would restart the copy.
  // The transaction begins with its first read.
  $client.exec('BEGIN');
  try {
    $client.prepare('SELECT count(*) FROM sqlite_master').get();
    await copyPages($client, path, onProgress);
  } finally {
    $client.exec('COMMIT');
  }
  const copied = connect(path);
  try {
    const integrity = checkIntegrity(copied);
    if (integrity !== 'ok') throw new Error(`The copy is damaged, and so may be the database: ${integrity}`);
    markAsCopy(copied.$client, now);
    copied.$client.pragma('journal_mode = DELETE');
  } finally {
    copied.$client.close();
  }
}

/** Reads the whole file. Returns `ok`, or a few lines about damage to the file's structure. */
export function checkIntegrity({ $client }: Db): string {
  return $client.prepare<[], string>('PRAGMA integrity_check(5)').pluck().all().join('; ');
}
