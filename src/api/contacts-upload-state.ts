/** An uploaded file that is to be imported, as the API answers it. */
import Type from 'typebox';
import { FIELD_TYPES } from '../audience/contacts/contact-fields.ts';
import type { UploadedExport, UploadedFile } from '../audience/import/import-jobs.ts';
import { choice, integer, nullable } from '../http/requests/schemas.ts';
import { PlanRecord, planRecord } from './contacts-import-plan.ts';

const Column = Type.Object({
  name: Type.String(),
  field: nullable(Type.String()),
  samples: Type.Array(Type.String()),
});
export const RowProblem = Type.Object({ line: integer(), field: Type.String(), text: Type.String() });
const Migration = Type.Object({
  source: Type.String(),
  new_fields: Type.Array(Type.Object({ field_name: Type.String(), field_type: choice(...FIELD_TYPES) })),
  lists: Type.Array(Type.String()),
  templates: Type.Array(Type.String()),
  left_out_columns: Type.Array(Type.String()),
  left_out_files: Type.Array(Type.String()),
});
export const UploadState = Type.Object({
  id: Type.String(),
  state: choice('looked', 'previewing', 'running', 'done', 'failed'),
  file_name: Type.String(),
  columns: Type.Array(Column),
  notes: Type.Array(Type.String()),
  bytes_read: integer(),
  bytes: integer(),
  written: integer(),
  whole: integer(),
  plan: nullable(PlanRecord),
  migration: nullable(Migration),
  import_id: nullable(integer()),
  failed: integer(),
  errors: Type.Array(RowProblem),
});

/** The record of an uploaded file. */
export function uploadState({
  id,
  state,
  fileName,
  columns,
  notes,
  progress,
  planned,
  exported,
  report,
}: UploadedFile): Type.Static<typeof UploadState> {
  const [bytes_read = 0, bytes = 0, written = 0, whole = 0] = progress;
  const failure = report?.id === 0 ? report : null;
  return {
    id,
    state,
    file_name: fileName,
    columns,
    notes: report?.notes ?? notes,
    bytes_read,
    bytes,
    written,
    whole,
    plan: planned && planRecord(planned),
    migration: exported && migrationRecord(exported),
    import_id: report?.id || null,
    failed: failure?.failed ?? 0,
    errors: failure?.errors ?? [],
  };
}

function migrationRecord({ migration, leftOut, templates }: UploadedExport): Type.Static<typeof Migration> {
  return {
    source: migration.source,
    new_fields: [...migration.newFields],
    lists: [...migration.lists],
    templates: templates.map(({ name }) => name),
    left_out_columns: leftOut.columns,
    left_out_files: leftOut.files,
  };
}
