/** `sendlark purge`: removes deleted records from the file. */
import type { Database } from 'better-sqlite3';
import { mayHaveErasedCopies, recordRewritten } from '../audience/contacts/erased-addresses.ts';
import { purge as purgeDeleted } from '../database/purge.ts';
import { lockForServer } from '../database/server-lock.ts';
import { freeBytes, isShrinkable, makeShrinkable, shrink } from '../database/shrink.ts';
import { type Command, requireWords } from './command.ts';
import { withDatabase } from './database.ts';
import { startProgress } from './progress-bar.ts';

const MEGABYTE = 1_000_000;
/** The result mentions the free space in the file if it is larger than this. */
const MIN_REPORTED_BYTES = MEGABYTE;

export const purge: Command = {
  forms: ['purge'],
  about: 'Remove deleted contacts, segments, automations and senders for good.',
  help: `Deleting through the API hides a record and keeps its row. This command removes the rows and overwrites their content,
for automations also the earlier versions of their mails.
E-mail addresses stay, with the consent log and suppressions (so that nobody who unsubscribed is mailed again), and so do the results
of sends and every link in mails already sent. The service may run meanwhile. Earlier backups still hold the rows.
The space goes back to the disk. A file made by release 0.1.0 must be rewritten once for that: stop the service for this purge.
The same applies to a file in which a contact was erased since it was last rewritten, because unused parts of its pages can still hold
copies of the contact's data.`,
  options: {},
  async run(call) {
    requireWords(call);
    const progress = startProgress(call, 'Purging', 'rows');
    const { counts, freed, stillFree, hasCopies } = await withDatabase(async ({ $client }, { DATABASE_PATH }) => {
      const counts = await purgeDeleted($client, progress.update);
      progress.end();
      const freed = await releaseSpace($client, DATABASE_PATH);
      return { counts, freed, stillFree: freeBytes($client), hasCopies: mayHaveErasedCopies($client) };
    });
    const removed = Object.entries(counts).filter(([, count]) => count > 0);
    const lines = removed.map(([table, count]) => `${table.replaceAll('_', ' ')}: ${count} removed`);
    if (lines.length === 0) lines.push('Nothing was deleted: nothing to purge');
    if (freed > 0) lines.push(`${megabytes(freed)} given back to the disk`);
    if (stillFree > MIN_REPORTED_BYTES) {
      lines.push(
        `${megabytes(stillFree)} of the file are free and will be used again; to give them back to the disk, stop the service and run this once more`,
      );
    }
    if (hasCopies) {
      lines.push(
        'Unused parts of the file may hold copies of the data of erased contacts; to remove them, stop the service and run this once more',
      );
    }
    call.answer(
      { ...counts, bytes_given_back: freed, bytes_free: stillFree, may_have_erased_copies: hasCopies },
      lines,
    );
  },
};

/**
 * Gives free space of the file back to the disk. Returns its size in bytes. Rewrites the whole file if no service uses it, and if an early
 * release made the file or it may still hold copies of erased contacts' data.
 */
async function releaseSpace(client: Database, path: string): Promise<number> {
  const needsRewriting = !isShrinkable(client) || mayHaveErasedCopies(client);
  const lock = needsRewriting ? lockUnlessServed(path) : null;
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
  return `${(bytes / MEGABYTE).toFixed(1)} MB`;
}
