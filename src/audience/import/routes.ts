/** The API of imports. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { sendCsv } from '../../http/list-response.ts';
import { contextOf, operationRoutes } from '../../http/operation-routes.ts';
import { csvFile, done, successWith } from '../../http/requests/schemas.ts';
import type { Deps } from '../../operations/deps.ts';
import { CsvForm, FileForm, importCsv, lookAtFile } from './operations/files.ts';
import { listImports, listKept, readImport, takeBackImport } from './operations/imports.ts';
import { failedRowsCsv, OneUpload, readPreview, readUpload, startImport, startPreview } from './operations/uploads.ts';

const TAG = 'Contacts';

/** Of a route whose handler reads the body itself; its schema is only for the OpenAPI document. */
const UPLOAD = { validatorCompiler: () => () => true, config: { upload: true } };

export const importRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const imports = operationRoutes(app, deps, TAG);
  app.post(
    '/contacts/upload-csv',
    {
      schema: {
        tags: [TAG],
        summary: 'Import contacts from a CSV file',
        description:
          'The first row names the fields; only email is required. A contact of the type with the same address is updated; where a cell is empty it keeps its value, unless `empty_cells` is clear (addition). With `start_automations` 0 nobody enters an automation by it (addition). A row with errors fails alone. The header Location of the answer names the report of the import.',
        body: CsvForm,
        consumes: ['multipart/form-data'],
        response: done,
      },
      ...UPLOAD,
    },
    async (request, reply) => {
      const id = await importCsv(contextOf(request, deps), request);
      reply.header('location', `/api/contacts/imports/details?id=${id}`);
      return { status: 'success' as const, message: 'Imported Successfully' };
    },
  );
  imports.list('GET /contacts/imports', listImports);
  imports.record('GET /contacts/imports/details', readImport);
  app.post(
    '/contacts/imports/look',
    {
      schema: {
        tags: [TAG],
        summary: 'Upload a CSV file, or an export of another service, and look at its columns (addition)',
        description:
          'With `source` the file is read whole: then the upload has what else is taken over, and its columns are the fields that people get.',
        body: FileForm,
        consumes: ['multipart/form-data'],
        response: successWith(OneUpload.properties),
      },
      ...UPLOAD,
    },
    async (request) => ({
      status: 'success' as const,
      message: { upload: await lookAtFile(contextOf(request, deps), request) },
    }),
  );
  imports.read('POST /contacts/imports/preview', startPreview);
  imports.read('GET /contacts/imports/previewed', readPreview);
  imports.read('POST /contacts/imports/start', startImport);
  imports.read('GET /contacts/imports/progress', readUpload);
  imports.send('GET /contacts/imports/errors', failedRowsCsv, csvFile, (csv, reply) =>
    sendCsv(reply, csv, 'import-errors.csv'),
  );
};

export const importUndoRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const imports = operationRoutes(app, deps, TAG);
  imports.change('POST /contacts/imports/undo', takeBackImport, 'Undoing');
  imports.list('GET /contacts/imports/kept', listKept);
};
