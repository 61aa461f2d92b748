/** Writes the output file of a command. Never replaces a database in use. The file gets its name once it is complete. */
import { closeSync, existsSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { realPath, removeWithCompanions, unfinishedName } from '../installation/backups/files.ts';

/** The name endings of files next to a database: SQLite's own and the service's lock. */
const COMPANION_SUFFIX = /-(wal|shm|journal|lock)$/;
/** The first bytes of a database file (SQLite, "Database File Format" 1.3). */
const MAGIC = 'SQLite format 3\0';
/** The offset of the byte in the header that says how the database is written. */
const WRITE_VERSION_AT = 18;
/** The value of that byte for a database with a write-ahead log. */
const WAL = 2;
/** The exit code for each signal that ends the process. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;

interface Target {
  /** The path as the user gave it. */
  file: string;
  /** True if an existing file may be replaced. */
  force: boolean;
  /** The path of the database that the settings name. */
  database: string;
  /** The databases that `force` may replace. A copy is a database that is not in use. */
  replaces: 'no database' | 'copies of a database';
}

/**
 * Throws a one-line Error unless the file may be written. Its folder must exist. The file must not be a database in use, under any name or
 * link, nor belong to a database. Without `force` the file must be new.
 */
export function assertWritable({ file, force, database, replaces }: Target): void {
  const folder = dirname(resolve(file));
  if (!existsSync(folder)) throw new Error(`There is no folder ${folder}`);
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`${file} is a folder: name a file in it`);
  const path = realPath(file);
  if (isSameFile(path, database)) throw new Error(`${file} is the database itself`);
  const mainFile = path.replace(COMPANION_SUFFIX, '');
  if (mainFile !== path && (isSameFile(mainFile, database) || headerOf(mainFile) !== null)) {
    throw new Error(`${file} belongs to the database ${mainFile}`);
  }
  const header = headerOf(path);
  if (header !== null && (header[WRITE_VERSION_AT] === WAL || existsSync(`${path}-lock`))) {
    throw new Error(`${file} is a database in use`);
  }
  if (header !== null && replaces === 'no database') throw new Error(`${file} is a database`);
  if (existsSync(file) && !force) throw new Error(`${file} exists; --force replaces it`);
}

/**
 * Calls `write` with the path of a temporary file in the same folder, then renames this file. If `write` fails or the process is told to
 * stop, the temporary file is removed.
 */
export async function writeComplete<T>(file: string, write: (unfinished: string) => Promise<T>): Promise<T> {
  const unfinished = unfinishedName(file);
  const stop = (signal: keyof typeof SIGNALS) => {
    removeWithCompanions(unfinished);
    process.exit(SIGNALS[signal]);
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  try {
    const result = await write(unfinished);
    renameSync(unfinished, file);
    return result;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    removeWithCompanions(unfinished);
  }
}

/** Returns true if both paths lead to the same file: the same path, a symbolic link or a hard link. */
export function isSameFile(path: string, otherPath: string): boolean {
  if (realPath(path) === realPath(otherPath)) return true;
  const file = statSync(path, { throwIfNoEntry: false });
  const other = statSync(otherPath, { throwIfNoEntry: false });
  return file !== undefined && other !== undefined && file.dev === other.dev && file.ino === other.ino;
}

/** Returns the first bytes of a database; null if the file is missing or is not a database. */
function headerOf(path: string): Buffer | null {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return null;
  const header = Buffer.alloc(WRITE_VERSION_AT + 1);
  const file = openSync(path, 'r');
  try {
    const read = readSync(file, header);
    return read === header.length && header.toString('latin1').startsWith(MAGIC) ? header : null;
  } finally {
    closeSync(file);
  }
}
