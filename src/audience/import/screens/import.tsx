/** Importing people: choose a file, say what its columns are, look at what will happen, watch it, and take it back. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Button, LinkButton } from '../../../dashboard/components/button.tsx';
import { FileField, SelectField } from '../../../dashboard/components/field.tsx';
import { Island } from '../../../dashboard/components/island.tsx';
import { Card } from '../../../dashboard/components/surface.tsx';
import { ask, attemptWith, problemsAt, sentenceOf } from '../../../dashboard/operations.ts';
import { languageOf, sendPage } from '../../../dashboard/page.tsx';
import { requireEditor, viewerOf } from '../../../dashboard/signed-in.ts';
import { useLanguage } from '../../../dashboard/words/index.ts';
import { sendCsv } from '../../../http/list-response.ts';
import { READ } from '../../../http/pages/layout.ts';
import { installMultipart } from '../../../http/requests/forms.ts';
import { readChoices } from '../../contacts/screens/filter.tsx';
import type { VendorName } from '../../migrate/vendors/index.ts';
import { lookAtFile } from '../operations/files.ts';
import { listKept, readImport, takeBackImport } from '../operations/imports.ts';
import { failedRowsCsv, readUpload, startImport, startPreview, type Upload } from '../operations/uploads.ts';
import { Columns, previewColumns, readColumns } from './columns.tsx';
import { optionParameters, PreviewPage, readPreviewed } from './preview.tsx';
import { ImportProgress, PastImport } from './progress.tsx';

const SEE_OTHER = 303;
/** A past import has a number; an upload has a UUID until the service starts again. */
const PAST = /^\d+$/;
const SHOWN_KEPT = 100;
/** The services as they write themselves. */
const SOURCES: Record<VendorName, string> = {
  mailchimp: 'Mailchimp',
  listmonk: 'listmonk',
  sendgrid: 'SendGrid',
  brevo: 'Brevo',
  keila: 'Keila',
};

interface WithId {
  Params: { id: string };
}
/** The two ways to begin: with a CSV file, or with the export of another service. */
type Beginning = 'import' | 'migrate';

const addressOf = (id: string) => `/people/import/${encodeURIComponent(id)}`;

export async function importScreens(app: FastifyInstance): Promise<void> {
  await installMultipart(app);
  app.addHook('onRequest', async (request) => requireEditor(request));

  for (const beginning of ['import', 'migrate'] as const) {
    const url = `/people/${beginning}`;
    const choose = (request: FastifyRequest, reply: FastifyReply, problem?: string) =>
      send(request, reply, <ChooseFile {...{ beginning, problem }} />, beginning);
    app.route({ method: READ, url, handler: (request, reply) => choose(request, reply) });

    app.post(url, { config: { upload: true } }, async (request, reply) => {
      const looked = await attemptWith(request, (context) => lookAtFile(context, request));
      if ('output' in looked) return reply.redirect(addressOf(looked.output.id), SEE_OTHER);
      return choose(request, reply.code(looked.status), sentenceOf(looked));
    });
  }

  app.route<WithId & { Querystring: { columns?: string } }>({
    method: READ,
    url: '/people/import/:id',
    handler: async (request, reply) => {
      const { id } = request.params;
      if (PAST.test(id)) {
        const [past, kept] = await Promise.all([
          ask(request, readImport, { id }),
          ask(request, listKept, { id, limit: SHOWN_KEPT }),
        ]);
        return send(request, reply, <PastImport past={past} kept={kept} />);
      }
      const { upload } = await ask(request, readUpload, { upload_id: id });
      const { state, plan, import_id } = upload;
      if (state !== 'looked' && state !== 'previewing') {
        const report = import_id === null ? null : await ask(request, readImport, { id: import_id });
        return send(request, reply, <ImportProgress upload={upload} report={report} />);
      }
      const choices = await readChoices(request);
      if (plan !== null && request.query.columns === undefined) {
        const previewed = await readPreviewed(request, id);
        return send(request, reply, <PreviewPage {...{ upload, plan, choices, ...previewed }} />);
      }
      const mapped = plan === null ? upload : withMapping(upload, plan.mapping);
      const type = String(plan?.contact_type_id ?? '');
      return send(request, reply, <Columns upload={mapped} choices={choices} type={type} />);
    },
  });

  app.post<WithId>('/people/import/:id', async (request, reply) => {
    const { upload } = await ask(request, readUpload, { upload_id: request.params.id });
    const both = languageOf(request, viewerOf(request)).say('import.type.both');
    const refused = await previewColumns(request, upload, readColumns(request.body, upload), both);
    if (refused === null) return reply.redirect(addressOf(upload.id), SEE_OTHER);
    const { refusal, given } = refused;
    const choices = await readChoices(request);
    const { mapping, ...form } = given;
    return send(
      request,
      reply.code(refusal.status),
      <Columns
        upload={withMapping(upload, mapping)}
        choices={choices}
        {...form}
        problems={problemsAt(refusal, 'name')}
      />,
    );
  });

  // The columns are those of the preview; the rest is what its page had, so that what happens is what it said.
  for (const [step, operation] of Object.entries({ preview: startPreview, start: startImport }))
    app.post<WithId>(`/people/import/:id/${step}`, async (request, reply) => {
      const upload_id = request.params.id;
      const { plan } = (await ask(request, readUpload, { upload_id })).upload;
      if (plan !== null) {
        const { contact_type_id, mapping } = plan;
        await ask(request, operation, { upload_id, contact_type_id, mapping, ...optionParameters(request.body) });
      }
      return reply.redirect(addressOf(upload_id), SEE_OTHER);
    });

  app.post<WithId>('/people/import/:id/undo', async (request, reply) => {
    const { id } = request.params;
    await ask(request, takeBackImport, { id });
    return reply.redirect(addressOf(id), SEE_OTHER);
  });

  app.get<WithId>('/people/import/:id/errors', async (request, reply) => {
    const { id } = request.params;
    const csv = await ask(request, failedRowsCsv, PAST.test(id) ? { id } : { upload_id: id });
    return sendCsv(reply, csv, 'import-errors.csv');
  });
}

/** The upload with the fields that its columns are to become. */
function withMapping(upload: Upload, mapping: readonly string[]): Upload {
  return { ...upload, columns: upload.columns.map((column, at) => ({ ...column, field: mapping[at] || null })) };
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  content: Parameters<typeof sendPage>[4],
  beginning: Beginning = 'import',
) {
  const viewer = viewerOf(request);
  const title = languageOf(request, viewer).say(`people.${beginning}`);
  return sendPage(request, reply, viewer, { title, section: 'people' }, content);
}

/** The form for a file. `problem` says why the file before was refused. */
function ChooseFile({ beginning, problem }: { beginning: Beginning; problem: string | undefined }) {
  const language = useLanguage();
  const isExport = beginning === 'migrate';
  return (
    <Island name="drop">
      <Card>
        {isExport && <p>{language.say('migrate.about')}</p>}
        <form method="post" action={`/people/${beginning}`} enctype="multipart/form-data">
          {isExport && (
            <SelectField
              name="source"
              label={language.say('migrate.source')}
              options={Object.entries(SOURCES).map(([value, label]) => ({ value, label }))}
            />
          )}
          <FileField
            label={language.say(`${beginning}.file`)}
            hint={language.say(`${beginning}.file.hint`)}
            accept={isExport ? '.zip,.csv,.json' : '.csv,text/csv'}
            problem={problem}
          />
          <div class="buttons">
            <Button>{language.say('import.look')}</Button>
            {!isExport && (
              <LinkButton look="plain" href="/people/migrate">
                {language.say('people.migrate')}
              </LinkButton>
            )}
            <LinkButton look="quiet" href={isExport ? '/people/import' : '/people'}>
              {language.say('people.confirm.no')}
            </LinkButton>
          </div>
        </form>
      </Card>
    </Island>
  );
}
