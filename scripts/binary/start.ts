/**
 * Runs first in the one-file program. It unpacks the program's files into a folder that only this user can write to, unless an earlier
 * start has done so, and runs the command line from there. Threads and the database addon need real files.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { getAsset } from 'node:sea';
import { gunzipSync } from 'node:zlib';
import { restartWithOneArena } from '../../src/commands/restart-in-place.ts';

// A restart comes before the files are checked, because checking them takes longer and would be repeated.
restartWithOneArena();

const list = getAsset('list', 'utf8');
/** The hash of each file by its path in the folder. */
const hashes: [name: string, hash: string][] = Object.entries(JSON.parse(list));
/** The code of the file that starts the command line in the folder. */
const start = "import('./dist/cli.js');";

try {
  const folder = unpackedFolder();
  createRequire(join(folder, 'package.json'))('./start.cjs');
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/** Returns the folder that holds exactly this program's files, after unpacking them if they are missing or changed. */
function unpackedFolder(): string {
  const cache = cacheFolder();
  const folder = join(cache, hashOf(list).slice(0, 32));
  if (isComplete(folder)) return folder;
  const unfinished = mkdtempSync(join(cache, 'unfinished-'));
  try {
    for (const [name] of hashes) write(join(unfinished, name), gunzipSync(getAsset(`files/${name}`)));
    write(join(unfinished, 'start.cjs'), start);
    // Another start of the program may have unpacked the folder meanwhile, and may be running from it.
    if (isComplete(folder)) return folder;
    rmSync(folder, { recursive: true, force: true });
    renameSync(unfinished, folder);
  } catch (error) {
    if (!isComplete(folder)) throw error;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return folder;
}

/** Returns the first of these folders that only this user can write to: systemd's CacheDirectory=, the user's cache, a temporary folder. */
function cacheFolder(): string {
  const { CACHE_DIRECTORY, XDG_CACHE_HOME, HOME } = process.env;
  // systemd separates several cache directories of a unit by colons.
  const cache = CACHE_DIRECTORY?.split(':')[0] || XDG_CACHE_HOME || (HOME && join(HOME, '.cache'));
  const candidates = [...(cache ? [join(cache, 'sendlark')] : []), join(tmpdir(), `sendlark-${process.getuid?.()}`)];
  const folder = candidates.find((path) => {
    try {
      makeFolder(path);
      return isOurs(path);
    } catch {
      return false;
    }
  });
  if (folder === undefined)
    throw new Error(`No folder for the program's files: tried ${candidates.join(', ')}. Set XDG_CACHE_HOME`);
  return folder;
}

/**
 * Makes a folder and its missing parents, for this user alone. Node's own recursive mkdirSync never returns below an existing folder, such
 * as /proc, that answers every new entry with ENOENT.
 */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another start of the program may have made the folder meanwhile.
    if (!existsSync(path)) throw error;
  }
}

/** Returns true if the folder belongs to this user and nobody else may write to it. */
function isOurs(path: string): boolean {
  const stats = lstatSync(path);
  return stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o022) === 0;
}

/** Returns true if the folder is ours and all files in it have their right content. */
function isComplete(folder: string): boolean {
  try {
    return (
      isOurs(folder) &&
      [...hashes, ['start.cjs', hashOf(start)]].every(
        ([name = '', hash]) => hashOf(readFileSync(join(folder, name))) === hash,
      )
    );
  } catch {
    return false;
  }
}

function hashOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

function write(path: string, content: string | Uint8Array): void {
  makeFolder(dirname(path));
  writeFileSync(path, content, { mode: 0o600 });
}
