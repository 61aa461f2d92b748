/**
 * `sendlark restore`: replaces the database by a backup and holds sending, because the backup does not know which mails were
 * sent after it was made.
 */
import { closeSync, constants, existsSync, fchmodSync, lchownSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { DELIVERY_STATE } from '../database/schema/index.ts';
import { lockForServer } from '../database/server-lock.ts';
import { openBackup } from '../installation/backups/check-backup.ts';
import { realPath } from '../installation/backups/files.ts';
import { copyPages } from '../installation/backups/make-backup.ts';
import { mergeWriteAheadLog, readLastIds } from '../installation/backups/put-in-place.ts';
import { continueFromCopy } from '../installation/backups/restored-copy.ts';
import { type Call, type Command, requireWords } from './command.ts';
import { startProgress } from './progress-bar.ts';
import { settings } from './settings.ts';
import { STANDARD, withInputFile } from './standard-streams.ts';
import { isSameFile, writeComplete } from './target-file.ts';

export const restore: Command = {
  forms: ['restore FILE [--force]'],
  about: 'Put a backup in the place of the database, sending held.',
  help: `FILE may be - for standard input. Stop the service first. Replaces an existing database only with --force.
The backup does not know who was mailed after it was made. Start the service, cancel or delete the campaigns that were sent
since, then let sending go on: sendlark release
New ids begin far beyond those given out after the backup was made, so links in mails of that time lead to no other record.`,
  options: { force: { type: 'boolean' } },
  async run(call) {
    const [file = ''] = requireWords(call, 'FILE');
    if (file !== STANDARD && !existsSync(file)) throw new Error(`There is no file ${file}`);
    const path = realPath(settings().DATABASE_PATH);
    if (isSameFile(file, path)) throw new Error(`${file} is the database itself: nothing to restore`);
    const lock = lockForServer(path, 'Stop the service first: a restore replaces the file it works on');
    try {
      if (existsSync(path) && !call.flag('force')) throw new Error(`${path} exists; --force replaces it`);
      const owner = ownerOf(path);
      const queued = await withInputFile(file, existsSync(path) ? path : dirname(path), (input) =>
        restoreFile(input, path, owner, call),
      );
      giveTo(`${path}-lock`, owner);
      call.answer({ database: path, queued, held: true }, [
        `Restored to ${path}. Sending is held; ${queued} mails wait. Cancel what has gone out since, then: sendlark release`,
      ]);
    } finally {
      lock.release();
    }
  },
};

/** Puts a backup in the place of the database. Returns the number of mails that wait to be sent in the restored database. */
async function restoreFile(file: string, path: string, owner: Owner, call: Call): Promise<number> {
  return writeComplete(path, async (unfinished) => {
    await copy(file, unfinished, call);
    const queued = prepare(unfinished, file, readLastIds(path));
    mergeWriteAheadLog(path);
    giveTo(unfinished, owner);
    if (owner.mode !== null) setMode(unfinished, owner.mode);
    return queued;
  });
}

interface Owner {
  uid: number;
  gid: number;
  /** The permissions of the file that is replaced; null if no file is replaced. */
  mode: number | null;
}

/** Returns the owner of the database that is replaced, or of its folder if the database does not exist. */
function ownerOf(path: string): Owner {
  const stats = statSync(path, { throwIfNoEntry: false });
  const { uid, gid } = stats ?? statSync(dirname(path));
  return { uid, gid, mode: stats === undefined ? null : stats.mode & 0o777 };
}

/**
 * Changes the owner of a file if the command runs as root, so that a service under its own user can open the file. Follows no symbolic link:
 * the folder belongs to that user, who could let a link lead to any file of root. Does not open the file, because closing it would release
 * the locks that SQLite holds on the file (fcntl(2)).
 */
function giveTo(file: string, { uid, gid }: Owner): void {
  if (process.getuid?.() === 0) lchownSync(file, uid, gid);
}

/** Changes the permissions of a file. Throws if the path is a symbolic link, which could lead to any file of root. */
function setMode(file: string, mode: number): void {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    fchmodSync(descriptor, mode);
  } finally {
    closeSync(descriptor);
  }
}

async function copy(file: string, unfinished: string, call: Call): Promise<void> {
  const source = new Database(file, { readonly: true });
  const progress = startProgress(call, 'Restoring', 'pages');
  try {
    await copyPages(source, unfinished, (copied, all) => progress.update(copied, all));
    progress.end();
  } catch (error) {
    throw new Error(`${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  } finally {
    source.close();
  }
}

/**
 * Checks the copied backup, which errors call `file`, and prepares it to replace the database. `replaced` has the last ids of that database.
 * Returns the number of mails that wait to be sent.
 */
function prepare(unfinished: string, file: string, replaced: ReadonlyMap<string, number>): number {
  const { $client } = openBackup(unfinished, file);
  try {
    continueFromCopy($client, replaced);
    $client.pragma('journal_mode = DELETE');
    return Number(
      $client
        .prepare(`SELECT count(*) FROM deliveries WHERE state IN (${DELIVERY_STATE.queued}, ${DELIVERY_STATE.sending})`)
        .pluck()
        .get(),
    );
  } finally {
    $client.close();
  }
}
