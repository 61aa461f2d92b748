/** `sendlark migrate`: imports contacts from the export of another service. Unsubscribed and suppressed contacts are marked first. */
import { statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { importContacts, inEnglish } from '../audience/import/import.ts';
import { DEFAULT_OPTIONS, type ImportJob } from '../audience/import/import-job.ts';
import { leavingNotes } from '../audience/import/lists.ts';
import { findMissingSegments } from '../audience/import/make-lists.ts';
import { previewImport } from '../audience/import/preview.ts';
import { makeUploadFolder } from '../audience/import/uploads.ts';
import { type ReadExport, readExport } from '../audience/migrate/read-export.ts';
import { VENDOR_NAMES } from '../audience/migrate/vendors/index.ts';
import type { Db } from '../database/open.ts';
import { english } from '../errors/stored.ts';
import { addMissingTemplates } from '../templates/own-templates.ts';
import { systemClock } from '../time/clock.ts';
import { type Call, type Command, requireWords, UsageError } from './command.ts';
import { requireContactType, typeOption, withDatabase } from './database.ts';
import { errorLines } from './import.ts';
import { readStandardInput, STANDARD } from './standard-streams.ts';

export const migrate: Command = {
  forms: VENDOR_NAMES.map((name) => `migrate ${name} FILE --type N [--no-automations] [--confirm]`),
  about: 'Take over contacts from the export of another service.',
  help: `Without --confirm the command changes nothing and says what it would do; with --confirm it does that. FILE is the export as the service
makes it: a CSV or JSON file, or a ZIP archive of such files; - for standard input. Contacts go to the list N (GET /api/contacts-type); whoever
unsubscribed, bounced or complained there is marked first and gets no mail. If the command is killed, run it again. The service may run meanwhile.
New contacts enter the live automations of the list and its segments; with --no-automations they do not.
How to export from each service, and what is imported: docs/migrating.md.`,
  options: { type: { type: 'string' }, 'no-automations': { type: 'boolean' }, confirm: { type: 'boolean' } },
  async run(call) {
    const [service = '', file = ''] = requireWords(call, 'SERVICE', 'FILE');
    const vendor = VENDOR_NAMES.find((name) => name === service);
    if (vendor === undefined) throw new UsageError(`The service is one of ${VENDOR_NAMES.join(', ')}`);
    const typeId = typeOption(call);
    if (file !== STANDARD && !statSync(file, { throwIfNoEntry: false })?.isFile())
      throw new Error(`There is no file ${file}`);
    await withDatabase(async (db, { DATABASE_PATH }) => {
      const { accountId } = requireContactType(db, typeId);
      const folder = await makeUploadFolder(DATABASE_PATH);
      try {
        const fileName = file === STANDARD ? 'standard-input.csv' : basename(file);
        const input = file === STANDARD ? await readStandardInput(folder) : file;
        const source = {
          databasePath: DATABASE_PATH,
          accountId,
          vendor,
          path: input,
          fileName,
          folder,
        };
        const exported = await readExport(db, source);
        if ('refusal' in exported) throw new Error(exported.refusal);
        const { path, migration, columns } = exported;
        const mapping = columns.map(({ field }) => field ?? '');
        const job = {
          databasePath: DATABASE_PATH,
          accountId,
          typeId,
          path,
          fileName,
          mapping,
          migration,
          options: { ...DEFAULT_OPTIONS, startsAutomations: !call.flag('no-automations') },
        };
        const words = [
          vendor,
          file,
          '--type',
          String(typeId),
          ...(call.flag('no-automations') ? ['--no-automations'] : []),
        ];
        await (call.flag('confirm')
          ? migrateContacts(call, db, job, exported)
          : preview(call, db, job, exported, words));
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
  },
};

/** Prints what a migration would do, and the command that does it. `words` are the words of that command without --confirm. */
async function preview(
  call: Call,
  db: Db,
  job: ImportJob,
  exported: ReadExport,
  words: readonly string[],
): Promise<void> {
  const preview = await previewImport(db, job);
  const { counts, failed, repeated, errors, notes, leaving } = preview;
  const segments = findMissingSegments(db, job);
  const answer = {
    new: counts.new,
    changed: counts.changed,
    unchanged: counts.unchanged,
    left: counts.left,
    failed,
    repeated,
    leaving,
    new_fields: job.migration?.newFields ?? [],
    new_segments: segments,
    templates: exported.templates.map(({ name }) => name),
    left_out_columns: exported.ignored.columns,
    left_out_files: exported.ignored.files,
    ...inEnglish({ notes: [...exported.notes, ...notes], errors }),
  };
  const listed = (heading: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`${heading}: ${names.join(', ')}`];
  call.answer(answer, [
    ...leavingNotes(leaving).map((note) => english(note)),
    `Contacts: ${counts.new} new, ${counts.changed} changed, ${counts.unchanged} unchanged, ${failed} failed`,
    ...(repeated > 0 ? [`${repeated} more rows have an address that a later row has too; the later one counts`] : []),
    `Of these, unsubscribed or suppressed, and staying so: ${counts.left}`,
    ...listed(
      'New fields',
      answer.new_fields.map(({ field_name, field_type }) => `${field_name} (${field_type})`),
    ),
    ...listed('New segments', segments),
    ...listed('Templates', answer.templates),
    ...listed('Columns skipped', exported.ignored.columns),
    ...listed('Files skipped', exported.ignored.files),
    ...answer.notes,
    ...errorLines(answer.errors),
    ...(preview.is_possible
      ? [`Nothing was changed. To do it: sendlark migrate ${words.map(shellQuoted).join(' ')} --confirm`]
      : []),
  ]);
  if (!preview.is_possible) throw new Error('Nothing would be taken over');
}

/** Migrates the contacts and templates, and prints the result. */
async function migrateContacts(call: Call, db: Db, job: ImportJob, exported: ReadExport): Promise<void> {
  const report = inEnglish(await importContacts(db, job));
  const { rows, created, updated, failed, notes, errors } = report;
  if (report.id > 0) await addMissingTemplates({ db, clock: systemClock }, job.accountId, exported.templates);
  call.answer(report, [
    `${rows} contacts: ${created} created, ${updated} updated, ${failed} failed`,
    ...exported.notes.map((note) => english(note)),
    ...notes,
    ...errorLines(errors),
  ]);
  if (report.id === 0) throw new Error('Nothing was taken over');
}

/** Returns a word of a command, quoted for a POSIX shell if needed. */
const shellQuoted = (word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
