/** Moving here from another service: its export is uploaded, and the page of the upload shows what will happen, as for any import. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { READ } from '../../../../http/pages/layout.ts';
import { type ApiAnswer, ApiClient, refusalText } from '../../../api-client.ts';
import { Button, LinkButton } from '../../../components/button.tsx';
import { FileField, type Problems, SelectField } from '../../../components/field.tsx';
import { Facts } from '../../../components/figures.tsx';
import { Island } from '../../../components/island.tsx';
import { Card, Notice } from '../../../components/surface.tsx';
import { languageOf, sendPage } from '../../../page.tsx';
import { requireEditor, viewerOf } from '../../../signed-in.ts';
import { useLanguage } from '../../../words/index.ts';
import { fieldLabel } from '../field-label.ts';
import type { Choices, Migration, Upload } from '../records.ts';
import { TypeChoice } from './type-choice.tsx';

const SEE_OTHER = 303;
/** The services as they write themselves, by the name that the API takes. */
const SOURCES = {
  mailchimp: 'Mailchimp',
  listmonk: 'listmonk',
  sendgrid: 'SendGrid',
  brevo: 'Brevo',
  keila: 'Keila',
} as const;

export async function migrateScreen(app: FastifyInstance): Promise<void> {
  // The API reads the file; the page passes it on as it comes.
  app.addContentTypeParser('multipart/form-data', (_request, payload, done) => done(null, payload));

  app.addHook('onRequest', async (request) => requireEditor(request));

  app.route({
    method: READ,
    url: '/people/migrate',
    handler: (request, reply) => send(request, reply, <ChooseExport />),
  });

  app.post('/people/migrate', { config: { upload: true } }, async (request, reply) => {
    const type = request.headers['content-type'] ?? '';
    const answer: ApiAnswer<{ upload: Upload }> = await new ApiClient(app, request).upload(
      '/contacts/imports/look',
      request.body,
      type,
    );
    if (answer.message) return reply.redirect(`/people/import/${answer.message.upload.id}`, SEE_OTHER);
    reply.code(answer.status);
    return send(request, reply, <ChooseExport problem={refusalText(answer)} />);
  });
}

function send(request: FastifyRequest, reply: FastifyReply, content: Parameters<typeof sendPage>[4]) {
  const viewer = viewerOf(request);
  const title = languageOf(request, viewer).say('people.migrate');
  return sendPage(request, reply, viewer, { title, section: 'people' }, content);
}

/** The form for an export. `problem` says in the API's words why the file before was refused. */
function ChooseExport({ problem }: { problem?: string }) {
  const language = useLanguage();
  return (
    <Island name="drop">
      <Card>
        <p>{language.say('migrate.about')}</p>
        <form method="post" action="/people/migrate" enctype="multipart/form-data">
          <SelectField
            name="source"
            label={language.say('migrate.source')}
            options={Object.entries(SOURCES).map(([value, label]) => ({ value, label }))}
          />
          <FileField
            label={language.say('migrate.file')}
            hint={language.say('migrate.file.hint')}
            accept=".zip,.csv,.json"
            problem={problem && language.sentence(problem)}
          />
          <div class="buttons">
            <Button>{language.say('import.look')}</Button>
            <LinkButton look="quiet" href="/people/import">
              {language.say('people.confirm.no')}
            </LinkButton>
          </div>
        </form>
      </Card>
    </Island>
  );
}

/** What an export has beside people. */
export function MigrationFacts({ migration }: { migration: Migration }) {
  const language = useLanguage();
  const { new_fields, lists, templates, left_out_columns, left_out_files } = migration;
  const facts = [
    {
      label: language.say('migrate.fields'),
      list: new_fields.map(
        ({ field_name, field_type }) =>
          `${fieldLabel(language, field_name)} (${language.say(`fields.kind.${field_type}`)})`,
      ),
    },
    { label: language.say('migrate.lists'), list: lists },
    { label: language.say('migrate.templates'), list: templates },
    { label: language.say('migrate.leftOut.columns'), list: left_out_columns },
    { label: language.say('migrate.leftOut.files'), list: left_out_files },
  ].filter(({ list }) => list.length > 0);
  if (facts.length === 0) return null;
  return (
    <Card title={language.say('migrate.beside', { name: migration.source })}>
      <Facts facts={facts.map(({ label, list }) => ({ label, value: <bdi>{list.join(', ')}</bdi> }))} />
    </Card>
  );
}

/** The page of an export before the contact type is chosen. */
export function MigrationPlan({
  upload,
  migration,
  choices,
  type = '',
  newType,
  problems,
}: {
  upload: Upload;
  migration: Migration;
  choices: Choices;
  type?: string;
  newType?: string;
  problems?: Problems;
}) {
  const language = useLanguage();
  return (
    <div class="stack">
      {upload.notes.map((note) => (
        <Notice key={note} tone="warn">
          {language.sentence(note)}
        </Notice>
      ))}
      <Card title={upload.file_name}>
        <form method="post" action={`/people/import/${upload.id}`} class="import-mapping stack">
          <TypeChoice choices={choices} type={type} newType={newType} proposed={migration.source} problems={problems} />
          <div class="buttons">
            <Button>{language.say('import.next')}</Button>
            <LinkButton look="quiet" href="/people/migrate">
              {language.say('import.other')}
            </LinkButton>
          </div>
        </form>
      </Card>
      <MigrationFacts migration={migration} />
    </div>
  );
}
