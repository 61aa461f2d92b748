/** `sendlark import`: imports contacts from a CSV file in the same way as an upload to the API. */
import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { importContacts, inEnglish } from '../audience/import/import.ts';
import { DEFAULT_OPTIONS, type ImportProgress } from '../audience/import/import-job.ts';
import type { RowError } from '../audience/import/rows.ts';
import { systemClock } from '../time/clock.ts';
import { type Call, type Command, requireWords } from './command.ts';
import { requireContactType, typeOption, withDatabase } from './database.ts';
import { startProgress } from './progress-bar.ts';
import { STANDARD, withInputFile } from './standard-streams.ts';

/** How many errors of rows are printed at most. */
const MAX_SHOWN_ERRORS = 20;

export const importFile: Command = {
  forms: ['import FILE --type N [--no-automations]'],
  about: 'Import contacts from a CSV file.',
  help: `FILE may be - for standard input. The first row names the columns; email is needed. Rows go to the list N (GET /api/contacts-type); a contact
who is already on the list is updated. Each bad row fails alone and is named. If the command is killed, run it again. The service may run meanwhile.
New contacts enter the live automations of the list and its segments; with --no-automations they do not.`,
  options: { type: { type: 'string' }, 'no-automations': { type: 'boolean' } },
  async run(call) {
    const [file = ''] = requireWords(call, 'FILE');
    const typeId = typeOption(call);
    const stats = file === STANDARD ? null : statSync(file, { throwIfNoEntry: false });
    if (stats === undefined) throw new Error(`There is no file ${file}`);
    if (stats?.isDirectory()) throw new Error(`${file} is a folder: name a file in it`);
    call.say(`Importing ${file}`);
    const progress = progressBars(call);
    const report = await withDatabase(async (db, config) => {
      const { accountId } = requireContactType(db, typeId);
      const options = { ...DEFAULT_OPTIONS, startsAutomations: !call.flag('no-automations') };
      return withInputFile(file, config.DATABASE_PATH, (path) => {
        const databasePath = config.DATABASE_PATH;
        const job = { databasePath, accountId, typeId, path, fileName: basename(file), options };
        return importContacts(db, job, systemClock, progress);
      });
    });
    progress.end();
    const answer = inEnglish(report);
    const { rows, created, updated, failed, notes, errors } = answer;
    const repeated = report.id === 0 ? 0 : rows - failed - created - updated;
    const unshown = failed - new Set(errors.slice(0, MAX_SHOWN_ERRORS).map(({ line }) => line)).size;
    call.answer(answer, [
      `${rows} rows: ${created} created, ${updated} updated, ${failed} failed`,
      ...(repeated > 0 ? [`${repeated} more rows had an address that a later row has too; the later one counts`] : []),
      ...notes,
      ...errorLines(errors),
      ...(unshown > 0 ? [`and ${unshown} more failed rows; --json shows up to 1000`] : []),
    ]);
    if (report.id === 0) throw new Error('Nothing was imported');
  },
};

/** Returns the first errors of rows as lines to print. */
export function errorLines(errors: readonly RowError[]): string[] {
  return errors
    .slice(0, MAX_SHOWN_ERRORS)
    .map(({ line, field, text }) => `line ${line}${field && `, ${field}`}: ${text}`);
}

/** Shows one progress bar for reading the file, then one for writing the contacts. */
function progressBars(call: Call): ImportProgress & { end(): void } {
  let bar = startProgress(call, 'Reading', 'kB');
  let isWriting = false;
  return {
    read: (bytes, total) => bar.update(Math.round(bytes / 1000), Math.round(total / 1000)),
    wrote(people, total) {
      if (!isWriting) {
        bar.end();
        bar = startProgress(call, 'Importing', 'rows');
        isWriting = true;
      }
      bar.update(people, total);
    },
    end: () => bar.end(),
  };
}
