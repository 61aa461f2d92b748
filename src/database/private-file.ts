/** Files that hold personal data, keys and secrets: readable and writable by their owner alone. */
import { chmodSync, closeSync, openSync } from 'node:fs';

const PRIVATE = 0o600;

/**
 * Makes an empty file with mode 0600, whatever the umask, so that nobody else can open it before its content is written; SQLite gives
 * the files beside a database (write-ahead log, shared memory, journal) the mode of the database. A file that is there stays as it is.
 * Throws the system's error when the file can not be made.
 */
export function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', PRIVATE));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return;
    throw error;
  }
  // The umask may have taken away what the owner needs.
  chmodSync(path, PRIVATE);
}
