/** `sendlark migrate`: imports contacts from the export of another service, unsubscribed and suppressed ones first. */
import { statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { importContacts, inEnglish } from '../audience/import/import.ts';
import { DEFAULT_OPTIONS, type ImportJob } from '../audience/import/import-job.ts';
import { leavingNotes } from '../audience/import/lists.ts';
import { findMissingSegments } from '../audience/import/make-lists.ts';
import { previewImport } from '../audience/import/preview.ts';
import type { RowError } from '../audience/import/rows.ts';
import { makeUploadFolder } from '../audience/import/uploads.ts';
import { type ReadExport, readExport } from '../audience/migrate/read-export.ts';
import { VENDOR_NAMES } from '../audience/migrate/vendors/index.ts';
import type { Db } from '../database/open.ts';
import { english } from '../errors/stored.ts';
import { addMissingTemplates } from '../templates/own-templates.ts';
import { systemClock } from '../time/clock.ts';
import { type Call, type Command, requireWords, UsageError } from './command.ts';
import { requireContactType, typeOption, withDatabase } from './database.ts';
import { readStandardInput, STANDARD } from './standard-streams.ts';

const ERRORS_SHOWN = 20;

export const migrate: Command = {
  forms: VENDOR_NAMES.map((name) => `migrate ${name} FILE --type N [--no-automations] [--confirm]`),
  about: 'Take over contacts from the export of another service.',
  help: `Without --confirm it changes nothing and says what it would do; with it, it does just that. FILE is the export as the service
gives it: a CSV or JSON file, or a ZIP archive of them; - for standard input. People go to the list N (GET /api/contacts-type); whoever left,
bounced or complained there is marked first and gets no mail. Killed half-way, run it again. The service may run meanwhile.
Whoever is new enters the live automations of the list and its segments; with --no-automations nobody does.
How to export there, and what is taken over: docs/migrating.md.`,
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
        const read = await readExport(db, source);
        if ('refusal' in read) throw new Error(read.refusal);
        const { path, migration, columns } = read;
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
        await (call.flag('confirm') ? carryOut(call, db, job, read) : preview(call, db, job, read, words));
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
  },
};

/** Says what a migration would do, and with which command. `words` is that command without --confirm. */
async function preview(call: Call, db: Db, job: ImportJob, read: ReadExport, words: readonly string[]): Promise<void> {
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
    templates: read.templates.map(({ name }) => name),
    left_out_columns: read.ignored.columns,
    left_out_files: read.ignored.files,
    ...inEnglish({ notes: [...read.notes, ...notes], errors }),
  };
  const named = (what: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`${what}: ${names.join(', ')}`];
  call.answer(answer, [
    ...leavingNotes(leaving).map((note) => english(note)),
    `Contacts: ${counts.new} new, ${counts.changed} changed, ${counts.unchanged} unchanged, ${failed} failed`,
    ...(repeated > 0 ? [`${repeated} more rows have an address that a later row has too; the later one counts`] : []),
    `Of them unsubscribed or suppressed, and staying so: ${counts.left}`,
    ...named(
      'New fields',
      answer.new_fields.map(({ field_name, field_type }) => `${field_name} (${field_type})`),
    ),
    ...named('New segments', segments),
    ...named('Templates', answer.templates),
    ...named('Columns skipped', read.ignored.columns),
    ...named('Files skipped', read.ignored.files),
    ...answer.notes,
    ...errorLines(answer.errors),
    ...(preview.is_possible
      ? [`Nothing was changed. To do it: sendlark migrate ${words.map(quoted).join(' ')} --confirm`]
      : []),
  ]);
  if (!preview.is_possible) throw new Error('Nothing would be taken over');
}

async function carryOut(call: Call, db: Db, job: ImportJob, read: ReadExport): Promise<void> {
  const report = inEnglish(await importContacts(db, job));
  const { rows, created, updated, failed, notes, errors } = report;
  if (report.id > 0) await addMissingTemplates({ db, clock: systemClock }, job.accountId, read.templates);
  call.answer(report, [
    `${rows} contacts: ${created} created, ${updated} updated, ${failed} failed`,
    ...read.notes.map((note) => english(note)),
    ...notes,
    ...errorLines(errors),
  ]);
  if (report.id === 0) throw new Error('Nothing was taken over');
}

/** A word of a command as a POSIX shell reads it. */
const quoted = (word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

const errorLines = (errors: readonly RowError[]) =>
  errors.slice(0, ERRORS_SHOWN).map(({ line, field, text }) => `line ${line}${field && `, ${field}`}: ${text}`);
