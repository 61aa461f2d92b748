/** `sendlark purge`: removes for good what was deleted. */
import { purge as purgeDeleted } from '../database/purge.ts';
import { type Command, wordsOf } from './command.ts';
import { withDatabase } from './database.ts';
import { startProgress } from './progress.ts';

export const purge: Command = {
  forms: ['purge'],
  about: 'Remove deleted contacts, segments, automations and senders for good.',
  help: `Deleting through the API hides a record and keeps its row; this removes the rows and overwrites their content.
Kept are e-mail addresses with the consent log and suppressions (so that nobody who left is mailed again), the results of
sends, and every link in mails already sent. The service may run meanwhile. Backups made before still hold the rows.`,
  options: {},
  async run(call) {
    wordsOf(call);
    const progress = startProgress(call, 'Purging', 'rows');
    const counts = await withDatabase(({ $client }) => purgeDeleted($client, progress.update));
    progress.end();
    const removed = Object.entries(counts).filter(([, count]) => count > 0);
    const lines = removed.map(([table, count]) => `${table.replaceAll('_', ' ')}: ${count} removed`);
    call.answer(counts, lines, 'Nothing was deleted: nothing to purge');
  },
};
