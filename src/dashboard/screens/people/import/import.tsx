/** Importing people: choose a file, say what its columns are, look at what will happen, watch it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { READ } from '../../../../http/pages/layout.ts';
import { type ApiAnswer, ApiClient, ApiFailure, refusalOf, refusalText } from '../../../api-client.ts';
import { languageOf, sendPage } from '../../../page.tsx';
import { requireEditor, viewerOf } from '../../../signed-in.ts';
import { texts } from '../filter.ts';
import { readChoices } from '../people.tsx';
import type { Upload } from '../records.ts';
import { ImportProgress, type ImportReport } from './import-progress.tsx';
import { ChooseFile, Mapping } from './mapping.tsx';
import { MigrationPlan } from './migrate.tsx';
import { makeNewFields } from './new-fields.ts';
import { makeType, NEW_TYPE } from './new-type.ts';
import { optionFields } from './options.tsx';
import { readPastImport } from './past-import.tsx';
import { PreviewPage, readPreview } from './preview-page.tsx';

const SEE_OTHER = 303;
const UNPROCESSABLE = 422;
/** A past import has a number; an upload has a UUID until the service starts again. */
const PAST = /^\d+$/;

interface WithId {
  Params: { id: string };
}

const addressOf = (id: string) => `/people/import/${encodeURIComponent(id)}`;

export async function importScreen(app: FastifyInstance): Promise<void> {
  // The API reads the file; the page passes it on as it comes.
  app.addContentTypeParser('multipart/form-data', (_request, payload, done) => done(null, payload));

  app.addHook('onRequest', async (request) => requireEditor(request));

  app.route({
    method: READ,
    url: '/people/import',
    handler: (request, reply) => send(request, reply, <ChooseFile />),
  });

  app.post('/people/import', { config: { upload: true } }, async (request, reply) => {
    const api = new ApiClient(app, request);
    const type = request.headers['content-type'] ?? '';
    const answer: ApiAnswer<{ upload: Upload }> = await api.upload('/contacts/imports/look', request.body, type);
    if (answer.message) return reply.redirect(`/people/import/${answer.message.upload.id}`, SEE_OTHER);
    reply.code(answer.status);
    return send(request, reply, <ChooseFile problem={refusalText(answer)} />);
  });

  app.route<WithId & { Querystring: { columns?: string } }>({
    method: READ,
    url: '/people/import/:id',
    handler: async (request, reply) => {
      const api = new ApiClient(app, request);
      const { id } = request.params;
      if (PAST.test(id)) return send(request, reply, await readPastImport(api, id));
      const upload = await readUpload(api, id);
      if (upload.state === 'looked' || upload.state === 'previewing') {
        const choices = await readChoices(request);
        if (upload.plan === null || request.query.columns !== undefined) {
          if (upload.migration !== null)
            return send(
              request,
              reply,
              <MigrationPlan upload={upload} migration={upload.migration} choices={choices} />,
            );
          const mapped = upload.plan === null ? upload : withMapping(upload, upload.plan.mapping);
          const type = String(upload.plan?.contact_type_id ?? '');
          return send(request, reply, <Mapping upload={mapped} choices={choices} type={type} />);
        }
        const previewed = await readPreview(api, id);
        return send(
          request,
          reply,
          <PreviewPage upload={upload} plan={upload.plan} choices={choices} {...previewed} />,
        );
      }
      const report =
        upload.import_id === null
          ? null
          : (await api.get<{ import: ImportReport }>('/contacts/imports/details', { id: String(upload.import_id) }))
              .import;
      return send(request, reply, <ImportProgress upload={upload} report={report} />);
    },
  });

  app.post<WithId>('/people/import/:id', async (request, reply) => {
    const api = new ApiClient(app, request);
    const upload_id = request.params.id;
    const values: Record<string, unknown> = Object.assign(Object.create(null), request.body);
    const upload = await readUpload(api, upload_id);
    const asked = upload.columns.map(
      ({ field }, at) => (upload.migration === null ? texts(values[`column${at}`])[0] : field) ?? '',
    );
    const { mapping, refusal } = await makeNewFields(request, upload.columns, asked);
    const [chosen = NEW_TYPE] = texts(values.contact_type_id);
    const [newType = ''] = texts(values.name);
    const language = languageOf(request, viewerOf(request));
    const made = refusal
      ? { refusal }
      : chosen === NEW_TYPE
        ? await makeType(request, api, newType, { upload_id, mapping })
        : { id: chosen, ...(newType !== '' && { refusal: refused('name', language.say('import.type.both')) }) };
    const contact_type_id = made.id ?? chosen;
    const answer: ApiAnswer<unknown> =
      made.refusal ??
      (await api.send('POST', '/contacts/imports/preview', {
        upload_id,
        contact_type_id,
        mapping,
      }));
    if (answer.message) return reply.redirect(addressOf(upload_id), SEE_OTHER);
    reply.code(answer.status);
    const { problems } = refusalOf(answer);
    const choices = await readChoices(request);
    const form = { choices, type: contact_type_id, newType: contact_type_id === chosen ? newType : '', problems };
    return send(
      request,
      reply,
      upload.migration === null ? (
        <Mapping upload={withMapping(upload, mapping)} {...form} />
      ) : (
        <MigrationPlan upload={upload} migration={upload.migration} {...form} />
      ),
    );
  });

  // The columns are those of the preview; the rest is what its page had, so that what happens is what it said.
  for (const step of ['preview', 'start'] as const)
    app.post<WithId>(`/people/import/:id/${step}`, async (request, reply) => {
      const api = new ApiClient(app, request);
      const { id } = request.params;
      const { plan } = await readUpload(api, id);
      if (plan === null) return reply.redirect(addressOf(id), SEE_OTHER);
      const { contact_type_id, mapping } = plan;
      const options = optionFields(Object.assign(Object.create(null), request.body));
      const fields = { upload_id: id, contact_type_id, mapping, ...options };
      const answer = await api.send<unknown>('POST', `/contacts/imports/${step}`, fields);
      if (answer.message === undefined) throw new ApiFailure(answer);
      return reply.redirect(addressOf(id), SEE_OTHER);
    });

  app.post<WithId>('/people/import/:id/undo', async (request, reply) => {
    const { id } = request.params;
    const answer = await new ApiClient(app, request).send('POST', '/contacts/imports/undo', { id });
    if (answer.message === undefined) throw new ApiFailure(answer);
    return reply.redirect(addressOf(id), SEE_OTHER);
  });

  app.get<WithId>('/people/import/:id/errors', async (request, reply) => {
    const { id } = request.params;
    const which = PAST.test(id) ? { id } : { upload_id: id };
    const csv = await new ApiClient(app, request).text('/contacts/imports/errors', which);
    reply.header('content-disposition', 'attachment; filename="import-errors.csv"').type('text/csv; charset=utf-8');
    return reply.send(csv);
  });
}

async function readUpload(api: ApiClient, upload_id: string): Promise<Upload> {
  return (await api.get<{ upload: Upload }>('/contacts/imports/progress', { upload_id })).upload;
}

/** The upload with the fields that its columns are to become. */
function withMapping(upload: Upload, mapping: readonly string[]): Upload {
  return { ...upload, columns: upload.columns.map((column, at) => ({ ...column, field: mapping[at] || null })) };
}

const refused = (field: string, text: string): ApiAnswer<string> => ({
  status: UNPROCESSABLE,
  errors: { [field]: [text] },
});

function send(request: FastifyRequest, reply: FastifyReply, content: Parameters<typeof sendPage>[4]) {
  const viewer = viewerOf(request);
  const title = languageOf(request, viewer).say('people.import');
  return sendPage(request, reply, viewer, { title, section: 'people' }, content);
}
