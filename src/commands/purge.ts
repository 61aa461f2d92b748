/** `sendlark purge`: removes deleted records from the file. */
import type { Database } from 'better-sqlite3';
import { mayHaveErasedCopies, recordRewritten } from '../audience/contacts/address-rows.ts';
import { lockForServer } from '../database/open.ts';
import { purge as purgeDeleted } from '../database/purge.ts';
import { freeBytes, isShrinkable, makeShrinkable, shrink } from '../database/shrink.ts';
import { type Command, requireWords } from './command.ts';
import { withDatabase } from './database.ts';
import { startProgress } from './progress-bar.ts';

/** The result mentions free space in the file from this size on. */
const MIN_REPORTED_BYTES = 1e6;

export const purge: Command = {
  forms: ['purge'],
  about: 'Remove deleted contacts, segments, automations and senders for good.',
  help: `Deleting through the API hides a record and keeps its row; this removes the rows and overwrites their content,
of automations also the earlier versions of their mails.
Kept are e-mail addresses with the consent log and suppressions (so that nobody who left is mailed again), the results of
sends, and every link in mails already sent. The service may run meanwhile. Backups made before still hold the rows.
The space goes back to the disk. A file made by release 0.1.0 is written anew for that, once: stop the service for this purge.
So is a file in which a person was erased since it was last written anew, because unused parts of its pages can still hold copies of
what named them.`,
  options: {},
  async run(call) {
    requireWords(call);
    const progress = startProgress(call, 'Purging', 'rows');
    const { counts, freed, left, hasCopies } = await withDatabase(async ({ $client }, { DATABASE_PATH }) => {
      const removed = await purgeDeleted($client, progress.update);
      progress.end();
      const freed = await releaseSpace($client, DATABASE_PATH);
      return { counts: removed, freed, left: freeBytes($client), hasCopies: mayHaveErasedCopies($client) };
    });
    const removed = Object.entries(counts).filter(([, count]) => count > 0);
    const lines = removed.map(([table, count]) => `${table.replaceAll('_', ' ')}: ${count} removed`);
    if (lines.length === 0) lines.push('Nothing was deleted: nothing to purge');
    if (freed > 0) lines.push(`${megabytes(freed)} given back to the disk`);
    if (left > MIN_REPORTED_BYTES) {
      lines.push(
        `${megabytes(left)} of the file are free and used again; to give them back, stop the service and run this once more`,
      );
    }
    if (hasCopies) {
      lines.push(
        'Unused parts of the file may hold copies of what named people who were erased; to remove them, stop the service and run this once more',
      );
    }
    call.answer({ ...counts, bytes_given_back: freed, bytes_free: left, may_have_erased_copies: hasCopies }, lines);
  },
};

/**
 * Returns the free space of the file to the disk. Returns the number of bytes. If no service uses the file, and an earlier
 * release made it or it may still hold copies of erased contacts' data, rewrites the whole file.
 */
async function releaseSpace(client: Database, path: string): Promise<number> {
  const isDue = !isShrinkable(client) || mayHaveErasedCopies(client);
  const lock = isDue ? lockUnlessServed(path) : null;
  if (lock === null) return shrink(client);
  const free = freeBytes(client);
  try {
    if (makeShrinkable(client)) recordRewritten(client);
    return free;
  } finally {
    lock.release();
  }
}

/** Locks the file so that no server can start on it. Returns null if a server is running. */
function lockUnlessServed(path: string): { release(): void } | null {
  try {
    return lockForServer(path);
  } catch {
    return null;
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
