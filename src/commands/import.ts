/** `sendlark import`: contacts from a CSV file, as the upload of the API takes them. */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { and, eq, isNull } from 'drizzle-orm';
import { importContacts } from '../audience/import.ts';
import { contactTypes } from '../database/schema.ts';
import { type Command, numberOf, UsageError, wordsOf } from './command.ts';
import { withDatabase } from './database.ts';

const ERRORS_SHOWN = 20;

export const importFile: Command = {
  forms: ['import FILE --type N'],
  about: 'Import contacts from a CSV file.',
  help: `The first row names the columns; email is needed. Rows go to the contact type N (GET /contacts-type/listing); an address
already there is updated. Bad rows are left out and named. Killed half-way, run it again. The service may run meanwhile.`,
  options: { type: { type: 'string' } },
  async run(call) {
    const [file = ''] = wordsOf(call, 'FILE');
    const given = call.option('type');
    if (given === undefined) throw new UsageError('--type N is missing: the number of a contact type');
    const typeId = numberOf(given, '--type');
    if (!existsSync(file)) throw new Error(`There is no file ${file}`);
    call.say(`Importing ${file}`);
    const report = await withDatabase((db, config) => {
      const type = db
        .select()
        .from(contactTypes)
        .where(and(eq(contactTypes.id, typeId), isNull(contactTypes.deleted_at)))
        .get();
      if (type === undefined) throw new Error(`There is no contact type ${typeId}`);
      const job = { databasePath: config.DATABASE_PATH, userId: type.user_id, typeId, path: file };
      return importContacts(db, { ...job, fileName: basename(file) });
    });
    const { rows, created, updated, failed, notes, errors } = report;
    call.answer(report, [
      `${rows} rows: ${created} created, ${updated} updated, ${failed} left out`,
      ...notes,
      ...errors.slice(0, ERRORS_SHOWN).map(({ line, field, text }) => `line ${line}${field && `, ${field}`}: ${text}`),
    ]);
    if (report.id === 0) throw new Error('Nothing was imported');
  },
};
