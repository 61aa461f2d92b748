/** How a file is to be imported: the parameters that the preview and the import share, and their check. */
import Type from 'typebox';
import { hasContactType } from '../audience/contacts/contacts.ts';
import { MAX_MAPPED_COLUMNS } from '../audience/import/guess-columns.ts';
import type { ImportJobs, PlannedImport } from '../audience/import/import-jobs.ts';
import { DEFAULT_OPTIONS } from '../audience/import/import-options.ts';
import { parseHeader } from '../audience/import/import-rows.ts';
import { plannedFields } from '../audience/import/lists/make-lists.ts';
import type { Db } from '../database/open.ts';
import { recordId } from '../database/ownership.ts';
import { messages } from '../field-errors.ts';
import {
  choice,
  flag,
  identifier,
  integer,
  nullable,
  optionalReference,
  reference,
  stringList,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import { check } from '../http/requests/validation.ts';
import { SENTENCES } from '../sentences.ts';

export const PlanBody = Type.Object({
  upload_id: identifier('The uploaded file.'),
  contact_type_id: reference(),
  mapping: stringList({
    maxItems: MAX_MAPPED_COLUMNS,
    description:
      'The field of each column, in order; empty: none. `tracking_allowed`: whether opens and clicks of the person may be recorded, 1 or 0.',
  }),
  existing: Type.Optional(choice('update', 'keep')),
  empty_cells: Type.Optional(choice('clear', 'keep')),
  to_segment_id: optionalReference(),
  start_automations: Type.Optional(flag()),
  unsubscribe: Type.Optional(
    flag(
      '1: everybody in the file is marked as unsubscribed, from `unsubscribe_groups_id` or, without it, from all mail.',
    ),
  ),
  unsubscribe_groups_id: optionalReference(),
});

/** A plan as it is answered: what `preview` was last given. */
export const PlanRecord = Type.Object({
  contact_type_id: integer(),
  mapping: Type.Array(Type.String()),
  existing: choice('update', 'keep'),
  empty_cells: choice('clear', 'keep'),
  to_segment_id: nullable(integer()),
  start_automations: zeroOrOne(),
  unsubscribe: zeroOrOne(),
  unsubscribe_groups_id: nullable(integer()),
});

/** Checks what the schema cannot: that records are the account's, and that the mapping names known fields and an address. */
export function checkPlan(db: Db, jobs: ImportJobs) {
  const owns = (table: 'segments' | 'unsubscribe_groups') =>
    db.$client.prepare(`SELECT 1 FROM ${table} WHERE id = ? AND user_id = ? AND deleted_at IS NULL`);
  const ownsSegment = owns('segments');
  const ownsGroup = owns('unsubscribe_groups');
  return check(PlanBody, (body, errors, { accountId }) => {
    const { upload_id, contact_type_id, mapping, to_segment_id, unsubscribe_groups_id } = body;
    if (contact_type_id !== undefined)
      errors.reference('contact_type_id', () => hasContactType(db, accountId, contact_type_id));
    if (to_segment_id)
      errors.reference('to_segment_id', () => ownsSegment.get(recordId(to_segment_id), accountId) !== undefined);
    if (unsubscribe_groups_id)
      errors.reference(
        'unsubscribe_groups_id',
        () => ownsGroup.get(recordId(unsubscribe_groups_id), accountId) !== undefined,
      );
    if (mapping === undefined) return;
    const migration = jobs.find(accountId, upload_id)?.exported?.migration;
    const fields = plannedFields(db, { accountId, ...(migration && { migration }) });
    const { columns, unknown } = parseHeader(mapping, fields);
    if (unknown.some((name) => name !== '')) errors.add('mapping', messages.selected('mapping'));
    else if (!columns.some((column) => column?.field === 'email' && column.custom === null))
      errors.add('mapping', SENTENCES.column_email);
  });
}

/** The plan that a body describes. */
export function plannedImport(body: Type.Static<typeof PlanBody>): PlannedImport {
  return {
    typeId: body.contact_type_id,
    mapping: body.mapping,
    options: {
      existing: body.existing ?? 'update',
      emptyCells: body.empty_cells ?? DEFAULT_OPTIONS.emptyCells,
      segmentId: body.to_segment_id || null,
      startsAutomations: body.start_automations !== 0,
      unsubscribe: body.unsubscribe === 1 ? body.unsubscribe_groups_id || 'all' : 'nothing',
    },
  };
}

/** The record of a plan. */
export function planRecord({ typeId, mapping, options }: PlannedImport): Type.Static<typeof PlanRecord> {
  const { existing, emptyCells, segmentId, startsAutomations, unsubscribe } = options;
  return {
    contact_type_id: typeId,
    mapping,
    existing,
    empty_cells: emptyCells,
    to_segment_id: segmentId,
    start_automations: startsAutomations ? 1 : 0,
    unsubscribe: unsubscribe === 'nothing' ? 0 : 1,
    unsubscribe_groups_id: typeof unsubscribe === 'number' ? unsubscribe : null,
  };
}
