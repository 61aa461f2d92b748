/** Creates files for personal data, keys and secrets: only their owner can read and write them. */
import { closeSync, fchmodSync, openSync } from 'node:fs';

const PRIVATE = 0o600;

/**
 * Creates an empty file with mode 0600, whatever the umask, so that no other user can open it before its content is written.
 * SQLite gives the files next to a database (write-ahead log, shared memory, journal) the mode of the database. Does not change
 * an existing file. Throws the system's error if the file cannot be created.
 */
export function makePrivateFile(path: string): void {
  let file: number;
  try {
    file = openSync(path, 'wx', PRIVATE);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return;
    throw error;
  }
  // The umask may have removed even the owner's permissions, so the mode is set again. It is set on the open file, not on the path,
  // which another user of the folder may have replaced by a link since.
  fchmodSync(file, PRIVATE);
  closeSync(file);
}
