/** Writes the output file of a command. It never replaces a database in use, and the file gets its name only once it is complete. */
import { closeSync, existsSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { realPath, removeWithCompanions, unfinishedName } from '../installation/backups/files.ts';

/** The name endings of files next to a database: SQLite's own and the service's lock. */
const COMPANION_SUFFIX = /-(wal|shm|journal|lock)$/;
/** The first bytes of a database file. Its header also says whether it uses a write-ahead log (SQLite, "Database File Format" 1.3). */
const MAGIC = 'SQLite format 3\0';
const WRITE_VERSION_AT = 18;
const WAL = 2;
const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;

interface Target {
  /** The path as the user gave it. */
  file: string;
  /** Whether an existing file may be replaced. */
  force: boolean;
  /** The path of the database that the settings name. */
  database: string;
  /** The files that `force` may replace: all but databases, or copies of a database as well. */
  replaces: 'no database' | 'copies of a database';
}

/**
 * Throws a one-line Error unless the file may be written: its folder exists; it is neither a database in use, under any name or
 * link, nor a file that belongs to one; and it is new, unless `force` is given.
 */
export function assertWritable({ file, force, database, replaces }: Target): void {
  const folder = dirname(resolve(file));
  if (!existsSync(folder)) throw new Error(`There is no folder ${folder}`);
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`${file} is a folder: name a file in it`);
  const path = realPath(file);
  if (isSame(path, database)) throw new Error(`${file} is the database itself`);
  const mainFile = path.replace(COMPANION_SUFFIX, '');
  if (mainFile !== path && (isSame(mainFile, database) || headerOf(mainFile) !== null)) {
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
 * Calls `write` with a temporary name in the same folder, then renames the file. If `write` fails or the process is told to
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
export function isSame(one: string, other: string): boolean {
  if (realPath(one) === realPath(other)) return true;
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
}

/** Returns the first bytes of a database; null if the file is missing or no database. */
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
