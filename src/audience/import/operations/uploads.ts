/**
 * Operations that import a CSV file at once, or in steps: mapping its columns, a preview, the import in the background, and its
 * failed rows.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { ownedRecord, recordId } from '../../../database/ownership.ts';
import { contactImports } from '../../../database/schema/index.ts';
import { conflict, Failure, invalid, notFound } from '../../../errors/failure.ts';
import { messages } from '../../../errors/field-errors.ts';
import { sentence } from '../../../errors/sentences.ts';
import { english, readStored } from '../../../errors/stored.ts';
import { withinUploads } from '../../../http/account-share.ts';
import { readFileUpload } from '../../../http/requests/file-upload.ts';
import { normalize } from '../../../http/requests/normalize.ts';
import {
  choice,
  flag,
  identifier,
  integer,
  nullable,
  optionalReference,
  reference,
  said,
  stringList,
  zeroOrOne,
} from '../../../http/requests/schemas.ts';
import type { FieldErrorCollector } from '../../../http/requests/validation.ts';
import { type Context, operation } from '../../../operations/operation.ts';
import { addMissingTemplates } from '../../../templates/own-templates.ts';
import { contactTypeName, insertContactType } from '../../contact-types/operations.ts';
import { hasContactType } from '../../contacts/contacts.ts';
import { type CsvValue, csvStream } from '../../csv-write.ts';
import { FIELD_TYPES, listCustomFields } from '../../fields/custom-fields.ts';
import { problemsOfNewFields } from '../../fields/operations.ts';
import type { ExportJob, UploadedExport } from '../../migrate/read-export.ts';
import { VENDOR_NAMES } from '../../migrate/vendors/index.ts';
import { hasSegment } from '../../segments/segments.ts';
import { hasGroup } from '../../unsubscribed/groups.ts';
import { CsvError } from '../csv-parse.ts';
import { guessColumns, MAX_MAPPED_COLUMNS } from '../guess-columns.ts';
import type { ImportReport } from '../import.ts';
import { DEFAULT_OPTIONS, LEAVING_KINDS } from '../import-job.ts';
import { namedMapping, plannedFields } from '../make-lists.ts';
import { MAX_AUTOMATIONS, MAX_PREVIEWED, PREVIEW_KINDS, type PreviewKind } from '../preview.ts';
import { MAX_MISSPELT, parseHeader } from '../rows.ts';
import { makeUploadFolder, type PlannedImport, type UploadedFile } from '../uploads.ts';
import { RowProblem, readProblem } from './imports.ts';

const EMPTY_CELLS = 'keep (default): a contact keeps its value where the cell is empty; clear: the value is removed.';
const START_AUTOMATIONS =
  'Addition: 1 (default): contacts who join the target of a live automation by the import enter it; 0: they do not, and later only if they leave the target and join it again.';
const NEW_TYPE =
  'With `contact_type_id` 0: the name of a new contact type. It is created when the import starts, as new custom fields are.';
const CORRECTED = 'Misspelt domains of the preview that are corrected; none by default.';
const existing = {
  ...choice('update', 'keep'),
  description: 'update (default): contacts that the list has already are changed; keep: they stay as they are.',
};
const emptyCells = { ...choice('clear', 'keep'), description: EMPTY_CELLS };

/** The parameters of a plan for an import. */
const PlanInput = Type.Object({
  upload_id: identifier('The uploaded file.'),
  contact_type_id: reference(),
  contact_type_name: Type.Optional(contactTypeName({ description: NEW_TYPE })),
  mapping: stringList({
    maxItems: MAX_MAPPED_COLUMNS,
    description:
      'The field of each column, in order; empty: none; `new:` and a type, such as `new:number`: a new custom field that is named after the column. `tracking_allowed`: whether opens and clicks of the contact may be recorded, 1 or 0.',
  }),
  existing: Type.Optional(existing),
  empty_cells: Type.Optional(emptyCells),
  to_segment_id: optionalReference(),
  start_automations: Type.Optional(flag(START_AUTOMATIONS)),
  unsubscribe: Type.Optional(
    flag(
      '1: all contacts in the file are marked as unsubscribed, from `unsubscribe_groups_id` or, without it, from all mail.',
    ),
  ),
  unsubscribe_groups_id: optionalReference(),
  correct_domains: Type.Optional(stringList({ maxItems: MAX_MISSPELT, description: CORRECTED })),
});
type PlanInput = Static<typeof PlanInput>;

/** A plan as the API returns it: the one that was last previewed. */
const Plan = Type.Object({
  contact_type_id: integer({ description: 'The contact type; 0: a new one.' }),
  contact_type_name: Type.Optional(
    Type.String({ description: 'The name of the new contact type; absent if the contact type exists.' }),
  ),
  mapping: Type.Array(Type.String(), {
    description: 'The field of each column, in order; empty: none; `new:` and a type: a new custom field.',
  }),
  existing,
  empty_cells: emptyCells,
  to_segment_id: nullable(integer()),
  start_automations: zeroOrOne(START_AUTOMATIONS),
  unsubscribe: zeroOrOne('1: all contacts in the file are marked as unsubscribed.'),
  unsubscribe_groups_id: nullable(integer()),
  correct_domains: Type.Array(Type.String(), { description: CORRECTED }),
});
export type Plan = Static<typeof Plan>;

/** What the export of another service contains in addition to contacts. */
const Migration = Type.Object({
  source: Type.String({ description: 'The name of the service.' }),
  new_fields: Type.Array(Type.Object({ field_name: Type.String(), field_type: choice(...FIELD_TYPES) }), {
    description: 'Custom fields that the import creates.',
  }),
  lists: Type.Array(Type.String(), {
    description: 'Lists and tags that become segments, unless the contact type has one of that name.',
  }),
  templates: Type.Array(Type.String(), {
    description: 'Templates that are added, unless the account has them already.',
  }),
  left_out_columns: Type.Array(Type.String(), { description: 'Columns that are not taken over.' }),
  left_out_files: Type.Array(Type.String(), { description: 'Files of the archive that are not taken over.' }),
});
export type Migration = Static<typeof Migration>;

const Upload = Type.Object({
  id: Type.String(),
  state: {
    ...choice('looked', 'previewing', 'running', 'done', 'failed'),
    description:
      'looked: uploaded, not imported; previewing: what an import would do is being computed; running; done; failed.',
  },
  file_name: Type.String(),
  columns: Type.Array(
    Type.Object({
      name: Type.String(),
      field: nullable(
        Type.String(),
        'The field that seems to belong to the column; null when no field has such a name.',
      ),
      samples: Type.Array(Type.String(), { description: 'Cells of the column in the first rows.' }),
      type: {
        ...choice(...FIELD_TYPES),
        description: 'The type of a custom field that suits the cells of its first rows.',
      },
    }),
    { description: 'The columns of the file.' },
  ),
  notes: Type.Array(said()),
  bytes_read: integer({ description: 'The number of bytes that were read and checked.' }),
  bytes: integer({ description: 'The size of the file; 0 before it is imported.' }),
  written: integer({ description: 'The number of contacts written so far.' }),
  whole: integer({ description: 'The number of contacts to write; 0 before the file is read.' }),
  plan: nullable(Plan, 'The plan that was previewed last; null before the first preview.'),
  migration: nullable(Migration, 'What an export contains besides contacts; null for a CSV file.'),
  import_id: nullable(integer(), 'Id of the import once it is done; null before, and when the file has no valid row.'),
  failed: integer(),
  errors: Type.Array(RowProblem),
});
export type Upload = Static<typeof Upload>;
export const OneUpload = Type.Object({ upload: Upload });

const FieldValue = Type.Object({
  field: Type.String({ description: 'The field.' }),
  before: nullable(Type.String(), 'The value that the contact has; null: none.'),
  after: nullable(Type.String(), 'The value that the contact would get; null: none.'),
});

const KIND =
  'The contacts to list: new (default), changed, unchanged, skipped, or left: contacts of any of these kinds that are unsubscribed or suppressed.';

const Preview = Type.Object({
  is_possible: zeroOrOne('1: there is something to import; 0: nothing would be imported.'),
  rows: integer(),
  failed: integer(),
  repeated: integer({
    description: 'The number of rows whose address a later row has too; only the later row is imported.',
  }),
  counts: Type.Object(
    {
      new: integer({ description: 'Contacts that would be added.' }),
      changed: integer({ description: 'Contacts that the list has already and that would be changed.' }),
      unchanged: integer({ description: 'Contacts that have the values of the file already.' }),
      skipped: integer({
        description: 'Contacts that the list has already and that would stay as they are, because of `existing`.',
      }),
      left: integer({
        description:
          'Contacts of the other kinds who had unsubscribed, from all mail or a group, or are suppressed: they stay so.',
      }),
    } satisfies Record<PreviewKind, unknown>,
    { description: 'The number of contacts of each kind.' },
  ),
  removed: integer({
    description: 'The number of values of contacts that would be removed, because their cell is empty.',
  }),
  misspelt: Type.Array(
    Type.Object({
      domain: Type.String({ description: 'A domain of addresses of the file, such as gmial.com.' }),
      meant: Type.String({ description: 'The domain of a large provider that was probably meant.' }),
      rows: integer({ description: 'The number of rows with this domain.' }),
      is_corrected: zeroOrOne('1: the domain would be corrected, because of `correct_domains`; 0: it stays.'),
    }),
    { description: `Domains that look misspelt, at most ${MAX_MISSPELT}.` },
  ),
  automations: Type.Array(
    Type.Object({
      utr: Type.String({ description: 'UUID of the automation.' }),
      automation_name: Type.String(),
      people: integer({ description: 'The number of contacts who would enter the automation.' }),
      is_exact: zeroOrOne('1: the number is exact; 0: it is the maximum, because the target is a segment.'),
    }),
    { description: `The live automations that contacts would enter, at most ${MAX_AUTOMATIONS}.` },
  ),
  fields: Type.Array(
    Type.Object({
      field: Type.String({ description: 'The field.' }),
      count: integer({ description: 'The number of contacts who would get another value in this field.' }),
    }),
    { description: 'The fields that would be changed.' },
  ),
  leaving: Type.Array(
    Type.Object({
      kind: {
        ...choice(...LEAVING_KINDS),
        description: 'all, group: unsubscribed from all mail or from a group; bounce, complaint: suppressed.',
      },
      name: Type.String({ description: 'Name of the group; empty for the other kinds.' }),
      people: integer({ description: 'The number of contacts.' }),
      added: integer({ description: 'How many of these contacts are not unsubscribed or suppressed here yet.' }),
    }),
    {
      description:
        'Contacts who unsubscribed, bounced or complained at another service. They are marked before any contact is added.',
    },
  ),
  sample: Type.Array(
    Type.Object({
      line: integer(),
      email: Type.String(),
      kind: {
        ...choice('new', 'changed', 'unchanged', 'skipped'),
        description: 'What the row would do, as in `counts`.',
      },
      values: Type.Array(FieldValue, {
        description: 'The fields of the file without the address, in the order of its columns.',
      }),
    }),
    { description: 'The first rows that would be imported, with all their fields.' },
  ),
  notes: Type.Array(said()),
  errors: Type.Array(RowProblem),
});
export type Preview = Static<typeof Preview>;
const PreviewedPerson = Type.Object({
  line: integer(),
  email: Type.String(),
  changes: Type.Array(FieldValue, { description: 'The values that would be changed.' }),
});
export type PreviewedPerson = Static<typeof PreviewedPerson>;

const ByUpload = { upload_id: identifier('The uploaded file.') };

export const startPreview = operation({
  name: 'Compute what importing an uploaded file would do, in the background (addition)',
  description:
    'Takes the parameters of `/contacts/imports/start` and changes nothing. When the state is `looked` again, `/contacts/imports/previewed` has the result.',
  role: 'editor',
  input: PlanInput,
  output: OneUpload,
  check: checkPlan,
  run(context, input) {
    const upload = requireIdleUpload(context, input.upload_id);
    context.imports.startPreview(upload, context.config.DATABASE_PATH, plannedImport(input));
    return { upload: uploadRecord(upload) };
  },
});

export const readPreview = operation({
  name: 'Read what importing an uploaded file would do, with the contacts (addition)',
  description: `Returns the first ${MAX_PREVIEWED} contacts of a kind. Before the preview is ready, \`preview\` is null.`,
  role: 'viewer',
  input: Type.Object({
    ...ByUpload,
    kind: Type.Optional(Type.Unsafe<PreviewKind>({ ...choice(...PREVIEW_KINDS), description: KIND })),
  }),
  output: Type.Object({
    preview: nullable(Preview, 'What an import would do; null before the preview is ready.'),
    people: Type.Array(PreviewedPerson),
  }),
  run(context, { upload_id, kind = 'new' }) {
    const upload = requireUpload(context, upload_id);
    if (upload.preview === null) return { preview: null, people: [] };
    const { people, ...preview } = upload.preview;
    const notes = preview.notes.map((note) => readStored(note));
    return { preview: { ...preview, notes, errors: preview.errors.map(readProblem) }, people: people[kind] };
  },
});

export const startImport = operation({
  name: 'Import an uploaded file with this mapping of its columns, in the background (addition)',
  role: 'editor',
  input: PlanInput,
  output: OneUpload,
  check: checkPlan,
  async run(context, input) {
    const { exported } = requireIdleUpload(context, input.upload_id);
    await addMissingTemplates(context, context.accountId, exported?.templates ?? []);
    // The upload is checked again, because another request may have started its import meanwhile.
    const upload = requireIdleUpload(context, input.upload_id);
    context.imports.requireRoom(context.accountId);
    const planned = plannedImport(input);
    const { newTypeName } = planned;
    const typeId = newTypeName === null ? planned.typeId : insertContactType(context, newTypeName);
    context.imports.start(upload, context.config.DATABASE_PATH, { ...planned, typeId, newTypeName: null });
    return { upload: uploadRecord(upload) };
  },
});

export const readUpload = operation({
  name: 'Read the progress of the import of an uploaded file (addition)',
  role: 'viewer',
  input: Type.Object(ByUpload),
  output: OneUpload,
  run: (context, { upload_id }) => ({ upload: uploadRecord(requireUpload(context, upload_id)) }),
});

export const failedRowsCsv = operation({
  name: 'Download the rows of an import that failed, as CSV (addition)',
  description:
    'The rows of an import or, with `upload_id`, of an uploaded file that imported nothing. If more rows failed than are stored, the last line says so.',
  role: 'viewer',
  input: Type.Object({
    id: identifier('The import.'),
    upload_id: identifier('The uploaded file, instead of the import.'),
  }),
  run(context, { id, upload_id }): Readable {
    const report = upload_id === undefined ? null : requireUpload(context, upload_id).report;
    // The report of a file that imported nothing is not stored.
    const { failed, errors } = report?.id === 0 ? report : requireReport(context, report?.id ?? id);
    const rows: CsvValue[][] = errors.map(({ line, field, value, text }) => [line, field, value ?? '', english(text)]);
    const storedRows = new Set(errors.map(({ line }) => line)).size;
    if (storedRows < failed)
      rows.push([
        null,
        '',
        '',
        `These are the first ${storedRows} of ${failed} rows that failed. The others are not stored.`,
      ]);
    return csvStream(['line', 'field', 'value', 'text'], [rows]);
  },
});

function requireReport({ db, accountId }: Context, id: unknown): Pick<ImportReport, 'failed' | 'errors'> {
  const row = db
    .select({ failed: contactImports.failed, errors: contactImports.errors })
    .from(contactImports)
    .where(ownedRecord(contactImports, id, accountId))
    .get();
  if (row === undefined) throw notFound();
  return row;
}

function requireUpload({ imports, accountId }: Context, id: unknown): UploadedFile {
  const upload = imports.find(accountId, id);
  if (upload === undefined) throw notFound();
  return upload;
}

/** Returns the account's upload if it can be previewed or imported now. Throws 404, and 409 if it cannot. */
function requireIdleUpload(context: Context, id: unknown): UploadedFile {
  const upload = requireUpload(context, id);
  if (upload.state === 'previewing') throw conflict(sentence('file_previewing'));
  if (upload.state !== 'looked') throw conflict(sentence('file_imported'));
  return upload;
}

/**
 * Adds errors that the schema cannot find: records that do not belong to the account, unknown fields in the mapping, or a
 * mapping without an address.
 */
function checkPlan(context: Context, input: Partial<PlanInput>, errors: FieldErrorCollector): void {
  const { db, accountId, imports } = context;
  const { upload_id, contact_type_id, contact_type_name, mapping, to_segment_id, unsubscribe_groups_id } = input;
  if (contact_type_id === 0) {
    if (!contact_type_name && !errors.has('contact_type_name'))
      errors.add('contact_type_name', messages.required('contact_type_name'));
  } else if (contact_type_id !== undefined)
    errors.reference('contact_type_id', () => hasContactType(db, accountId, contact_type_id));
  if (to_segment_id) errors.reference('to_segment_id', () => hasSegment(db, accountId, to_segment_id));
  if (unsubscribe_groups_id) errors.reference('unsubscribe_groups_id', () => hasGroup(context, unsubscribe_groups_id));
  if (mapping === undefined) return;
  const upload = imports.find(accountId, upload_id);
  const migration = upload?.exported?.migration;
  const named = namedMapping(mapping, upload?.columns ?? []);
  const refused = problemsOfNewFields(
    context,
    named.newFields.map(({ field_name }) => field_name),
  );
  for (const problem of refused) errors.add('mapping', problem);
  if (refused.length > 0) return;
  const fields = plannedFields(db, { accountId, newFields: named.newFields, ...(migration && { migration }) });
  const { columns, unknown } = parseHeader(named.mapping, fields);
  if (unknown.some((name) => name !== '')) errors.add('mapping', messages.selected('mapping'));
  else if (!columns.some((column) => column?.field === 'email' && column.custom === null))
    errors.add('mapping', sentence('column_email'));
}

function plannedImport(input: PlanInput): PlannedImport {
  return {
    typeId: input.contact_type_id,
    newTypeName: input.contact_type_id === 0 ? (input.contact_type_name ?? '') : null,
    mapping: input.mapping,
    options: {
      existing: input.existing ?? 'update',
      emptyCells: input.empty_cells ?? DEFAULT_OPTIONS.emptyCells,
      segmentId: input.to_segment_id || null,
      startsAutomations: input.start_automations !== 0,
      unsubscribe: input.unsubscribe === 1 ? input.unsubscribe_groups_id || 'all' : 'nothing',
      correctedDomains: input.correct_domains ?? [],
    },
  };
}

function planRecord({ typeId, newTypeName, mapping, options }: PlannedImport): Plan {
  const { existing, emptyCells, segmentId, startsAutomations, unsubscribe, correctedDomains } = options;
  return {
    contact_type_id: typeId,
    ...(newTypeName !== null && { contact_type_name: newTypeName }),
    mapping,
    existing,
    empty_cells: emptyCells,
    to_segment_id: segmentId,
    start_automations: startsAutomations ? 1 : 0,
    unsubscribe: unsubscribe === 'nothing' ? 0 : 1,
    unsubscribe_groups_id: typeof unsubscribe === 'number' ? unsubscribe : null,
    correct_domains: [...correctedDomains],
  };
}

function uploadRecord(upload: UploadedFile): Upload {
  const { id, state, fileName, columns, notes, progress, planned, exported, report } = upload;
  const [bytes_read = 0, bytes = 0, written = 0, whole = 0] = progress;
  const failure = report?.id === 0 ? report : null;
  return {
    id,
    state,
    file_name: fileName,
    columns,
    notes: (report?.notes ?? notes).map((note) => readStored(note)),
    bytes_read,
    bytes,
    written,
    whole,
    plan: planned && planRecord(planned),
    migration: exported && migrationRecord(exported),
    import_id: report?.id || null,
    failed: failure?.failed ?? 0,
    errors: (failure?.errors ?? []).map(readProblem),
  };
}

function migrationRecord({ migration, ignored, templates }: UploadedExport): Migration {
  return {
    source: migration.source,
    new_fields: [...migration.newFields],
    lists: [...migration.lists],
    templates: templates.map(({ name }) => name),
    left_out_columns: ignored.columns,
    left_out_files: ignored.files,
  };
}

/** The multipart form that imports a CSV file at once. */
export const CsvForm = Type.Object({
  contact_type_id: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  file: Type.String({ format: 'binary', description: 'A file whose name ends in .csv.' }),
  empty_cells: Type.Optional({ ...choice('keep', 'clear'), description: EMPTY_CELLS }),
  start_automations: Type.Optional(flag(START_AUTOMATIONS)),
});

/** The multipart form that uploads a file to be imported in steps. */
export const FileForm = Type.Object({
  file: Type.String({
    format: 'binary',
    description: 'A file whose name ends in .csv or, for an export of another service, in .zip or .json.',
  }),
  source: Type.Optional({
    ...choice(...VENDOR_NAMES),
    description: 'The service that made the export; absent: a CSV file with columns of your choice.',
  }),
});

/**
 * Imports the CSV file of a form. Returns the id of the import. Throws 413, 429 if too many uploads of the account are under way, and 422, also
 * if no row is valid.
 */
export function importCsv(context: Context, form: FastifyRequest): Promise<number> {
  return withinUploads(context.accountId, () => importUpload(context, form));
}

async function importUpload({ db, config, accountId, importer }: Context, form: FastifyRequest): Promise<number> {
  const folder = await makeUploadFolder(config.DATABASE_PATH);
  try {
    const path = join(folder, 'contacts.csv');
    const { fileName, fields, errors } = await readFileUpload(form, path, config.MAX_UPLOAD_BYTES);
    if (!errors.has('file') && !/\.csv$/i.test(fileName)) errors.add('file', sentence('file_not_csv'));
    const chosenType = fields.contact_type_id;
    if (chosenType === undefined || (typeof chosenType === 'string' && chosenType.trim() === ''))
      errors.add('contact_type_id', messages.required('contact_type_id'));
    else if (typeof chosenType !== 'string' || !/^\d{1,16}$/.test(chosenType))
      errors.add('contact_type_id', messages.integer('contact_type_id'));
    else errors.reference('contact_type_id', () => hasContactType(db, accountId, chosenType));
    const { empty_cells, start_automations: starts = 1 } = normalize(CsvForm, fields);
    const chosenCells = empty_cells || DEFAULT_OPTIONS.emptyCells;
    if (chosenCells !== 'keep' && chosenCells !== 'clear') errors.add('empty_cells', messages.selected('empty_cells'));
    const emptyCells = chosenCells === 'clear' ? 'clear' : 'keep';
    if (starts !== 0 && starts !== 1) errors.add('start_automations', messages.selected('start_automations'));
    errors.throwIfAny();
    const report = await importer.run({
      databasePath: config.DATABASE_PATH,
      accountId,
      typeId: recordId(chosenType),
      path,
      fileName,
      options: { ...DEFAULT_OPTIONS, emptyCells, startsAutomations: starts === 1 },
    });
    if (report.id !== 0) return report.id;
    const firstErrors = report.errors
      .slice(0, 3)
      .map(({ line, text }) => sentence('file_line', { line, text: readStored(text) }));
    throw new Failure(422, {
      file: [sentence('file_no_rows'), ...report.notes.map((note) => readStored(note)), ...firstErrors],
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Stores the file of a form, which is a CSV file or the export of another service, and inspects its columns. Throws 413, 422, and 429 if too
 * many uploads of the account are under way.
 */
export function inspectFile(context: Context, form: FastifyRequest): Promise<Upload> {
  return withinUploads(context.accountId, () => inspectUpload(context, form));
}

async function inspectUpload(context: Context, form: FastifyRequest): Promise<Upload> {
  const { db, clock, config, accountId, imports } = context;
  const folder = await makeUploadFolder(config.DATABASE_PATH);
  try {
    const path = join(folder, 'upload');
    const { fileName, fields, errors } = await readFileUpload(form, path, config.MAX_UPLOAD_BYTES);
    const { source = '' } = fields;
    const vendor = VENDOR_NAMES.find((name) => name === source);
    if (vendor === undefined && source !== '') errors.add('source', messages.selected('source'));
    const ending = vendor === undefined ? /\.csv$/i : /\.(?:zip|csv|json)$/i;
    if (!errors.has('file') && !ending.test(fileName))
      errors.add('file', vendor === undefined ? sentence('file_not_csv') : sentence('file_not_export'));
    errors.throwIfAny();
    const inspected =
      vendor === undefined
        ? { path, exported: null, ...(await guessColumns(path, listCustomFields(db, accountId))) }
        : await readExport(context, {
            databasePath: config.DATABASE_PATH,
            accountId,
            vendor,
            path,
            fileName,
            folder,
          });
    return uploadRecord(await imports.add({ accountId, folder, fileName, ...inspected }, clock.now().getTime()));
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error instanceof CsvError ? invalid('file', error.said) : error;
  }
}

/** Reads an export in the import thread. Throws 422 if the file is not one. */
async function readExport({ importer }: Context, job: ExportJob) {
  const read = await importer.read(job);
  if ('refusal' in read) throw invalid('file', readStored(read.refusal));
  const { path, columns, notes, ...exported } = read;
  await rm(job.path);
  return { path, columns, notes, exported };
}
