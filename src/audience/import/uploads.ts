/** The folders in which uploaded CSV files wait for their import, and removing those that a killed server left behind. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes a folder for one upload in the system's temporary folder. Other users of the machine cannot read it. */
export function makeUploadFolder(databasePath: string): Promise<string> {
  return mkdtemp(join(tmpdir(), folderPrefix(databasePath)));
}

/**
 * Removes the upload folders that a killed server on this database left behind; gives how many there were. Only the server that
 * holds the database may call this, before it accepts uploads.
 */
export function removeAbandonedUploads(databasePath: string): number {
  const prefix = folderPrefix(databasePath);
  // Every user of the machine can create folders with our names there, so remove only our own.
  const own = process.getuid?.();
  const left = readdirSync(tmpdir())
    .filter((name) => name.startsWith(prefix))
    .map((name) => join(tmpdir(), name))
    .filter((folder) => own === undefined || lstatSync(folder, { throwIfNoEntry: false })?.uid === own);
  for (const folder of left) rmSync(folder, { recursive: true, force: true });
  return left.length;
}

/** Contains a hash of the database's path, so that servers on other databases of this machine keep their uploads. */
function folderPrefix(databasePath: string): string {
  const name = createHash('sha256').update(realpathSync(databasePath)).digest('hex').slice(0, 16);
  return `sendlark-upload-${name}-`;
}
