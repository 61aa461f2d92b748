/** The form that says what the columns of a file become, and which contact type its people are imported into. */
import type { FastifyRequest } from 'fastify';
import { Button, LinkButton } from '../../../dashboard/components/button.tsx';
import { type Problems, SelectField, TextField } from '../../../dashboard/components/field.tsx';
import { Facts } from '../../../dashboard/components/figures.tsx';
import { Card, Notice } from '../../../dashboard/components/surface.tsx';
import { ScrollRegion } from '../../../dashboard/components/table.tsx';
import { attempt, type Refusal, sentenceOf } from '../../../dashboard/operations.ts';
import { texts } from '../../../dashboard/sign-in/fields.ts';
import { useLanguage } from '../../../dashboard/words/index.ts';
import { fieldLabel } from '../../../dashboard/words/known.ts';
import { addContactType } from '../../contact-types/operations.ts';
import { fieldNameFor } from '../../contacts/contact-fields.ts';
import type { Choices } from '../../contacts/screens/filter.tsx';
import { addField } from '../../fields/operations.ts';
import { TRACKING_COLUMN } from '../import-rows.ts';
import { type Migration, startPreview, type Upload } from '../operations/uploads.ts';

/** The choice of a contact type that is made with the import. */
const NEW_TYPE = 'new';
/** What a column becomes when a field is to be made for it. */
const NEW_FIELD = 'new:';

/** What was filled in. */
export interface GivenColumns {
  /** The field of each column, in order; empty: none. */
  mapping: string[];
  /** The id of a contact type, or `NEW_TYPE` with a name. */
  type: string;
  newType: string;
}

interface ColumnsForm {
  upload: Upload;
  choices: Choices;
  type?: string;
  /** Not given: the first contact type is proposed to have the name of the file. */
  newType?: string;
  problems?: Problems;
}

/** Reads the form. The columns of an export have their fields already. */
export function readColumns(given: unknown, { columns, migration }: Upload): GivenColumns {
  const values: Record<string, unknown> = Object.assign(Object.create(null), given);
  const mapping = columns.map(({ field }, at) => (migration === null ? texts(values[`column${at}`])[0] : field) ?? '');
  const [type = NEW_TYPE] = texts(values.contact_type_id);
  const [newType = ''] = texts(values.name);
  return { mapping, type, newType };
}

/**
 * Starts the preview of a file with these columns, after making the fields and the contact type that it needs. Where something is refused,
 * `given` is what the form then holds: what was made is chosen in it.
 */
export async function previewColumns(
  request: FastifyRequest,
  { id: upload_id, columns }: Upload,
  given: GivenColumns,
  bothProblem: string,
): Promise<{ refusal: Refusal; given: GivenColumns } | null> {
  const mapping = [...given.mapping];
  for (const [at, { name }] of columns.entries()) {
    if (mapping[at] !== NEW_FIELD) continue;
    const field_name = fieldNameFor(name, at + 1);
    const added = await attempt(request, addField, { field_name, field_type: 'text' });
    // The refusal of a field's name is shown as one of the mapping, above it.
    if ('problems' in added)
      return { refusal: { ...added, problems: { mapping: [sentenceOf(added)] } }, given: { ...given, mapping } };
    mapping[at] = field_name;
  }
  const named = { ...given, mapping };
  if (given.type !== NEW_TYPE) {
    if (given.newType !== '')
      return { refusal: { status: 422, problems: { name: [bothProblem] }, problem: '' }, given: named };
    const started = await attempt(request, startPreview, { upload_id, contact_type_id: given.type, mapping });
    return 'problems' in started ? { refusal: started, given: named } : null;
  }
  // Without a contact type nothing is previewed; the refusal says whether the columns are right, before a type is made for them.
  const planned = await attempt(request, startPreview, { upload_id, mapping });
  if ('problems' in planned && planned.problems.mapping !== undefined)
    return { refusal: { ...planned, problems: { mapping: planned.problems.mapping } }, given: named };
  const made = await attempt(request, addContactType, { name: given.newType });
  if ('problems' in made) return { refusal: made, given: named };
  const type = String(made.output.id);
  const started = await attempt(request, startPreview, { upload_id, contact_type_id: type, mapping });
  return 'problems' in started ? { refusal: started, given: { mapping, type, newType: '' } } : null;
}

/** The form for the columns of an upload; an export has its own fields, and other facts. */
export function Columns(form: ColumnsForm) {
  const { migration } = form.upload;
  return migration === null ? <Mapping {...form} /> : <MigrationPlan {...form} migration={migration} />;
}

function Mapping({ upload, choices, type = '', newType, problems }: ColumnsForm) {
  const language = useLanguage();
  const fields = choices.fields.map(({ field_name: name }) => name);
  // No field of contacts, so the API does not list it among them.
  const names = [...new Set([...fields, TRACKING_COLUMN])];
  const known = names.map((name) => ({ value: name, label: fieldLabel(language, name) }));
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
      <TypeChoice
        choices={choices}
        type={type}
        newType={newType}
        proposed={nameOf(upload.file_name)}
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
      </ScrollRegion>
      <div class="buttons">
        <Button>{language.say('import.next')}</Button>
        <LinkButton look="quiet" href="/people/import">
          {language.say('import.other')}
        </LinkButton>
      </div>
    </form>
  );
}

/** The name of a contact type for the people of a file: that of the file, whole where it is too short without its ending. */
function nameOf(file: string): string {
  const name = file.replace(/\.csv$/i, '').trim();
  return name.length < 2 ? file : name;
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

/** The choice of the contact type that people are imported into, or the name of a new one. Where the account has no contact type, `proposed` is the name of the first. */
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
        maxLength={255}
        problems={problems}
      />
    </>
  );
}
