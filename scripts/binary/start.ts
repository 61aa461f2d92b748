/**
 * What runs first in the one-file program: lays the program's files out in a folder only this user can write to, unless they
 * are there and whole, and runs the command line from there. Threads and the database addon need real files.
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

// This is checked before the files, because checking the files takes longer.
restartWithOneArena();

const list = getAsset('list', 'utf8');
const hashes: [name: string, hash: string][] = Object.entries(JSON.parse(list));
const start = "import('./dist/cli.js');";

try {
  const folder = laidOut();
  createRequire(join(folder, 'package.json'))('./start.cjs');
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/** The folder that holds exactly this program's files. */
function laidOut(): string {
  const caches = ownFolder();
  const folder = join(caches, hashOf(list).slice(0, 32));
  if (isWhole(folder)) return folder;
  const unfinished = mkdtempSync(join(caches, 'unfinished-'));
  try {
    for (const [name] of hashes) write(join(unfinished, name), gunzipSync(getAsset(`files/${name}`)));
    write(join(unfinished, 'start.cjs'), start);
    // Another start may have laid it out meanwhile and run from it.
    if (isWhole(folder)) return folder;
    rmSync(folder, { recursive: true, force: true });
    renameSync(unfinished, folder);
  } catch (error) {
    if (!isWhole(folder)) throw error;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return folder;
}

/** systemd's CacheDirectory=, the user's cache, or a folder among the temporary ones. */
function ownFolder(): string {
  const { CACHE_DIRECTORY, XDG_CACHE_HOME, HOME } = process.env;
  // A unit that names several gives all of them, with colons between.
  const cache = CACHE_DIRECTORY?.split(':')[0] || XDG_CACHE_HOME || (HOME && join(HOME, '.cache'));
  const wanted = [...(cache ? [join(cache, 'sendlark')] : []), join(tmpdir(), `sendlark-${process.getuid?.()}`)];
  const folder = wanted.find((path) => {
    try {
      makeFolder(path);
      return isOurs(path);
    } catch {
      return false;
    }
  });
  if (folder === undefined)
    throw new Error(`No folder for the program's files: tried ${wanted.join(', ')}. Set XDG_CACHE_HOME`);
  return folder;
}

/**
 * Makes a folder and those above it, for this user alone. Node's own recursive mkdirSync never returns where a folder exists but
 * takes no entries and says ENOENT, as /proc does.
 */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another start may have made it meanwhile.
    if (!existsSync(path)) throw error;
  }
}

/** Returns true if the folder belongs to this user and nobody else may change what is run from it. */
function isOurs(path: string): boolean {
  const found = lstatSync(path);
  return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
}

function isWhole(folder: string): boolean {
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
