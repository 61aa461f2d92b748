/** `sendlark purge`: removes for good what was deleted. */
import type { Database } from 'better-sqlite3';
import { lockForServer } from '../database/open.ts';
import { purge as purgeDeleted } from '../database/purge.ts';
import { freeBytes, isShrinkable, makeShrinkable, shrink } from '../database/shrink.ts';
import { type Command, requireWords } from './command.ts';
import { withDatabase } from './database.ts';
import { startProgress } from './progress-bar.ts';

/** Less free space than this is not mentioned. */
const LEAST_TOLD = 1e6;

export const purge: Command = {
  forms: ['purge'],
  about: 'Remove deleted contacts, segments, automations and senders for good.',
  help: `Deleting through the API hides a record and keeps its row; this removes the rows and overwrites their content,
of automations also the earlier versions of their mails.
Kept are e-mail addresses with the consent log and suppressions (so that nobody who left is mailed again), the results of
sends, and every link in mails already sent. The service may run meanwhile. Backups made before still hold the rows.
The space goes back to the disk. A file made by release 0.1.0 is written anew for that, once: stop the service for this purge.`,
  options: {},
  async run(call) {
    requireWords(call);
    const progress = startProgress(call, 'Purging', 'rows');
    const { counts, freed, left } = await withDatabase(async ({ $client }, { DATABASE_PATH }) => {
      const removed = await purgeDeleted($client, progress.update);
      progress.end();
      return { counts: removed, freed: await giveBack($client, DATABASE_PATH), left: freeBytes($client) };
    });
    const removed = Object.entries(counts).filter(([, count]) => count > 0);
    const lines = removed.map(([table, count]) => `${table.replaceAll('_', ' ')}: ${count} removed`);
    if (lines.length === 0) lines.push('Nothing was deleted: nothing to purge');
    if (freed > 0) lines.push(`${megabytes(freed)} given back to the disk`);
    if (left > LEAST_TOLD) {
      lines.push(
        `${megabytes(left)} of the file are free and used again; to give them back, stop the service and run this once more`,
      );
    }
    call.answer({ ...counts, bytes_given_back: freed, bytes_free: left }, lines);
  },
};

/** Returns free space of the file to the disk; gives the number of bytes. Rewrites a file of an earlier release first, if no service uses it. */
async function giveBack(client: Database, path: string): Promise<number> {
  if (isShrinkable(client)) return shrink(client);
  const free = freeBytes(client);
  const lock = lockUnlessServed(path);
  if (lock === null) return 0;
  try {
    makeShrinkable(client);
    return free;
  } finally {
    lock.release();
  }
}

/** Locks the file so that no server can start on it; null when one is running. */
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
