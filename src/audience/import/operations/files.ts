/** The files of imports, which are read from a form straight to disk: a CSV file to import at once, or a file to look at first. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { recordId } from '../../../database/ownership.ts';
import { Failure, invalid } from '../../../errors/failure.ts';
import { messages } from '../../../errors/field-errors.ts';
import { sentence } from '../../../errors/sentences.ts';
import { readFileUpload } from '../../../http/requests/forms.ts';
import { normalize } from '../../../http/requests/normalize.ts';
import { choice, flag } from '../../../http/requests/schemas.ts';
import type { Context } from '../../../operations/operation.ts';
import { listCustomFields } from '../../contacts/contact-fields.ts';
import { hasContactType } from '../../contacts/contacts.ts';
import type { ExportJob } from '../../migrate/read-export.ts';
import { VENDOR_NAMES } from '../../migrate/vendors/index.ts';
import { CsvError } from '../csv-parse.ts';
import { guessColumns } from '../guess-columns.ts';
import { DEFAULT_OPTIONS } from '../import-options.ts';
import { makeUploadFolder } from '../uploads.ts';
import { EMPTY_CELLS, START_AUTOMATIONS, type Upload, uploadRecord } from './uploads.ts';

export const CsvForm = Type.Object({
  contact_type_id: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  file: Type.String({ format: 'binary', description: 'A file whose name ends in .csv.' }),
  empty_cells: Type.Optional({ ...choice('keep', 'clear'), description: EMPTY_CELLS }),
  start_automations: Type.Optional(flag(START_AUTOMATIONS)),
});

export const FileForm = Type.Object({
  file: Type.String({
    format: 'binary',
    description: 'A file whose name ends in .csv; of an export of another service also in .zip or .json.',
  }),
  source: Type.Optional({
    ...choice(...VENDOR_NAMES),
    description: 'The service whose export it is; none: a CSV file with columns of your choice.',
  }),
});

/** Imports the CSV file of a form; gives the id of the import. Throws 413 and 422, the latter also where no row is valid. */
export async function importCsv({ db, config, accountId, importer }: Context, form: FastifyRequest): Promise<number> {
  const folder = await makeUploadFolder(config.DATABASE_PATH);
  try {
    const path = join(folder, 'contacts.csv');
    const { fileName, fields, errors } = await readFileUpload(form, path, config.MAX_UPLOAD_BYTES);
    if (!errors.has('file') && !/\.csv$/i.test(fileName)) errors.add('file', sentence('file_not_csv'));
    const given = fields.contact_type_id;
    if (given === undefined || (typeof given === 'string' && given.trim() === ''))
      errors.add('contact_type_id', messages.required('contact_type_id'));
    else if (typeof given !== 'string' || !/^\d{1,16}$/.test(given))
      errors.add('contact_type_id', messages.integer('contact_type_id'));
    else errors.reference('contact_type_id', () => hasContactType(db, accountId, given));
    const { empty_cells, start_automations: starts = 1 } = normalize(CsvForm, fields);
    const asked = empty_cells || DEFAULT_OPTIONS.emptyCells;
    if (asked !== 'keep' && asked !== 'clear') errors.add('empty_cells', messages.selected('empty_cells'));
    const emptyCells = asked === 'clear' ? ('clear' as const) : ('keep' as const);
    if (starts !== 0 && starts !== 1) errors.add('start_automations', messages.selected('start_automations'));
    errors.throwIfAny();
    const report = await importer.run({
      databasePath: config.DATABASE_PATH,
      accountId,
      typeId: recordId(given),
      path,
      fileName,
      options: { ...DEFAULT_OPTIONS, emptyCells, startsAutomations: starts === 1 },
    });
    if (report.id !== 0) return report.id;
    const first = report.errors.slice(0, 3).map(({ line, text }) => `Line ${line}: ${text}`);
    throw new Failure(422, { file: [sentence('file_no_rows'), ...report.notes, ...first] });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Keeps the file of a form, which is a CSV file or the export of another service, and looks at its columns. Throws 413 and 422. */
export async function lookAtFile(context: Context, form: FastifyRequest): Promise<Upload> {
  const { db, clock, config, accountId, imports } = context;
  const folder = await makeUploadFolder(config.DATABASE_PATH);
  try {
    const path = join(folder, 'upload');
    const { fileName, fields, errors } = await readFileUpload(form, path, config.MAX_UPLOAD_BYTES);
    const { source: given = '' } = fields;
    const vendor = VENDOR_NAMES.find((name) => name === given);
    if (vendor === undefined && given !== '') errors.add('source', messages.selected('source'));
    const isNamed = vendor === undefined ? /\.csv$/i : /\.(?:zip|csv|json)$/i;
    if (!errors.has('file') && !isNamed.test(fileName))
      errors.add('file', vendor === undefined ? sentence('file_not_csv') : sentence('file_not_export'));
    errors.throwIfAny();
    const look =
      vendor === undefined
        ? { path, exported: null, ...(await guessColumns(path, listCustomFields(db, accountId))) }
        : await readExport(context, {
            databasePath: config.DATABASE_PATH,
            accountId,
            vendor,
            path,
            fileName,
            folder,
          });
    return uploadRecord(await imports.add({ accountId, folder, fileName, ...look }, clock.now().getTime()));
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error instanceof CsvError ? invalid('file', error.message) : error;
  }
}

/** Reads an export in the import thread. Throws 422 where it is none. */
async function readExport({ importer }: Context, job: ExportJob) {
  const read = await importer.read(job);
  if ('refusal' in read) throw invalid('file', read.refusal);
  const { path, columns, notes, ...exported } = read;
  await rm(job.path);
  return { path, columns, notes, exported };
}
