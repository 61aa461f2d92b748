/** The lock on the database file that keeps a second server out. */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { databaseFault, ForeignDatabase } from './faults.ts';
import { isForeign, openFile } from './open.ts';

export interface ServerLock {
  /** Locks the file that is at the path now, which may be a new or a different file. Throws if another server has locked the file. */
  holdFile(): void;
  release(): void;
}

/**
 * Locks the database file for this process until the process ends, even by a crash. Locks a lock file beside the database file and, on Linux,
 * the database file itself whatever its name, so that no second server starts after the lock file was removed or through a hard link. Throws
 * if another server has locked the file; the message ends with `advice`, if given. Throws if the file belongs to another program, before a
 * lock file is created.
 */
export function lockForServer(path: string, advice?: string): ServerLock {
  const inUse = () => new Error(`Another Sendlark server is running on ${path}${advice ? `. ${advice}` : ''}`);
  // SQLite follows symbolic links, so two names of one file must share one lock.
  const file = existsSync(path) ? realpathSync(path) : path;
  if (existsSync(file) && statSync(file).isDirectory())
    throw new Error(`The database ${path} cannot be opened: it is a folder`);
  refuseForeign(file);
  const lock = openFile(`${file}-lock`, { timeout: 0 });
  try {
    lock.pragma('journal_mode = DELETE');
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY') throw inUse();
    throw databaseFault(error, `${file}-lock`);
  }
  let fileLock = { name: '', release: () => {} };
  const holdFile = () => {
    const name = fileLockName(file);
    if (name === '' || name === fileLock.name) return;
    const releaseName = holdName(name);
    if (releaseName === null) throw inUse();
    fileLock.release();
    fileLock = { name, release: releaseName };
  };
  const release = () => {
    fileLock.release();
    lock.close();
  };
  try {
    holdFile();
  } catch (error) {
    release();
    throw error;
  }
  return { holdFile, release };
}

/** Throws if another program's database is at the path. Does not throw for an unreadable file, because a restore can replace that file. */
function refuseForeign(path: string): void {
  if (!existsSync(path)) return;
  try {
    const client = openFile(path, { timeout: 0 });
    try {
      if (isForeign(client)) throw new ForeignDatabase(path);
    } finally {
      client.close();
    }
  } catch (error) {
    if (error instanceof ForeignDatabase) throw error;
  }
}

/**
 * The name for the lock of a file. It is the same whatever name the file has in the file system. Empty if the file does not exist, or if the
 * system has no abstract sockets.
 */
function fileLockName(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false, bigint: true });
  return stats === undefined || process.platform !== 'linux' ? '' : `\0sendlark-${stats.dev}-${stats.ino}`;
}

/**
 * Takes a name among the abstract sockets of the machine, which the kernel gives to one process at a time and takes
 * back when that process ends (unix(7)). Returns a function that gives the name back; null if another process has the
 * name.
 */
function holdName(name: string): (() => void) | null {
  const server = createServer((socket) => socket.destroy());
  server.on('error', () => undefined);
  server.listen(name).unref();
  // Node binds a socket of this kind at once.
  return server.listening ? () => void server.close() : null;
}
