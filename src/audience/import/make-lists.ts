/** Creates the custom fields of an import, and the unsubscribe groups and segments of a migration, unless the account has one of that name. */

import { and, eq, isNull } from 'drizzle-orm';
import type { Db } from '../../database/open.ts';
import { ownedBy } from '../../database/ownership.ts';
import { customFields, segments, unsubscribeGroups } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { Failure } from '../../errors/failure.ts';
import { type Said, sentence } from '../../errors/sentences.ts';
import { type Clock, isoTimestamp } from '../../time/clock.ts';
import { type CustomField, FIELD_TYPES, fieldNameFor, listCustomFields } from '../fields/custom-fields.ts';
import { nameFields } from '../segments/recompute.ts';
import { createSegment } from '../segments/segments.ts';
import { insertGroup } from '../unsubscribes.ts';
import type { GuessedColumns } from './guess-columns.ts';
import type { ImportJob, NewField } from './import-job.ts';

/** Returns the account's custom fields and those that the import is going to create, which have negative ids. */
export function plannedFields(
  db: Db,
  { accountId, ...job }: Pick<ImportJob, 'accountId' | 'newFields' | 'migration'>,
): CustomField[] {
  const fields = listCustomFields(db, accountId);
  const planned = missingFields(fields, wantedFields(job)).map((field, at) => ({
    ...field,
    id: -1 - at,
    user_id: accountId,
    created_at: '',
    updated_at: '',
  }));
  return [...fields, ...planned];
}

/** What a mapping has for a column that gets a new custom field, before the type of the field. */
export const NEW_FIELD = 'new:';

/**
 * Returns a mapping with the names of fields only, and the custom fields to create: each column with `new:` and a type gets a field of this
 * type, named after the column.
 */
export function namedMapping(
  mapping: readonly string[],
  columns: GuessedColumns['columns'],
): { mapping: string[]; newFields: NewField[] } {
  const newFields: NewField[] = [];
  const named = mapping.map((field, at) => {
    const field_type = FIELD_TYPES.find((type) => field === `${NEW_FIELD}${type}`);
    if (field_type === undefined) return field;
    const field_name = fieldNameFor(columns[at]?.name ?? '', at + 1);
    newFields.push({ field_name, field_type });
    return field_name;
  });
  return { mapping: named, newFields };
}

function wantedFields({ newFields = [], migration }: Pick<ImportJob, 'newFields' | 'migration'>): NewField[] {
  return [...newFields, ...(migration?.newFields ?? [])];
}

/** Returns those of the wanted fields whose name no existing field has. */
function missingFields<Field extends { field_name: string }>(
  existing: readonly CustomField[],
  wanted: readonly Field[],
): Field[] {
  const names = new Set(existing.map(({ field_name }) => field_name.toLowerCase()));
  return wanted.filter(({ field_name }) => !names.has(field_name));
}

/** Creates the custom fields of an import as the API does. */
export async function makeFields(db: Db, { accountId, ...job }: ImportJob, clock: Clock): Promise<void> {
  const wanted = wantedFields(job);
  if (wanted.length === 0) return;
  const now = isoTimestamp(clock.now());
  const names = wanted.map(({ field_name }) => field_name);
  await nameFields(db, clock, accountId, names, () => {
    for (const field of missingFields(listCustomFields(db, accountId), wanted))
      db.insert(customFields)
        .values({ ...field, user_id: accountId, created_at: now, updated_at: now })
        .run();
  });
}

/** Returns the id of the account's unsubscribe group of this name; undefined if there is none. */
export function findGroup(db: Db, accountId: number, name: string): number | undefined {
  return db
    .select({ id: unsubscribeGroups.id })
    .from(unsubscribeGroups)
    .where(and(ownedBy(unsubscribeGroups, accountId), eq(unsubscribeGroups.group_name, name)))
    .orderBy(unsubscribeGroups.id)
    .get()?.id;
}

/**
 * Returns the id of the account's unsubscribe group of this name, which is created if there is none. A created group is
 * hidden from recipients until the owner shows it.
 */
export function requireGroup(db: Db, accountId: number, name: string, now: string): number {
  const values = { group_name: name, description: name, is_display: 0 };
  return inTransaction(db, () => findGroup(db, accountId, name) ?? insertGroup(db, accountId, values, now).id);
}

/**
 * Creates a segment for each list of a migration. Its rule matches contacts with the list's name in the field of lists. Returns a note if
 * the account may not have that many segments; null otherwise.
 */
export async function makeSegments(db: Db, job: ImportJob, clock: Clock): Promise<Said | null> {
  const { accountId, typeId: contact_type_id, migration } = job;
  const field = migration?.listsField ?? null;
  if (migration === undefined || field === null || (job.mapping && !job.mapping.includes(field))) return null;
  const missing = findMissingSegments(db, job);
  for (const [count, segment_name] of missing.entries())
    try {
      await createSegment(db, clock, accountId, {
        segment_name,
        contact_type_id,
        select_field: [field],
        select_operator: ['contains'],
        value: [`[${segment_name}]`],
      });
    } catch (error) {
      if (!(error instanceof Failure) || error.status !== 409) throw error;
      return sentence('lists_left', { count: missing.length - count });
    }
  return null;
}

/** Returns the names of lists for which the contact type has no segment yet. */
export function findMissingSegments(db: Db, { typeId, migration }: ImportJob): string[] {
  const isLive = and(eq(segments.contact_type_id, typeId), isNull(segments.deleted_at));
  const existing = db.select({ name: segments.segment_name }).from(segments).where(isLive).all();
  const names = new Set(existing.map(({ name }) => name));
  return (migration?.lists ?? []).filter((name) => !names.has(name));
}
