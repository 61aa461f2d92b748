/** Copies of databases: a checked backup of one moment, made while others write. */
import type { Database } from 'better-sqlite3';
import { connect, type Db } from '../database/open.ts';
import { makePrivateFile } from '../database/private-file.ts';
import { markAsCopy } from './copies.ts';

const PAGES_AT_ONCE = 1000;

/** Called with the pages that are copied and with all there are. */
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
 * Makes a backup at `path`, one file, which says of itself that it is a copy made at `now`. Throws when the copy is damaged; what is at
 * `path` then has to be removed.
 */
export async function makeBackup({ $client }: Db, path: string, now: Date, onProgress?: Progress): Promise<void> {
  // A read transaction keeps the copy at one moment: without one, each write of the service starts it again.
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

/** `ok`, or what is wrong with the file's structure, a few lines at most. Reads the whole file. */
export function checkIntegrity({ $client }: Db): string {
  return $client.prepare<[], string>('PRAGMA integrity_check(5)').pluck().all().join('; ');
}
