/** The preview of an import, in numbers and samples. */
import type { FastifyRequest } from 'fastify';
import { Button, LinkButton } from '../../../ui/components/button.tsx';
import { CheckField } from '../../../ui/components/field.tsx';
import { Facts, Meter, Stats } from '../../../ui/components/figures.tsx';
import { Card, Notice } from '../../../ui/components/surface.tsx';
import { numberColumn, Table } from '../../../ui/components/table.tsx';
import { ask } from '../../../ui/operations.ts';
import { type Language, useLanguage } from '../../../ui/words/index.ts';
import { fieldLabel } from '../../../ui/words/known.ts';
import type { Choices } from '../../contacts/screens/filter.tsx';
import { namedMapping } from '../make-lists.ts';
import {
  type Migration,
  type Plan,
  type Preview,
  type PreviewedPerson,
  readPreview,
  type Upload,
} from '../operations/uploads.ts';
import { CORRECTED, HiddenOptions, hiddenInput, ImportOptions, optionEntries } from './options.tsx';
import { FailedRows, LivePart, spoken } from './progress.tsx';

/** How often the page reads whether the preview is ready. */
const POLL_MS = 500;
/** The number of contacts of a kind that are shown. */
const MAX_SHOWN = 20;
/** The kinds of contacts that are shown; `left` is contacts who stay unsubscribed or suppressed. */
const SHOWN_KINDS = ['changed', 'left'] as const;
type ShownKind = (typeof SHOWN_KINDS)[number];

interface Previewed {
  /** The preview; null while it is being computed, or if that failed. */
  preview: Preview | null;
  people: Record<ShownKind, PreviewedPerson[]>;
}

/** Reads the preview of an upload, with the first contacts of each kind. */
export async function readPreviewed(request: FastifyRequest, upload_id: string): Promise<Previewed> {
  const read = (kind: ShownKind) => ask(request, readPreview, { upload_id, kind });
  const [changed, unreachable] = await Promise.all([read('changed'), read('left')]);
  return { preview: changed.preview, people: { changed: changed.people, left: unreachable.people } };
}

/** The page of a preview: its figures, the options, and samples of contacts. */
export function PreviewPage({
  upload,
  plan,
  choices,
  preview,
  people,
}: { upload: Upload; plan: Plan; choices: Choices } & Previewed) {
  const language = useLanguage();
  const isComputing = upload.state === 'previewing';
  const state = language.say(isComputing ? 'import.state.previewing' : 'import.state.looked');
  const figures = preview && figuresOf(language, preview);
  return (
    <LivePart id="import-preview" every={isComputing ? POLL_MS : 0} news={`${state} ${spoken(figures)}`}>
      <Card title={upload.file_name}>
        <p>{state}</p>
        {isComputing && (
          <Meter label={language.say('contacts.job.progress')} value={upload.bytes_read} max={upload.bytes || 1} />
        )}
        {figures && <Stats figures={figures} />}
        {[...(upload.migration === null ? [] : upload.notes), ...(preview?.notes ?? [])].map((note) => (
          <Notice key={String(note)}>{language.fullSentence(note)}</Notice>
        ))}
        {preview?.automations.map(({ utr, automation_name: name, people: count, is_exact }) => (
          <Notice key={utr} tone="warn">
            {language.say(is_exact === 1 ? 'import.preview.enter' : 'import.preview.mayEnter', { name, count })}
          </Notice>
        ))}
        {!isComputing && upload.migration === null && (
          <SkippedColumns columns={upload.columns} mapping={plan.mapping} />
        )}
        {!isComputing && <NewRecords upload={upload} plan={plan} />}
        {!isComputing && <Start upload={upload} plan={plan} preview={preview} />}
      </Card>
      {!isComputing && preview && <Misspelt upload={upload} plan={plan} misspelt={preview.misspelt} />}
      {!isComputing && preview && <Unsubscribes unsubscribes={preview.leaving} />}
      {!isComputing && upload.migration && <MigrationFacts migration={upload.migration} />}
      {!isComputing && <ImportOptions action={`/contacts/import/${upload.id}/preview`} plan={plan} choices={choices} />}
      {!isComputing && preview && <Samples preview={preview} people={people} />}
    </LivePart>
  );
}

/** Names the columns for which no field was chosen, so that nobody overlooks that they are not imported. */
function SkippedColumns({ columns, mapping }: { columns: Upload['columns']; mapping: Plan['mapping'] }) {
  const language = useLanguage();
  const names = columns.flatMap(({ name }, at) =>
    mapping[at] ? [] : [name || language.say('import.unnamed', { number: at + 1 })],
  );
  if (names.length === 0) return null;
  return (
    <p>
      {language.say('migrate.leftOut.columns')}: <bdi>{names.join(', ')}</bdi>
    </p>
  );
}

/** Names the contact type and the custom fields that the import of a CSV file creates. */
function NewRecords({ upload, plan }: { upload: Upload; plan: Plan }) {
  const language = useLanguage();
  const fields = namedMapping(plan.mapping, upload.columns).newFields;
  return (
    <>
      {plan.contact_type_name !== undefined && (
        <p>
          {language.say('import.type.new')}: <bdi>{plan.contact_type_name}</bdi>
        </p>
      )}
      {fields.length > 0 && (
        <p>
          {language.say('migrate.fields')}:{' '}
          <bdi>{fields.map((field) => describeField(language, field)).join(', ')}</bdi>
        </p>
      )}
    </>
  );
}

/** Returns the label of a custom field that an import creates, with its type. */
function describeField(language: Language, { field_name, field_type }: Migration['new_fields'][number]): string {
  return `${fieldLabel(language, field_name)} (${language.say(`fields.kind.${field_type}`)})`;
}

function figuresOf(language: Language, { counts, removed: removedValues, failed, repeated }: Preview) {
  const figure = (label: string, value: number) => ({ label, value: language.number(value) });
  return [
    figure(language.say('import.created'), counts.new),
    figure(language.say('import.preview.changed'), counts.changed),
    figure(language.say('import.preview.unchanged'), counts.unchanged + counts.skipped),
    ...(removedValues > 0 ? [figure(language.say('import.preview.removed'), removedValues)] : []),
    figure(language.say('import.failed'), failed),
    ...(repeated > 0 ? [figure(language.say('import.preview.repeated'), repeated)] : []),
    figure(language.say('import.preview.left'), counts.left),
  ];
}

/** The button that starts the import and says in numbers what the import does. If it would change nothing, a notice says why. */
function Start({ upload, plan, preview }: { upload: Upload; plan: Plan; preview: Preview | null }) {
  const language = useLanguage();
  const effect = preview === null || preview.is_possible === 0 ? '' : whatHappens(language, plan, preview);
  return (
    <>
      {effect === '' && <Notice tone="warn">{language.say(`import.preview.${whyNothing(preview)}`)}</Notice>}
      <form method="post" action={`/contacts/import/${upload.id}/start`} class="buttons">
        <HiddenOptions plan={plan} />
        {effect !== '' && <Button label={language.say('import.go', { what: effect })} />}
        {upload.migration === null && (
          <LinkButton
            look="plain"
            href={`/contacts/import/${upload.id}?columns=1`}
            label={language.say('import.columns.again')}
          />
        )}
        <LinkButton
          look="quiet"
          href={upload.migration === null ? '/contacts/import' : '/contacts/migrate'}
          label={language.say('import.other')}
        />
      </form>
    </>
  );
}

function whyNothing(preview: Preview | null): 'missing' | 'none' | 'same' {
  if (preview === null) return 'missing';
  return preview.is_possible === 0 ? 'none' : 'same';
}

/** Returns what the import does, in numbers; '' if it would change nothing. */
function whatHappens(
  language: Language,
  plan: Plan,
  { counts, removed: removedValues, leaving: unsubscribes }: Preview,
): string {
  const newUnsubscribes = unsubscribes.reduce((sum, { added }) => sum + added, 0);
  const contacts = counts.new + counts.changed + counts.unchanged + counts.skipped;
  return [
    newUnsubscribes > 0 && language.say('import.go.left', { count: newUnsubscribes }),
    counts.new > 0 && language.say('import.go.new', { count: counts.new }),
    counts.changed > 0 && language.say('import.go.changed', { count: counts.changed }),
    removedValues > 0 && language.say('import.go.removed', { count: removedValues }),
    plan.to_segment_id !== null && language.say('import.go.segment', { count: contacts }),
    plan.unsubscribe === 1 && language.say('import.go.unsubscribe', { count: contacts }),
  ]
    .filter((part) => part !== false)
    .join(', ');
}

/** The form that chooses which of the domains that look misspelt are corrected. */
function Misspelt({ upload, plan, misspelt }: { upload: Upload; plan: Plan; misspelt: Preview['misspelt'] }) {
  const language = useLanguage();
  if (misspelt.length === 0) return null;
  const count = misspelt.reduce((sum, { rows }) => sum + rows, 0);
  return (
    <Card title={language.say('import.misspelt', { count })}>
      <p>{language.say('import.misspelt.about')}</p>
      <form method="post" action={`/contacts/import/${upload.id}/preview`}>
        {optionEntries(plan).map(hiddenInput)}
        {misspelt.map(({ domain, meant, rows, is_corrected }) => (
          <CheckField
            key={domain}
            name={CORRECTED}
            value={domain}
            label={`${domain} → ${meant}`}
            hint={language.say('import.misspelt.rows', { count: rows })}
            checked={is_corrected === 1}
          />
        ))}
        <div class="buttons">
          <Button look="plain" label={language.say('import.misspelt.correct')} />
        </div>
      </form>
    </Card>
  );
}

const UNSUBSCRIBES = {
  all: 'migrate.leaving.all',
  group: 'migrate.leaving.group',
  bounce: 'migrate.leaving.bounce',
  complaint: 'migrate.leaving.complaint',
} as const;

/** The addresses that unsubscribed, bounced or complained at the other service; the import records them first. */
function Unsubscribes({ unsubscribes }: { unsubscribes: Preview['leaving'] }) {
  const language = useLanguage();
  if (unsubscribes.length === 0) return null;
  return (
    <Card title={language.say('migrate.leaving')}>
      <Table
        caption={language.say('migrate.leaving')}
        rows={unsubscribes}
        keyOf={({ kind, name }) => `${kind} ${name}`}
        columns={[
          {
            heading: language.say('migrate.leaving.what'),
            cell: ({ kind, name }) => <bdi>{language.fill(UNSUBSCRIBES[kind], { name })}</bdi>,
          },
          numberColumn(language, 'migrate.leaving.people', 'people'),
          numberColumn(language, 'migrate.leaving.added', 'added'),
        ]}
      />
    </Card>
  );
}

/** What else the export of another service has: fields, lists and templates. */
export function MigrationFacts({ migration }: { migration: Migration }) {
  const language = useLanguage();
  const { new_fields, lists, templates, left_out_columns, left_out_files } = migration;
  const facts = [
    {
      label: language.say('migrate.fields'),
      list: new_fields.map((field) => describeField(language, field)),
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

function Samples({ preview, people }: { preview: Preview; people: Previewed['people'] }) {
  const language = useLanguage();
  return (
    <>
      <FirstRows rows={preview.sample} />
      {preview.fields.length > 0 && (
        <Card title={language.say('import.preview.fields')}>
          <Table
            caption={language.say('import.preview.fields')}
            rows={preview.fields}
            keyOf={({ field }) => field}
            columns={[
              { heading: language.say('import.preview.field'), cell: ({ field }) => fieldLabel(language, field) },
              numberColumn(language, 'import.preview.changed', 'count'),
            ]}
          />
        </Card>
      )}
      {SHOWN_KINDS.map((kind) => (
        <People key={kind} kind={kind} total={preview.counts[kind]} people={people[kind].slice(0, MAX_SHOWN)} />
      ))}
      {preview.failed > 0 && <FailedRows errors={preview.errors} failed={preview.failed} />}
    </>
  );
}

/** The first rows of the file. A value that an existing contact loses is shown beside the new one. */
function FirstRows({ rows }: { rows: Preview['sample'] }) {
  const language = useLanguage();
  const [first] = rows;
  if (first === undefined) return null;
  const title = language.say('import.sample', { count: rows.length });
  return (
    <Card title={title}>
      <Table
        caption={title}
        rows={rows}
        keyOf={({ line }) => line}
        columns={[
          { heading: language.say('import.kept.person'), cell: ({ email }) => <bdi>{email}</bdi> },
          { heading: language.say('import.sample.kind'), cell: ({ kind }) => language.say(`import.sample.${kind}`) },
          ...first.values.map(({ field }, at) => ({
            heading: fieldLabel(language, field),
            cell: ({ values }: (typeof rows)[number]) => <SampleValue {...values[at]} />,
          })),
        ]}
      />
    </Card>
  );
}

function SampleValue({ before = null, after = null }: { before?: string | null; after?: string | null }) {
  const language = useLanguage();
  if (before === null || before === after) return <bdi>{after ?? ''}</bdi>;
  return (
    <span>
      <del>
        <bdi>{before}</bdi>
      </del>{' '}
      <ins>
        <bdi>{after ?? language.say('import.preview.empty')}</bdi>
      </ins>
    </span>
  );
}

const TITLES = { changed: 'import.preview.changed', left: 'import.preview.left' } as const;

function People({ kind, total, people }: { kind: ShownKind; total: number; people: readonly PreviewedPerson[] }) {
  const language = useLanguage();
  if (people.length === 0) return null;
  const title = language.say(TITLES[kind]);
  const value = (text: string | null) => text ?? language.say('import.preview.empty');
  return (
    <Card title={title}>
      {people.length < total && <p>{language.say('import.preview.first', { shown: people.length, count: total })}</p>}
      <Table
        caption={title}
        rows={people}
        keyOf={({ line }) => line}
        columns={[
          { heading: language.say('import.kept.person'), cell: ({ email }) => <bdi>{email}</bdi> },
          {
            heading: language.say('import.preview.changes'),
            cell: ({ changes }: PreviewedPerson) =>
              changes.length === 0
                ? '–'
                : changes.map(({ field, before, after }) => (
                    <div key={field}>
                      {fieldLabel(language, field)}: <bdi>{value(before)}</bdi> → <bdi>{value(after)}</bdi>
                    </div>
                  )),
          },
          numberColumn(language, 'import.rows.line', 'line'),
        ]}
      />
    </Card>
  );
}
