/** Operations for past imports: their reports and their undo. */
import { eq, sql } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { ownedRecord, recordId } from '../../../database/ownership.ts';
import { ownedList, readRecord, recordObject, totalBytes } from '../../../database/record-json.ts';
import { contactImports, contacts, importKept } from '../../../database/schema/index.ts';
import { notFound } from '../../../errors/failure.ts';
import { readStored } from '../../../errors/stored.ts';
import {
  choice,
  eitherOrderQuery,
  identifier,
  integer,
  isoTimestampSchema,
  listQuery,
  nullable,
  said,
  zeroOrOne,
} from '../../../http/requests/schemas.ts';
import { type Context, listOperation, operation, recordOperation } from '../../../operations/operation.ts';
import { isoTimestamp } from '../../../time/clock.ts';
import type { RowError } from '../rows.ts';
import { isUndoable, undoImport } from '../undo.ts';

/** Why a row of a file was not imported. */
export const RowProblem = Type.Object({
  line: integer(),
  field: Type.String({ description: 'Name of the invalid field.' }),
  text: said('Why the row was not imported.'),
  value: nullable(
    Type.String(),
    'The cell, or its beginning, for 30 days; null for a whole row, an empty cell and an erased address.',
  ),
});
export type RowProblem = Static<typeof RowProblem>;

const Import = Type.Object({
  id: integer(),
  contact_type_id: integer(),
  file_name: Type.String(),
  rows: integer(),
  created: integer({ description: 'The number of new contacts.' }),
  updated: integer({ description: 'The number of existing contacts that were changed.' }),
  failed: integer(),
  notes: Type.Array(said()),
  errors: Type.Array(RowProblem, { description: 'The rows that failed.' }),
  state: {
    ...choice('writing', 'done', 'undoing', 'undone'),
    description: 'writing: the import runs, or was interrupted; done; undoing: its undo runs; undone.',
  },
  undo_until: nullable(
    isoTimestampSchema(),
    'The time until which the records for an undo are kept, UTC; null if they are not kept.',
  ),
  is_undoable: zeroOrOne('1: the import can be undone now.'),
  removed: integer({
    description: 'The number of contacts that an undo removed, because the import had added them.',
  }),
  restored: integer({ description: 'The number of contacts to which an undo gave their earlier values back.' }),
  kept: integer({
    description: 'The number of contacts that an undo left unchanged, because they were changed after the import.',
  }),
  created_at: isoTimestampSchema(),
});
export type Import = Static<typeof Import>;

const KeptContact = Type.Object({
  contact_id: integer(),
  email: nullable(Type.String(), 'The e-mail address; null when the contact was deleted permanently.'),
  reason: {
    ...choice('changed', 'moved', 'deleted', 'segment'),
    description:
      'What happened since the import: changed, moved to another contact type, deleted, or added to a segment by hand.',
  },
});
export type KeptContact = Static<typeof KeptContact>;

const ById = { id: identifier('The import.') };

const recordOf = ({ clock }: Context) =>
  recordObject(Import, contactImports, {
    notes: sql`json((SELECT json_group_array(english(value)) FROM json_each(${contactImports.notes})))`,
    errors: sql`json((SELECT json_group_array(json_set(value, '$.text', english(value ->> 'text'), '$.value', value ->> 'value')) FROM json_each(${contactImports.errors})))`,
    is_undoable: sql.raw(isUndoable(`'${isoTimestamp(clock.now())}'`)),
  });

export const listImports = listOperation({
  name: 'List the imports',
  role: 'viewer',
  input: eitherOrderQuery,
  as: 'imports',
  record: Import,
  select: (context, part) => ({
    ...ownedList(recordOf(context), contactImports, context.accountId),
    bytes: totalBytes(contactImports.notes, contactImports.errors),
    part,
  }),
});

export const readImport = recordOperation({
  name: 'Read what an import did',
  role: 'viewer',
  input: Type.Object(ById),
  as: 'import',
  record: Import,
  json: (context, { id }) =>
    readRecord(
      context.db,
      recordOf(context),
      sql`${contactImports}`,
      ownedRecord(contactImports, id, context.accountId),
    ),
});

/** The report of an import for a screen, with the texts as sentences that can be translated. */
export const readImportReport = operation({
  name: 'Read the report of an import',
  role: 'viewer',
  input: Type.Object(ById),
  async run(context, input) {
    const row = context.db
      .select({ notes: contactImports.notes, errors: contactImports.errors })
      .from(contactImports)
      .where(ownedRecord(contactImports, input.id, context.accountId))
      .get();
    const record = await readImport.run(context, input);
    return {
      ...record,
      notes: (row?.notes ?? []).map((note) => readStored(note)),
      errors: (row?.errors ?? []).map(readProblem),
    };
  },
});

/** Returns the reason why a row was not imported, from its stored form. */
export function readProblem({ value, ...problem }: RowError): RowProblem {
  return { ...problem, text: readStored(problem.text), value: value ?? null };
}

export const startUndo = operation({
  name: 'Undo an import, within 30 days (addition)',
  description:
    'The undo runs in the background; the details of the import have its progress. Contacts that the import added are removed, and others get their earlier values back. Contacts that were changed after the import stay as they are; `/contacts/imports/kept` lists them.',
  role: 'editor',
  input: Type.Object(ById),
  run({ db, clock, accountId, wake }, { id }) {
    undoImport(db, accountId, recordId(id), isoTimestamp(clock.now()));
    wake();
  },
});

const keptContact = recordObject(KeptContact, importKept, { email: sql`${contacts.email}` });

export const listKept = listOperation({
  name: 'List the contacts that the undo of an import left as they were (addition)',
  description: 'The list is kept for 30 days after the import.',
  role: 'viewer',
  input: Type.Object({ ...ById, ...listQuery.properties }),
  as: 'contacts',
  record: KeptContact,
  select({ db, accountId }, { id, ...part }) {
    const owned = db
      .select({ id: contactImports.id })
      .from(contactImports)
      .where(ownedRecord(contactImports, id, accountId))
      .get();
    if (owned === undefined) throw notFound();
    return {
      record: keptContact,
      from: sql`${importKept} LEFT JOIN ${contacts} ON ${contacts.id} = ${importKept.contact_id}`,
      where: eq(importKept.import_id, owned.id),
      id: importKept.contact_id,
      part,
    };
  },
});
