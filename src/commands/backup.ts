/** `sendlark backup`: a checked copy of the database at one moment, made while the service runs. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isoTimestamp, systemClock } from '../clock.ts';
import { recordBackup } from '../database/backups.ts';
import { connect, type Db } from '../database/open.ts';
import { makePrivateFile } from '../database/private-file.ts';
import { markAsCopy } from '../delivery/links/copies.ts';
import { type Call, type Command, requireWords } from './command.ts';
import { checkIntegrity, withDatabase } from './database.ts';
import { startProgress } from './progress-bar.ts';
import { assertWritable, writeWhole } from './target-file.ts';

const PAGES_AT_ONCE = 1000;

export const backup: Command = {
  forms: ['backup FILE [--force]'],
  about: 'Copy the database, also while the service sends.',
  help: `The copy is the database at the moment the command starts, one file, checked before it gets its name.
It holds personal data and signing keys: keep it as safe as the database. --force replaces an earlier FILE.
The copy leaves out who was mailed after it was made, so a restored one sends nothing before: sendlark release`,
  options: { force: { type: 'boolean' } },
  async run(call) {
    const [file = ''] = requireWords(call, 'FILE');
    const bytes = await withDatabase(async (db, { DATABASE_PATH: database }) => {
      assertWritable({ file, force: call.flag('force'), database, replaces: 'copies of a database' });
      await writeWhole(file, (unfinished) => copy(db, unfinished, call));
      recordBackup(db.$client, isoTimestamp(systemClock.now()));
      return statSync(file).size;
    });
    call.answer({ file: resolve(file), bytes }, [`Copied to ${file}, ${bytes} bytes, integrity ok`]);
  },
};

async function copy(db: Db, unfinished: string, call: Call): Promise<void> {
  makePrivateFile(unfinished);
  const progress = startProgress(call, 'Copying', 'pages');
  // A read transaction keeps the copy at one moment: without one, each write of the service starts it again.
  db.$client.exec('BEGIN');
  db.$client.prepare('SELECT count(*) FROM sqlite_master').get();
  await db.$client.backup(unfinished, {
    progress({ totalPages, remainingPages }) {
      progress.update(totalPages - remainingPages, totalPages);
      return PAGES_AT_ONCE;
    },
  });
  db.$client.exec('COMMIT');
  progress.end();
  finish(unfinished);
}

/** Throws unless the copy is intact; marks it as a copy and leaves it as a single file. */
function finish(path: string): void {
  const copied = connect(path);
  try {
    const integrity = checkIntegrity(copied);
    if (integrity !== 'ok') throw new Error(`The copy is damaged, and so may be the database: ${integrity}`);
    markAsCopy(copied.$client);
    copied.$client.pragma('journal_mode = DELETE');
  } finally {
    copied.$client.close();
  }
}
