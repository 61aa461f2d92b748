/** Importing people in three steps: choose a file, say what its columns are, watch it. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { READ } from '../../../../http/pages/layout.ts';
import { type ApiAnswer, ApiClient, ApiFailure } from '../../../api-client.ts';
import { Button, LinkButton } from '../../../components/button.tsx';
import { type Problems, SelectField, TextField } from '../../../components/field.tsx';
import { Island } from '../../../components/island.tsx';
import { Card, Notice } from '../../../components/surface.tsx';
import { languageOf, sendPage } from '../../../page.tsx';
import { requireEditor, viewerOf } from '../../../signed-in.ts';
import { useLanguage } from '../../../words/index.ts';
import { fieldLabel } from '../field-label.ts';
import { texts } from '../filter.ts';
import { readChoices } from '../people.tsx';
import type { Choices, ContactType, Upload } from '../records.ts';
import { ImportProgress, type ImportReport } from './import-progress.tsx';
import { fieldNameFor, makeNewFields, NEW_FIELD } from './new-fields.ts';
import { readPastImport } from './past-import.tsx';

const SEE_OTHER = 303;
const UNPROCESSABLE = 422;
/** A past import has a number; an upload has a UUID until the service starts again. */
const PAST = /^\d+$/;

interface WithId {
  Params: { id: string };
}
/** The choice of a contact type that is made with the import. */
const NEW_TYPE = 'new';

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
    return send(request, reply, <ChooseFile problem={problemText(answer.errors)} />);
  });

  app.route<WithId>({
    method: READ,
    url: '/people/import/:id',
    handler: async (request, reply) => {
      const api = new ApiClient(app, request);
      const { id } = request.params;
      if (PAST.test(id)) return send(request, reply, await readPastImport(api, id));
      const { upload } = await api.get<{ upload: Upload }>('/contacts/imports/progress', { upload_id: id });
      if (upload.state === 'looked' || upload.state === 'previewing')
        return send(request, reply, <Mapping upload={upload} choices={await readChoices(api)} />);
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
    const { upload } = await api.get<{ upload: Upload }>('/contacts/imports/progress', { upload_id });
    const asked = upload.columns.map((_, at) => texts(values[`column${at}`])[0] ?? '');
    const { mapping, refusal } = await makeNewFields(api, upload.columns, asked);
    const [chosen = NEW_TYPE] = texts(values.contact_type_id);
    const [newType = ''] = texts(values.name);
    const language = languageOf(request, viewerOf(request));
    const made = refusal
      ? { refusal }
      : chosen === NEW_TYPE
        ? await makeType(api, newType, { upload_id, mapping })
        : { id: chosen, ...(newType !== '' && { refusal: refused('name', language.say('import.type.both')) }) };
    const contact_type_id = made.id ?? chosen;
    const answer: ApiAnswer<string> =
      made.refusal ?? (await api.send('POST', '/contacts/imports/start', { upload_id, contact_type_id, mapping }));
    if (answer.message) return reply.redirect(`/people/import/${encodeURIComponent(upload_id)}`, SEE_OTHER);
    reply.code(answer.status);
    const problems = typeof answer.errors === 'object' ? answer.errors : {};
    const given = {
      ...upload,
      columns: upload.columns.map((column, at) => ({ ...column, field: mapping[at] || null })),
    };
    const choices = await readChoices(api);
    return send(
      request,
      reply,
      <Mapping
        upload={given}
        choices={choices}
        type={contact_type_id}
        newType={contact_type_id === chosen ? newType : ''}
        problems={problems}
      />,
    );
  });

  app.post<WithId>('/people/import/:id/undo', async (request, reply) => {
    const { id } = request.params;
    const answer = await new ApiClient(app, request).send('POST', '/contacts/imports/undo', { id });
    if (answer.message === undefined) throw new ApiFailure(answer);
    return reply.redirect(`/people/import/${encodeURIComponent(id)}`, SEE_OTHER);
  });

  app.get<WithId>('/people/import/:id/errors', async (request, reply) => {
    const { id } = request.params;
    const which = PAST.test(id) ? { id } : { upload_id: id };
    const csv = await new ApiClient(app, request).text('/contacts/imports/errors', which);
    reply.header('content-disposition', 'attachment; filename="import-errors.csv"').type('text/csv; charset=utf-8');
    return reply.send(csv);
  });
}

/** Makes a contact type for an import; gives its id, or why the API refused the import's columns or the name. */
async function makeType(
  api: ApiClient,
  name: string,
  start: { upload_id: string; mapping: string[] },
): Promise<{ id?: string; refusal?: ApiAnswer<string> }> {
  // Without a contact type nothing starts; the answer says whether the columns are right, before a type is made for them.
  const { status, errors } = await api.send('POST', '/contacts/imports/start', start);
  if (typeof errors === 'object' && errors.mapping !== undefined) {
    return { refusal: { status, errors: { mapping: errors.mapping } } };
  }
  const ids = async () =>
    (await api.get<{ contactTypes: ContactType[] }>('/contacts-type')).contactTypes.map(({ id }) => id);
  const before = new Set(await ids());
  const answer = await api.send('POST', '/contacts-type/add', { name });
  if (answer.message === undefined) return { refusal: answer };
  return { id: String((await ids()).find((id) => !before.has(id)) ?? NEW_TYPE) };
}

const refused = (field: string, text: string): ApiAnswer<string> => ({
  status: UNPROCESSABLE,
  errors: { [field]: [text] },
});

function send(request: FastifyRequest, reply: Parameters<typeof sendPage>[1], content: Parameters<typeof sendPage>[4]) {
  const viewer = viewerOf(request);
  const title = languageOf(request, viewer).say('people.import');
  return sendPage(request, reply, viewer, { title, section: 'people' }, content);
}

function problemText(errors: ApiAnswer<unknown>['errors']): string {
  return typeof errors === 'string'
    ? errors
    : Object.values(errors ?? {})
        .flat()
        .join(' ');
}

/** The form for a file. `problem` says in the API's words why the file before was refused. */
function ChooseFile({ problem }: { problem?: string }) {
  const language = useLanguage();
  return (
    <Island name="drop">
      <Card>
        <form method="post" action="/people/import" enctype="multipart/form-data">
          <div class="drop">
            <label for="file">
              <b>{language.say('import.file')}</b>
              <span class="quiet-text">{language.say('import.file.hint')}</span>
            </label>
            <input
              type="file"
              id="file"
              name="file"
              accept=".csv,text/csv"
              required
              {...(problem && { 'aria-invalid': true, 'aria-describedby': 'file-problem' })}
            />
          </div>
          {problem && (
            <p class="problem" id="file-problem">
              {problem}
            </p>
          )}
          <div class="buttons">
            <Button>{language.say('import.look')}</Button>
            <LinkButton look="quiet" href="/people">
              {language.say('people.confirm.no')}
            </LinkButton>
          </div>
        </form>
      </Card>
    </Island>
  );
}

/** The form that says what each column becomes. Without `newType` the first contact type is proposed to have the name of the file. */
function Mapping({
  upload,
  choices,
  type = '',
  newType,
  problems,
}: {
  upload: Upload;
  choices: Choices;
  type?: string;
  newType?: string;
  problems?: Problems;
}) {
  const language = useLanguage();
  const known = choices.fields.map(({ field_name: name }) => ({ value: name, label: fieldLabel(language, name) }));
  const fieldsFor = (column: string, number: number) => {
    const name = fieldNameFor(column, number);
    return [
      { value: '', label: language.say('import.skip') },
      ...known,
      ...(known.some(({ value }) => value.toLowerCase() === name)
        ? []
        : [{ value: NEW_FIELD, label: language.say('import.newField', { name }) }]),
    ];
  };
  return (
    <form method="post" action={`/people/import/${upload.id}`} class="import-mapping stack">
      {upload.notes.map((note) => (
        <Notice key={note}>{language.sentence(note)}</Notice>
      ))}
      {problems?.mapping && (
        <Notice tone="bad" isNews>
          {problems.mapping.join(' ')}
        </Notice>
      )}
      {choices.types.length > 0 && (
        <SelectField
          name="contact_type_id"
          label={language.say('import.type')}
          hint={language.say('import.type.hint')}
          value={type}
          problems={problems}
          options={[
            ...choices.types.map(({ id, name }) => ({ value: String(id), label: name })),
            { value: NEW_TYPE, label: language.say('import.type.new') },
          ]}
        />
      )}
      <TextField
        name="name"
        label={language.say('import.type.name')}
        hint={language.say('import.type.name.hint')}
        value={newType ?? (choices.types.length === 0 ? upload.file_name.replace(/\.csv$/i, '') : '')}
        maxLength={255}
        problems={problems}
      />
      <div class="table-wrap">
        <table class="cards">
          <caption>{language.say('import.columns', { name: upload.file_name })}</caption>
          <thead>
            <tr>
              <th scope="col">{language.say('import.column')}</th>
              <th scope="col">{language.say('import.samples')}</th>
              <th scope="col">{language.say('import.field')}</th>
            </tr>
          </thead>
          <tbody>
            {upload.columns.map((column, at) => (
              <tr key={at}>
                <th scope="row">{column.name || language.say('import.unnamed', { number: at + 1 })}</th>
                <td data-label={language.say('import.samples')}>{column.samples.filter(Boolean).join(' · ')}</td>
                <td data-label={language.say('import.field')}>
                  <select name={`column${at}`} aria-label={language.say('import.fieldOf', { name: column.name })}>
                    {fieldsFor(column.name, at + 1).map(({ value, label }) => (
                      <option key={value} value={value} selected={value === (column.field ?? '')}>
                        {label}
                      </option>
                    ))}
                  </select>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="buttons">
        <Button>{language.say('import.start')}</Button>
        <LinkButton look="quiet" href="/people/import">
          {language.say('import.other')}
        </LinkButton>
      </div>
    </form>
  );
}
