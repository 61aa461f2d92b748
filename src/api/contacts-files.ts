/** Contacts as CSV files: the sample, the export, the upload, and the reports of uploads. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { sql } from 'drizzle-orm';
import Type from 'typebox';
import { hasContactType } from '../audience/contacts/contacts.ts';
import { DEFAULT_OPTIONS } from '../audience/import/import-options.ts';
import { isUndoable } from '../audience/import/undo/undo.ts';
import { makeUploadFolder } from '../audience/import/uploads.ts';
import { isoTimestamp } from '../clock.ts';
import { ownedBy, ownedRecord, recordId } from '../database/ownership.ts';
import { readRecord, recordObject, totalBytes } from '../database/record-json.ts';
import { contactImports } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { Failure, notFound } from '../failure.ts';
import { messages } from '../field-errors.ts';
import { sendList, sendRecord } from '../http/list-response.ts';
import { normalize } from '../http/requests/normalize.ts';
import {
  choice,
  done,
  eitherOrderQuery,
  flag,
  identifier,
  integer,
  isoTimestampSchema,
  nullable,
  successWith,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import { SENTENCES } from '../sentences.ts';
import { readCsvUpload } from './csv-upload.ts';

const tags = ['Contacts'];

const ContactImport = Type.Object({
  id: integer(),
  contact_type_id: integer(),
  file_name: Type.String(),
  rows: integer(),
  created: integer(),
  updated: integer(),
  failed: integer(),
  notes: Type.Array(Type.String()),
  errors: Type.Array(Type.Object({ line: integer(), field: Type.String(), text: Type.String() })),
  state: choice('writing', 'done', 'undoing', 'undone'),
  undo_until: nullable(isoTimestampSchema()),
  is_undoable: zeroOrOne(),
  removed: integer(),
  restored: integer(),
  kept: integer(),
  created_at: isoTimestampSchema(),
});

const UploadBody = Type.Object({
  contact_type_id: integer(),
  file: Type.String({ format: 'binary', description: 'A file whose name ends in .csv.' }),
  empty_cells: Type.Optional(choice('keep', 'clear')),
  start_automations: Type.Optional(flag()),
});

export const contactFileRoutes: FastifyPluginAsyncTypebox<Deps> = async (
  app,
  { db, clock, config, importContacts },
) => {
  app.post(
    '/contacts/upload-csv',
    {
      schema: {
        tags,
        summary: 'Import contacts from a CSV file',
        description:
          'The first row names the fields; only email is required. A contact of the type with the same address is updated; where a cell is empty it keeps its value, unless `empty_cells` is clear (addition). With `start_automations` 0 nobody enters an automation by it (addition). A row with errors fails alone. The header Location of the answer names the report of the import.',
        body: UploadBody,
        consumes: ['multipart/form-data'],
        response: done,
      },
      // The handler reads the body itself; the schema is only for the OpenAPI document.
      validatorCompiler: () => () => true,
      config: { upload: true },
    },
    async (request, reply) => {
      const folder = await makeUploadFolder(config.DATABASE_PATH);
      try {
        const path = join(folder, 'contacts.csv');
        const { fileName, fields, errors } = await readCsvUpload(request, path, config.MAX_UPLOAD_BYTES);
        const given = fields.contact_type_id;
        if (given === undefined || (typeof given === 'string' && given.trim() === ''))
          errors.add('contact_type_id', messages.required('contact_type_id'));
        else if (typeof given !== 'string' || !/^\d{1,16}$/.test(given))
          errors.add('contact_type_id', messages.integer('contact_type_id'));
        else errors.reference('contact_type_id', () => hasContactType(db, request.accountId, given));
        const { empty_cells, start_automations: starts = 1 } = normalize(UploadBody, fields);
        const asked = empty_cells || DEFAULT_OPTIONS.emptyCells;
        if (asked !== 'keep' && asked !== 'clear') errors.add('empty_cells', messages.selected('empty_cells'));
        const emptyCells = asked === 'clear' ? ('clear' as const) : ('keep' as const);
        if (starts !== 0 && starts !== 1) errors.add('start_automations', messages.selected('start_automations'));
        errors.throwIfAny();
        const typeId = recordId(given);
        const job = {
          databasePath: config.DATABASE_PATH,
          accountId: request.accountId,
          typeId,
          path,
          fileName,
          options: { ...DEFAULT_OPTIONS, emptyCells, startsAutomations: starts === 1 },
        };
        const report = await importContacts(job);
        if (report.id === 0) {
          const first = report.errors.slice(0, 3).map(({ line, text }) => `Line ${line}: ${text}`);
          throw new Failure(422, { file: [SENTENCES.file_no_rows, ...report.notes, ...first] });
        }
        reply.header('location', `/api/contacts/imports/details?id=${report.id}`);
        return { status: 'success' as const, message: 'Imported Successfully' };
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  );

  const record = () =>
    recordObject(ContactImport, contactImports, {
      notes: sql`json(${contactImports.notes})`,
      errors: sql`json(${contactImports.errors})`,
      is_undoable: sql.raw(isUndoable(`'${isoTimestamp(clock.now())}'`)),
    });
  const from = sql`${contactImports}`;

  app.get(
    '/contacts/imports',
    {
      schema: {
        tags,
        summary: 'List the imports',
        querystring: eitherOrderQuery,
        response: successWith({ imports: Type.Array(ContactImport) }),
      },
    },
    (request, reply) => {
      const bytes = totalBytes(contactImports.notes, contactImports.errors);
      const source = {
        record: record(),
        from,
        where: ownedBy(contactImports, request.accountId),
        id: contactImports.id,
        bytes,
      };
      sendList(reply, db, 'imports', source, request.query);
    },
  );

  app.get(
    '/contacts/imports/details',
    {
      schema: {
        tags,
        summary: 'Read what an import did',
        querystring: Type.Object({ id: identifier('The import.') }),
        response: successWith({ import: ContactImport }),
      },
    },
    (request, reply) => {
      const json = readRecord(db, record(), from, ownedRecord(contactImports, request.query.id, request.accountId));
      if (json === undefined) throw notFound();
      sendRecord(reply, 'import', json);
    },
  );
};
