/**
 * `sendlark restore`: replaces the database by a backup and holds sending, because the backup does not know which mails were
 * sent after it was made.
 */
import { closeSync, constants, existsSync, fchmodSync, lchownSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { lockForServer } from '../database/open.ts';
import { DELIVERY_STATE } from '../database/schema/index.ts';
import { openBackup } from '../installation/backups/check-backup.ts';
import { realPath } from '../installation/backups/files.ts';
import { copyPages } from '../installation/backups/make-backup.ts';
import { mergeWriteAheadLog, readLastIds } from '../installation/backups/put-in-place.ts';
import { continueFromCopy } from '../installation/backups/restored-copy.ts';
import { type Call, type Command, requireWords } from './command.ts';
import { settings } from './database.ts';
import { startProgress } from './progress-bar.ts';
import { STANDARD, withInputFile } from './standard-streams.ts';
import { isSame, writeComplete } from './target-file.ts';

export const restore: Command = {
  forms: ['restore FILE [--force]'],
  about: 'Put a backup in the place of the database, sending held.',
  help: `FILE may be - for standard input. Needs the service to be stopped. Refuses to replace an existing database without --force.
The copy does not know who was mailed after it was made. Start the service, cancel or delete the campaigns that have gone
out since, then let sending go on: sendlark release
Ids continue far beyond those handed out after the copy was made: links in mails of that time lead to nobody else.`,
  options: { force: { type: 'boolean' } },
  async run(call) {
    const [file = ''] = requireWords(call, 'FILE');
    if (file !== STANDARD && !existsSync(file)) throw new Error(`There is no file ${file}`);
    const path = realPath(settings().DATABASE_PATH);
    if (isSame(file, path)) throw new Error(`${file} is the database itself: nothing to restore`);
    const lock = lockForServer(path, 'Stop the service first: a restore replaces the file it works on');
    try {
      if (existsSync(path) && !call.flag('force')) throw new Error(`${path} exists; --force replaces it`);
      const owner = ownerOf(path);
      const queued = await withInputFile(file, existsSync(path) ? path : dirname(path), (input) =>
        put(input, path, owner, call),
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

/** Restores the file. Returns the number of mails that wait to be sent in the restored database. */
async function put(file: string, path: string, owner: Owner, call: Call): Promise<number> {
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
  /** The permissions of the file that is replaced; null if there is none. */
  mode: number | null;
}

/** Returns the owner of the database that is replaced, or of its folder if there is none. */
function ownerOf(path: string): Owner {
  const stats = statSync(path, { throwIfNoEntry: false });
  const { uid, gid } = stats ?? statSync(dirname(path));
  return { uid, gid, mode: stats === undefined ? null : stats.mode & 0o777 };
}

/**
 * Changes the owner of a file, so that a service under its own user can open what root has created. Only root can do that. Follows no
 * symbolic link, because the folder is that user's, who could let a link lead to any file of root. Does not open the file, because closing
 * it would release the locks that SQLite holds on it (fcntl(2)).
 */
function giveTo(file: string, { uid, gid }: Owner): void {
  if (process.getuid?.() === 0) lchownSync(file, uid, gid);
}

/** Changes the permissions of a file. Throws if it is a symbolic link, for the same reason. */
function setMode(file: string, mode: number): void {
  const opened = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    fchmodSync(opened, mode);
  } finally {
    closeSync(opened);
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
