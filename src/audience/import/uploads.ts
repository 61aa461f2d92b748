/** The folders in which uploaded CSV files wait for their import, and what a kill left of them. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes a folder for one upload to the database at this path, in the system's temporary folder; nobody else can read in it. */
export function makeUploadFolder(databasePath: string): Promise<string> {
  return mkdtemp(join(tmpdir(), folderPrefix(databasePath)));
}

/**
 * Removes the upload folders of a server on this database that was killed, and gives how many there were. To be called by the one
 * server that holds the database, before it takes uploads.
 */
export function removeAbandonedUploads(databasePath: string): number {
  const prefix = folderPrefix(databasePath);
  // Whoever can write in the temporary folder can use our names: what belongs to somebody else is not ours to remove.
  const own = process.getuid?.();
  const left = readdirSync(tmpdir())
    .filter((name) => name.startsWith(prefix))
    .map((name) => join(tmpdir(), name))
    .filter((folder) => own === undefined || lstatSync(folder, { throwIfNoEntry: false })?.uid === own);
  for (const folder of left) rmSync(folder, { recursive: true, force: true });
  return left.length;
}

/** Names the database, so that servers on other databases of the machine keep theirs. */
function folderPrefix(databasePath: string): string {
  const name = createHash('sha256').update(realpathSync(databasePath)).digest('hex').slice(0, 16);
  return `sendlark-upload-${name}-`;
}
