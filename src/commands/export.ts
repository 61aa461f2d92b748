/** `sendlark export`: writes the contacts of a type to a CSV file that can be imported again. */
import { createWriteStream } from 'node:fs';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { contactsCsv } from '../audience/contacts/export.ts';
import type { Db } from '../database/open.ts';
import { type Call, type Command, UsageError } from './command.ts';
import { requireContactType, typeOption, withDatabase } from './database.ts';
import { startProgress } from './progress-bar.ts';
import { STANDARD } from './standard-streams.ts';
import { assertWritable, writeComplete } from './target-file.ts';

export const exportFile: Command = {
  forms: ['export --type N [FILE] [--force]'],
  about: 'Write the contacts of a type to a CSV file.',
  help: `The columns are the reserved fields, then the account's own; sendlark import can read the file. Without FILE, or with -, the CSV goes to
standard output. FILE is readable by you alone and gets its name once it is complete; --force replaces an earlier FILE.
The service may run meanwhile.`,
  options: { type: { type: 'string' }, force: { type: 'boolean' } },
  async run(call) {
    const typeId = typeOption(call);
    const [file, extra] = call.words;
    if (extra !== undefined) throw new UsageError(`Too much: ${extra}`);
    if ((file === undefined || file === STANDARD) && call.json)
      throw new UsageError('--json needs a FILE: the CSV goes to standard output');
    await withDatabase(async (db, { DATABASE_PATH: database }) => {
      const { accountId } = requireContactType(db, typeId);
      if (file === undefined || file === STANDARD) return pipeline(contactsCsv(db, accountId, typeId), process.stdout);
      assertWritable({ file, force: call.flag('force'), database, replaces: 'no database' });
      const contacts = await writeFile(db, { accountId, typeId, file }, call);
      call.answer({ file: resolve(file), contacts }, [`${contacts} contacts written to ${file}`]);
    });
  },
};

interface ExportRequest {
  accountId: number;
  typeId: number;
  file: string;
}

/** Writes the file, with a progress display. Returns the number of contacts written. */
async function writeFile(db: Db, { accountId, typeId, file }: ExportRequest, call: Call): Promise<number> {
  const total = countContacts(db, typeId);
  const progress = startProgress(call, 'Exporting', 'contacts');
  let written = 0;
  const contacts = contactsCsv(db, accountId, typeId, {
    onRows: (count) => {
      written = count;
      progress.update(count, total);
    },
  });
  await writeComplete(file, (unfinished) =>
    pipeline(contacts, createWriteStream(unfinished, { flags: 'wx', mode: 0o600 })),
  );
  progress.end();
  return written;
}

function countContacts({ $client }: Db, typeId: number): number {
  const count = $client.prepare('SELECT count(*) FROM contacts WHERE contact_type_id = ? AND deleted_at IS NULL');
  return Number(count.pluck().get(typeId));
}
