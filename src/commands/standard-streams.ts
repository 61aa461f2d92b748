/** Uses standard input or output where the command line has `-` in place of a file. */
import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { makeUploadFolder } from '../audience/import/uploads.ts';

/** The name that stands for standard input or output (POSIX.1-2024, XBD 12.2, guideline 13). */
export const STANDARD = '-';

/**
 * Calls `work` with the path of a file. Standard input is first written to a file that only this user can read, in a folder for temporary
 * files that belongs to the database, because commands read their files more than once.
 */
export async function withInputFile<T>(
  file: string,
  databasePath: string,
  work: (path: string) => Promise<T>,
): Promise<T> {
  if (file !== STANDARD) return work(file);
  const folder = await makeUploadFolder(databasePath);
  try {
    return await work(await readStandardInput(folder));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes standard input to a new file in a folder; only this user can read the file. Resolves with the path of the file. */
export async function readStandardInput(folder: string): Promise<string> {
  const path = join(folder, 'standard-input');
  await pipeline(process.stdin, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
  return path;
}

/** Calls `write` with the path of a temporary file that only this user can read, then copies the file to standard output. */
export async function toStandardOutput(databasePath: string, write: (path: string) => Promise<void>): Promise<void> {
  const folder = await makeUploadFolder(databasePath);
  try {
    const path = join(folder, 'standard-output');
    await write(path);
    await pipeline(createReadStream(path), process.stdout);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Ends the process if standard output can no longer be written. If the reader has ended, such as `head` or a closed terminal, the process
 * ends silently with the exit code that shells use for SIGPIPE. On other errors, such as a full disk, `fail` first says why and sets the exit
 * code.
 */
export function endWithOutput(fail: (error: Error) => void): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || error.code === 'EIO') process.exit(141);
    fail(new Error(`Standard output cannot be written: ${error.message}`));
    process.exit();
  });
}
