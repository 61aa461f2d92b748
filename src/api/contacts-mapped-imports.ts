/** Importing a CSV file in two steps: looking at its columns, then importing them as fields of the owner's choice, in the background. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { sql } from 'drizzle-orm';
import Type from 'typebox';
import { listCustomFields } from '../audience/contacts/contact-fields.ts';
import { CsvError } from '../audience/import/csv-parse.ts';
import { csvWriter } from '../audience/import/csv-write.ts';
import { guessColumns } from '../audience/import/guess-columns.ts';
import type { ImportReport } from '../audience/import/import.ts';
import { ImportJobs, type UploadedFile } from '../audience/import/import-jobs.ts';
import { LEAVING_KINDS } from '../audience/import/lists/migration-job.ts';
import { MAX_PREVIEWED, PREVIEW_KINDS, type PreviewKind } from '../audience/import/preview/preview.ts';
import { makeUploadFolder } from '../audience/import/uploads.ts';
import type { ExportJob } from '../audience/migrate/read-export.ts';
import { VENDOR_NAMES } from '../audience/migrate/vendors/index.ts';
import { ownedRecord } from '../database/ownership.ts';
import { contactImports } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { conflict, invalid, notFound } from '../failure.ts';
import { choice, csvFile, identifier, integer, nullable, successWith, zeroOrOne } from '../http/requests/schemas.ts';
import { SENTENCES } from '../sentences.ts';
import { addMissingTemplates } from '../templates/own-templates.ts';
import { checkPlan, PlanBody, plannedImport } from './contacts-import-plan.ts';
import { RowProblem, UploadState, uploadState } from './contacts-upload-state.ts';
import { readImportUpload } from './import-upload.ts';

const tags = ['Contacts'];

const KIND =
  'Whom to list: new (default), changed, unchanged, skipped, or left: people of any of these who had unsubscribed or are suppressed.';

const LookBody = Type.Object({
  file: Type.String({
    format: 'binary',
    description: 'A file whose name ends in .csv; of an export of another service also in .zip or .json.',
  }),
  source: Type.Optional(choice(...VENDOR_NAMES)),
});
const kindCounts = Type.Object(Object.fromEntries(PREVIEW_KINDS.map((kind) => [kind, integer()])));
const Preview = Type.Object({
  is_possible: zeroOrOne(),
  rows: integer(),
  failed: integer(),
  repeated: integer(),
  counts: kindCounts,
  removed: integer(),
  automations: Type.Array(
    Type.Object({ utr: Type.String(), automation_name: Type.String(), people: integer(), is_exact: zeroOrOne() }),
  ),
  fields: Type.Array(Type.Object({ field: Type.String(), count: integer() })),
  leaving: Type.Array(
    Type.Object({ kind: choice(...LEAVING_KINDS), name: Type.String(), people: integer(), added: integer() }),
  ),
  notes: Type.Array(Type.String()),
  errors: Type.Array(RowProblem),
});
const PreviewedPerson = Type.Object({
  line: integer(),
  email: Type.String(),
  changes: Type.Array(
    Type.Object({ field: Type.String(), before: nullable(Type.String()), after: nullable(Type.String()) }),
  ),
});

export const contactMappedImportRoutes: FastifyPluginAsyncTypebox<Deps> = async (
  app,
  { db, clock, config, importContacts, previewImport, readExport },
) => {
  const jobs = new ImportJobs(importContacts, previewImport);
  /** The stored report of an import. Throws 404. */
  function requireReport(accountId: number, id: unknown): Pick<ImportReport, 'failed' | 'errors'> {
    const found = db
      .select({ failed: contactImports.failed, errors: contactImports.errors })
      .from(contactImports)
      .where(ownedRecord(contactImports, id, accountId))
      .orderBy(sql`id`)
      .get();
    if (found === undefined) throw notFound();
    return found;
  }

  /** Reads an export in the import thread. Throws 422 where it is none. */
  async function readSource(job: ExportJob) {
    const read = await readExport(job);
    if ('refusal' in read) throw invalid('file', read.refusal);
    const { path, columns, notes, ...exported } = read;
    await rm(job.path);
    return { path, columns, notes, exported };
  }

  const answer = (upload: UploadedFile) => ({ status: 'success' as const, message: { upload: uploadState(upload) } });

  app.post(
    '/contacts/imports/look',
    {
      schema: {
        tags,
        summary: 'Upload a CSV file, or an export of another service, and look at its columns (addition)',
        description:
          'With `source` the file is read whole: then the upload has what else is taken over, and its columns are the fields that people get.',
        body: LookBody,
        consumes: ['multipart/form-data'],
        response: successWith({ upload: UploadState }),
      },
      // The handler reads the body itself; the schema is only for the OpenAPI document.
      validatorCompiler: () => () => true,
      config: { upload: true },
    },
    async (request) => {
      const folder = await makeUploadFolder(config.DATABASE_PATH);
      try {
        const { accountId } = request;
        const path = join(folder, 'upload');
        const { fileName, source, errors } = await readImportUpload(request, path, config.MAX_UPLOAD_BYTES);
        errors.throwIfAny();
        const look =
          source === null
            ? { path, exported: null, ...(await guessColumns(path, listCustomFields(db, accountId))) }
            : await readSource({
                databasePath: config.DATABASE_PATH,
                accountId,
                vendor: source,
                path,
                fileName,
                folder,
              });
        return answer(await jobs.add({ accountId, folder, fileName, ...look }, clock.now().getTime()));
      } catch (error) {
        await rm(folder, { recursive: true, force: true });
        throw error instanceof CsvError ? invalid('file', error.message) : error;
      }
    },
  );

  /** The account's upload that can be previewed or imported now. Throws 404, and 409 when it cannot. */
  function requireLooked(accountId: number, id: unknown): UploadedFile {
    const upload = jobs.find(accountId, id);
    if (upload === undefined) throw notFound();
    if (upload.state === 'previewing') throw conflict(SENTENCES.file_previewing);
    if (upload.state !== 'looked') throw conflict(SENTENCES.file_imported);
    return upload;
  }

  app.post(
    '/contacts/imports/preview',
    {
      schema: {
        tags,
        summary: 'Compute what importing an uploaded file would do, in the background (addition)',
        description:
          'It takes what `/contacts/imports/start` takes, and changes nothing. `/contacts/imports/previewed` has the result once the state is looked again.',
        body: PlanBody,
        response: successWith({ upload: UploadState }),
      },
      config: { check: checkPlan(db, jobs) },
    },
    async (request) => {
      const upload = requireLooked(request.accountId, request.body.upload_id);
      jobs.startPreview(upload, config.DATABASE_PATH, plannedImport(request.body), (error) =>
        request.log.error({ err: error }, 'a preview failed'),
      );
      return answer(upload);
    },
  );

  app.get(
    '/contacts/imports/previewed',
    {
      schema: {
        tags,
        summary: 'Read what importing an uploaded file would do, and to whom (addition)',
        description: `Gives the first ${MAX_PREVIEWED} people of a kind. As long as there is no preview, preview is null.`,
        querystring: Type.Object({
          upload_id: identifier('The uploaded file.'),
          kind: Type.Optional(Type.Unsafe<PreviewKind>({ ...choice(...PREVIEW_KINDS), description: KIND })),
        }),
        response: successWith({ preview: nullable(Preview), people: Type.Array(PreviewedPerson) }),
      },
    },
    async (request) => {
      const { upload_id, kind = 'new' } = request.query;
      const upload = jobs.find(request.accountId, upload_id);
      if (upload === undefined) throw notFound();
      if (upload.preview === null) return { status: 'success' as const, message: { preview: null, people: [] } };
      const { people, is_possible, automations: starting, ...preview } = upload.preview;
      const automations = starting.map(({ is_exact, ...automation }) => ({
        ...automation,
        is_exact: is_exact ? 1 : 0,
      }));
      const message = {
        preview: { ...preview, automations, is_possible: is_possible ? 1 : 0 },
        people: people[kind],
      };
      return { status: 'success' as const, message };
    },
  );

  app.post(
    '/contacts/imports/start',
    {
      schema: {
        tags,
        summary: 'Import an uploaded file with its columns as these fields, in the background (addition)',
        body: PlanBody,
        response: successWith({ upload: UploadState }),
      },
      config: { check: checkPlan(db, jobs) },
    },
    async (request) => {
      const { upload_id } = request.body;
      const { exported } = requireLooked(request.accountId, upload_id);
      await addMissingTemplates({ db, clock }, request.accountId, exported?.templates ?? []);
      // Once more, since another request may have started it meanwhile.
      const upload = requireLooked(request.accountId, upload_id);
      jobs.start(upload, config.DATABASE_PATH, plannedImport(request.body), (error) =>
        request.log.error({ err: error }, 'an import failed'),
      );
      return answer(upload);
    },
  );

  app.get(
    '/contacts/imports/progress',
    {
      schema: {
        tags,
        summary: 'Read how far the import of an uploaded file is (addition)',
        querystring: Type.Object({ upload_id: identifier('The uploaded file.') }),
        response: successWith({ upload: UploadState }),
      },
    },
    async (request) => {
      const upload = jobs.find(request.accountId, request.query.upload_id);
      if (upload === undefined) throw notFound();
      return answer(upload);
    },
  );

  app.get(
    '/contacts/imports/errors',
    {
      schema: {
        tags,
        summary: 'Download the rows of an import that failed, as CSV (addition)',
        description:
          'Of an import, or with `upload_id` of an upload that imported nobody. Where not all rows are kept, the last line says how many.',
        querystring: Type.Object({
          id: identifier('The import.'),
          upload_id: identifier('The uploaded file, instead of the import.'),
        }),
        response: csvFile,
      },
    },
    async (request, reply) => {
      const { id, upload_id } = request.query;
      const upload = upload_id === undefined ? undefined : jobs.find(request.accountId, upload_id);
      if (upload_id !== undefined && upload === undefined) throw notFound();
      const { failed, errors } =
        upload?.report?.id === 0 ? upload.report : requireReport(request.accountId, upload?.report?.id ?? id);
      reply.type('text/csv; charset=utf-8').header('content-disposition', 'attachment; filename="import-errors.csv"');
      const csv = csvWriter(['line', 'field', 'text']);
      for (const { line, field, text } of errors) csv.write([line, field, text]);
      const kept = new Set(errors.map(({ line }) => line)).size;
      if (kept < failed)
        csv.write([null, '', `These are the first ${kept} of ${failed} rows that failed. More are not kept.`]);
      csv.end();
      return reply.send(csv);
    },
  );
};
