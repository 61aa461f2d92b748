/** `sendlark backup`: makes a checked copy of the database at one moment while the service runs. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Db } from '../database/open.ts';
import { recordBackup } from '../installation/backups/last-backup.ts';
import { makeBackup } from '../installation/backups/make-backup.ts';
import { isoTimestamp, systemClock } from '../time/clock.ts';
import { type Call, type Command, requireWords, UsageError } from './command.ts';
import { withDatabase } from './database.ts';
import { startProgress } from './progress-bar.ts';
import { STANDARD, toStandardOutput } from './standard-streams.ts';
import { assertWritable, writeComplete } from './target-file.ts';

export const backup: Command = {
  forms: ['backup FILE [--force]'],
  about: 'Copy the database, also while the service sends.',
  help: `The copy is the database at the moment the command starts, as one file, which is checked before it gets its name.
FILE may be - for standard output. The copy holds personal data and signing keys: keep it as safe as the database. --force replaces an earlier FILE.
The copy does not know who was mailed after it was made, so a restored database sends nothing until: sendlark release`,
  options: { force: { type: 'boolean' } },
  async run(call) {
    const [file = ''] = requireWords(call, 'FILE');
    if (file === STANDARD) return writeOut(call);
    const bytes = await withDatabase(async (db, { DATABASE_PATH: database }) => {
      assertWritable({ file, force: call.flag('force'), database, replaces: 'copies of a database' });
      await writeComplete(file, (unfinished) => copy(db, unfinished, call));
      recordBackup(db.$client, isoTimestamp(systemClock.now()));
      return statSync(file).size;
    });
    call.answer({ file: resolve(file), bytes }, [`Copied to ${file}, ${bytes} bytes, integrity ok`]);
  },
};

async function copy(db: Db, unfinished: string, call: Call): Promise<void> {
  const progress = startProgress(call, 'Copying', 'pages');
  await makeBackup(db, unfinished, systemClock.now(), (copied, all) => progress.update(copied, all));
  progress.end();
}

/** Makes a backup in a temporary file and copies it to standard output. */
async function writeOut(call: Call): Promise<void> {
  if (call.json) throw new UsageError('--json needs a FILE: the backup goes to standard output');
  await withDatabase((db, { DATABASE_PATH }) =>
    toStandardOutput(DATABASE_PATH, async (path) => {
      await makeBackup(db, path, systemClock.now());
      recordBackup(db.$client, isoTimestamp(systemClock.now()));
    }),
  );
}
