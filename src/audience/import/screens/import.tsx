/** Importing contacts: choosing a file, mapping its columns, choosing the contact type, the preview, the progress, and undoing. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { MAX_LINE_CHARACTERS } from '../../../errors/field-errors.ts';
import { sendCsv } from '../../../http/list-response.ts';
import { type ById, pageRoute } from '../../../http/pages/layout.ts';
import { installMultipart } from '../../../http/requests/forms.ts';
import { Button, LinkButton } from '../../../ui/components/button.tsx';
import { FileField, type Problems, SelectField, TextField } from '../../../ui/components/field.tsx';
import { Island } from '../../../ui/components/island.tsx';
import { Card, Notice } from '../../../ui/components/surface.tsx';
import { ScrollRegion } from '../../../ui/components/table.tsx';
import { ask, attempt, attemptWith, problemsAt, type Refusal } from '../../../ui/operations.ts';
import { languageOf, sendPage } from '../../../ui/page.tsx';
import { requireEditor, viewerOf } from '../../../ui/signed-in.ts';
import { texts } from '../../../ui/submitted.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { fieldLabel } from '../../../ui/words/known.ts';
import { type Choices, readChoices } from '../../contacts/screens/filter.tsx';
import { FIELD_TYPES, fieldNameFor } from '../../fields/custom-fields.ts';
import { VENDORS } from '../../migrate/vendors/index.ts';
import { NEW_FIELD } from '../make-lists.ts';
import { listKept, readImportReport, startUndo } from '../operations/imports.ts';
import {
  failedRowsCsv,
  inspectFile,
  type Migration,
  readUpload,
  startImport,
  startPreview,
  type Upload,
} from '../operations/uploads.ts';
import { TRACKING_COLUMN } from '../rows.ts';
import { optionParameters } from './options.tsx';
import { MigrationFacts, PreviewPage, readPreviewed } from './preview.tsx';
import { ImportProgress, PastImport } from './progress.tsx';

/** The id of a past import is a number. An upload has a UUID until the service restarts. */
const IMPORT_ID = /^\d+$/;
/** The maximum number of contacts on the page that an undo left unchanged. */
const MAX_SHOWN_KEPT = 100;

/** The two ways to begin: with a CSV file, or with the export of another service. */
type Beginning = 'import' | 'migrate';

const urlOf = (id: string) => `/contacts/import/${encodeURIComponent(id)}`;

/** Registers the pages of an import, from the choice of a file to its undo. */
export async function importScreens(app: FastifyInstance): Promise<void> {
  await installMultipart(app);
  app.addHook('onRequest', async (request) => requireEditor(request));

  for (const beginning of ['import', 'migrate'] as const) {
    const url = `/contacts/${beginning}`;
    const choose = (request: FastifyRequest, reply: FastifyReply, problem?: string) =>
      send(request, reply, <ChooseFile {...{ beginning, problem }} />, beginning);
    pageRoute(app, url, (request, reply) => choose(request, reply));

    app.post(url, { config: { upload: true } }, async (request, reply) => {
      const inspected = await attemptWith(request, (context) => inspectFile(context, request));
      if ('output' in inspected) return reply.redirect(urlOf(inspected.output.id), 303);
      return choose(request, reply.code(inspected.status), inspected.text);
    });
  }

  pageRoute<ById & { Querystring: { columns?: string } }>(app, '/contacts/import/:id', async (request, reply) => {
    const { id } = request.params;
    if (IMPORT_ID.test(id)) {
      const [past, kept] = await Promise.all([
        ask(request, readImportReport, { id }),
        ask(request, listKept, { id, limit: MAX_SHOWN_KEPT }),
      ]);
      return send(request, reply, <PastImport past={past} kept={kept} />);
    }
    const { upload } = await ask(request, readUpload, { upload_id: id });
    const { state, plan, import_id } = upload;
    if (state !== 'looked' && state !== 'previewing') {
      const report = import_id === null ? null : await ask(request, readImportReport, { id: import_id });
      if (report?.state === 'undoing' || report?.state === 'undone') return reply.redirect(urlOf(`${report.id}`), 303);
      return send(request, reply, <ImportProgress upload={upload} report={report} />);
    }
    const choices = await readChoices(request);
    if (plan !== null && request.query.columns === undefined) {
      const previewed = await readPreviewed(request, id);
      return send(request, reply, <PreviewPage {...{ upload, plan, choices, ...previewed }} />);
    }
    const mapped = plan === null ? upload : withMapping(upload, plan.mapping);
    const newType = plan?.contact_type_name;
    const type = newType === undefined ? String(plan?.contact_type_id ?? '') : NEW_TYPE;
    return send(request, reply, <Columns upload={mapped} {...{ choices, type, newType }} />);
  });

  app.post<ById>('/contacts/import/:id', async (request, reply) => {
    const { upload } = await ask(request, readUpload, { upload_id: request.params.id });
    const bothProblem = languageOf(request, viewerOf(request)).say('import.type.both');
    const submitted = readColumns(request.body, upload);
    const refusal = await previewColumns(request, upload.id, submitted, bothProblem);
    if (refusal === null) return reply.redirect(urlOf(upload.id), 303);
    const choices = await readChoices(request);
    const { mapping, ...form } = submitted;
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

  // The columns are those of the preview, and the options those that its page shows, so that the import does what the preview shows.
  for (const [step, operation] of Object.entries({ preview: startPreview, start: startImport }))
    app.post<ById>(`/contacts/import/:id/${step}`, async (request, reply) => {
      const upload_id = request.params.id;
      const { plan } = (await ask(request, readUpload, { upload_id })).upload;
      if (plan !== null) {
        const { contact_type_id, contact_type_name, mapping } = plan;
        const contactType = { contact_type_id, ...(contact_type_name !== undefined && { contact_type_name }) };
        await ask(request, operation, { upload_id, ...contactType, mapping, ...optionParameters(request.body) });
      }
      return reply.redirect(urlOf(upload_id), 303);
    });

  app.post<ById>('/contacts/import/:id/undo', async (request, reply) => {
    const { id } = request.params;
    await ask(request, startUndo, { id });
    return reply.redirect(urlOf(id), 303);
  });

  app.get<ById>('/contacts/import/:id/errors', async (request, reply) => {
    const { id } = request.params;
    const csv = await ask(request, failedRowsCsv, IMPORT_ID.test(id) ? { id } : { upload_id: id });
    return sendCsv(reply, csv, 'import-errors.csv');
  });
}

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
  const title = languageOf(request, viewer).say(`contacts.${beginning}`);
  return sendPage(request, reply, viewer, { title, section: 'contacts' }, content);
}

/** The form for a file. `problem` says why the previous file was refused. */
function ChooseFile({ beginning, problem }: { beginning: Beginning; problem: string | undefined }) {
  const language = useLanguage();
  const isExport = beginning === 'migrate';
  return (
    <Island name="drop">
      <Card>
        {isExport && <p>{language.say('migrate.about')}</p>}
        <form method="post" action={`/contacts/${beginning}`} enctype="multipart/form-data">
          {isExport && (
            <SelectField
              name="source"
              label={language.say('migrate.source')}
              options={Object.entries(VENDORS).map(([value, { title }]) => ({ value, label: title }))}
            />
          )}
          <FileField
            label={language.say(`${beginning}.file`)}
            hint={language.say(`${beginning}.file.hint`)}
            accept={isExport ? '.zip,.csv,.json' : '.csv,text/csv'}
            problem={problem}
          />
          <div class="buttons">
            <Button label={language.say('import.look')} />
            {!isExport && <LinkButton look="plain" href="/contacts/migrate" label={language.say('contacts.migrate')} />}
            <LinkButton
              look="quiet"
              href={isExport ? '/contacts/import' : '/contacts'}
              label={language.say('contacts.confirm.no')}
            />
          </div>
        </form>
      </Card>
    </Island>
  );
}

/** The option that creates a contact type with the import. */
const NEW_TYPE = 'new';

interface SubmittedColumns {
  /** The field of each column, in order; empty: none. */
  mapping: string[];
  /** The id of a contact type, or `NEW_TYPE` with a name. */
  type: string;
  newType: string;
}

interface ColumnsForm {
  upload: Upload;
  choices: Choices;
  /** The id of the chosen contact type, or `NEW_TYPE`. */
  type?: string;
  /** The name of a new contact type. If absent, and the account has no contact type yet, the form proposes a name. */
  newType?: string | undefined;
  problems?: Problems;
}

/** Reads the form. The columns of an export are mapped already. */
function readColumns(value: unknown, { columns, migration }: Upload): SubmittedColumns {
  const values: Record<string, unknown> = Object.assign(Object.create(null), value);
  const mapping = columns.map(({ field }, at) => (migration === null ? texts(values[`column${at}`])[0] : field) ?? '');
  const [type = NEW_TYPE] = texts(values.contact_type_id);
  const [newType = ''] = texts(values.name);
  return { mapping, type, newType };
}

/**
 * Starts the preview of a file with these columns. Returns null if it has started, and otherwise why not. `bothProblem` is the problem of a
 * form that names both a contact type and a new one.
 */
async function previewColumns(
  request: FastifyRequest,
  upload_id: string,
  { mapping, type, newType }: SubmittedColumns,
  bothProblem: string,
): Promise<Omit<Refusal, 'text'> | null> {
  if (type !== NEW_TYPE && newType !== '') return { status: 422, problems: { name: [bothProblem] }, problem: '' };
  const contactType =
    type === NEW_TYPE
      ? { contact_type_id: 0, ...(newType !== '' && { contact_type_name: newType }) }
      : { contact_type_id: type };
  const started = await attempt(request, startPreview, { upload_id, ...contactType, mapping });
  if (!('problems' in started)) return null;
  const { contact_type_name: name, ...problems } = started.problems;
  return { ...started, problems: { ...problems, ...(name && { name }) } };
}

/** The form for the columns of an upload. The columns of an export are mapped already, so its form has only the contact type. */
function Columns(form: ColumnsForm) {
  const { migration } = form.upload;
  return migration === null ? <Mapping {...form} /> : <MigrationPlan {...form} migration={migration} />;
}

function Mapping({ upload, choices, type = '', newType, problems }: ColumnsForm) {
  const language = useLanguage();
  const fields = choices.fields.map(({ field_name: name }) => name);
  // The API does not list the tracking column, because it is not a field of contacts.
  const names = [...new Set([...fields, TRACKING_COLUMN])];
  const known = names.map((name) => ({ value: name, label: fieldLabel(language, name) }));
  const headingOf = ({ name }: Upload['columns'][number], number: number) =>
    name || language.say('import.unnamed', { number });
  const fieldsFor = ({ name: column, type: proposed }: Upload['columns'][number], number: number) => {
    const name = fieldNameFor(column, number);
    const kinds = [proposed, ...FIELD_TYPES.filter((kind) => kind !== proposed)];
    return [
      { value: '', label: language.say('import.skip') },
      ...known,
      ...(known.some(({ value }) => value.toLowerCase() === name)
        ? []
        : kinds.map((kind) => ({
            value: `${NEW_FIELD}${kind}`,
            label: language.say('import.newField', { name, type: language.say(`fields.kind.${kind}`) }),
          }))),
    ];
  };
  return (
    <form method="post" action={`/contacts/import/${upload.id}`} class="import-mapping stack">
      {upload.notes.map((note) => (
        <Notice key={String(note)}>{language.fullSentence(note)}</Notice>
      ))}
      {problems?.mapping && (
        <Notice tone="bad" isNews>
          {problems.mapping.join(' ')}
        </Notice>
      )}
      <TypeChoice
        choices={choices}
        type={type}
        newType={newType}
        proposed={proposedTypeName(upload.file_name)}
        problems={problems}
      />
      <ScrollRegion label={language.say('import.columns', { name: upload.file_name })}>
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
                <th scope="row">{headingOf(column, at + 1)}</th>
                <td data-label={language.say('import.samples')}>{column.samples.filter(Boolean).join(' · ')}</td>
                <td data-label={language.say('import.field')}>
                  <select
                    name={`column${at}`}
                    aria-label={language.say('import.fieldOf', { name: headingOf(column, at + 1) })}
                  >
                    {fieldsFor(column, at + 1).map(({ value, label }) => (
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
      </ScrollRegion>
      <div class="buttons">
        <Button label={language.say('import.next')} />
        <LinkButton look="quiet" href="/contacts/import" label={language.say('import.other')} />
      </div>
    </form>
  );
}

/** Returns the proposed name of a contact type for a file: the file's name without its extension, unless that is too short. */
function proposedTypeName(file: string): string {
  const name = file.replace(/\.csv$/i, '').trim();
  return name.length < 2 ? file : name;
}

/** The page of an export before the contact type is chosen. */
function MigrationPlan({
  upload,
  migration,
  choices,
  type = '',
  newType,
  problems,
}: ColumnsForm & { migration: Migration }) {
  const language = useLanguage();
  return (
    <div class="stack">
      {upload.notes.map((note) => (
        <Notice key={String(note)} tone="warn">
          {language.fullSentence(note)}
        </Notice>
      ))}
      <Card title={upload.file_name}>
        <form method="post" action={`/contacts/import/${upload.id}`} class="import-mapping stack">
          <TypeChoice choices={choices} type={type} newType={newType} proposed={migration.source} problems={problems} />
          <div class="buttons">
            <Button label={language.say('import.next')} />
            <LinkButton look="quiet" href="/contacts/migrate" label={language.say('import.other')} />
          </div>
        </form>
      </Card>
      <MigrationFacts migration={migration} />
    </div>
  );
}

/**
 * The choice of the contact type to import into, or the name of a new one. If the account has no contact type, `proposed` is
 * the name of the first one.
 */
function TypeChoice({
  choices,
  type = '',
  newType,
  proposed,
  problems,
}: {
  choices: Choices;
  type?: string;
  newType?: string | undefined;
  proposed: string;
  problems?: Problems | undefined;
}) {
  const language = useLanguage();
  return (
    <>
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
        value={newType ?? (choices.types.length === 0 ? proposed : '')}
        maxLength={MAX_LINE_CHARACTERS}
        problems={problems}
      />
    </>
  );
}
