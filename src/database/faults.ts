/** Explains why a database file cannot be used, with the file, the user and the cure, instead of SQLite's own message. */
import { accessSync, constants, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, resolve } from 'node:path';

/** Thrown for a database file of another program. */
export class ForeignDatabase extends Error {
  constructor(path: string) {
    super(
      `The database ${path} is not Sendlark's, but of another program: name another file in DATABASE_PATH; the start creates it`,
    );
  }
}

const RESTORE = 'put the last backup in its place: sendlark restore BACKUP --force';

/** The Error to show in place of one that SQLite threw while the file was in use. Other errors are returned as they are. */
export function databaseFault(error: unknown, path: string): Error {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('SQLITE_') ? openingFault(error, path) : toError(error);
}

/** The Error to show in place of one that SQLite or the system threw when the file was opened. */
export function openingFault(error: unknown, path: string): Error {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reason = reasonOf(code, path);
  if (reason !== null) return new Error(`The database ${path} cannot be opened: ${reason}`, { cause: error });
  return toError(error);
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

function reasonOf(code: string, path: string): string | null {
  if (code.startsWith('SQLITE_NOTADB')) return `it is no SQLite database. Look at DATABASE_PATH, or ${RESTORE}`;
  if (code.startsWith('SQLITE_CORRUPT')) return `it is damaged. Keep a copy of it, then ${RESTORE}`;
  if (code === 'SQLITE_FULL' || code === 'ENOSPC' || code === 'EDQUOT')
    return `the disk of ${dirname(resolve(path))} is full. Free some space, then start again`;
  if (/^(SQLITE_(CANTOPEN|READONLY|PERM|AUTH)|EACCES|EPERM|EROFS)/.test(code)) return deniedTo(path);
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED'))
    return 'another program keeps it locked. End that program, such as a shell of sqlite3 with an open transaction';
  if (code.startsWith('SQLITE_IOERR')) return `the disk reports a fault (${code}). Look at the system's log`;
  return null;
}

/**
 * Says what this user may not do, to whom the file belongs (or its folder, if the file does not exist), and which command changes that.
 */
function deniedTo(path: string): string {
  const folder = dirname(resolve(path));
  if (isReadOnlyDisk(folder))
    return `the disk of ${folder} can only be read. Mount it so that it can be written; under systemd, name the folder in ReadWritePaths=`;
  const file = statSync(path, { throwIfNoEntry: false });
  const { uid, gid, mode } = file ?? statSync(folder);
  const rights = (mode & 0o777).toString(8);
  const what = file === undefined ? `make files in ${folder}, which belongs` : 'read and write it; it belongs';
  const name = userName();
  const needed = file === undefined ? 0o700 : 0o600;
  const lacksRights = uid === process.getuid?.() && (mode & needed) !== needed;
  // The database and all files beside it, because they belong to the same user.
  const files = `${path.replace(/-lock$/, '')}*`;
  const cure = lacksRights
    ? `chmod u+${file === undefined ? `rwx ${folder}` : `rw ${path}`}`
    : `As root: chown ${name} ${folder} ${files}`;
  return `the user ${name} may not ${what} to user ${uid} and group ${gid} with mode ${rights}. ${cure}`;
}

function isReadOnlyDisk(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EROFS';
  }
}

/** The name of the user of this process; its number if the system knows no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'of this process');
  }
}
