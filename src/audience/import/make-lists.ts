/** The custom fields, unsubscribe groups and segments that a migration makes where the account has none of that name. */

import { and, eq, isNull } from 'drizzle-orm';
import type { Db } from '../../database/open.ts';
import { ownedBy } from '../../database/ownership.ts';
import { customFields, segments, unsubscribeGroups } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { type Clock, isoTimestamp } from '../../time/clock.ts';
import { type CustomField, listCustomFields } from '../contacts/contact-fields.ts';
import { nameFields } from '../segments/recompute.ts';
import { createSegment } from '../segments/segments.ts';
import { insertGroup } from '../unsubscribes.ts';
import type { ImportJob } from './import-job.ts';

/** The account's custom fields with those that the import is going to make, which have negative ids. */
export function plannedFields(
  db: Db,
  { accountId, migration }: Pick<ImportJob, 'accountId' | 'migration'>,
): CustomField[] {
  const fields = listCustomFields(db, accountId);
  const planned = missing(fields, migration?.newFields ?? []).map((field, at) => ({
    ...field,
    id: -1 - at,
    user_id: accountId,
    created_at: '',
    updated_at: '',
  }));
  return [...fields, ...planned];
}

function missing<Field extends { field_name: string }>(
  there: readonly CustomField[],
  wanted: readonly Field[],
): Field[] {
  const names = new Set(there.map(({ field_name }) => field_name.toLowerCase()));
  return wanted.filter(({ field_name }) => !names.has(field_name));
}

/** Makes the custom fields of a migration, as the API makes one. */
export async function makeFields(db: Db, { accountId, migration }: ImportJob, clock: Clock): Promise<void> {
  if (migration === undefined) return;
  const now = isoTimestamp(clock.now());
  const names = migration.newFields.map(({ field_name }) => field_name);
  await nameFields(db, clock, accountId, names, () => {
    for (const field of missing(listCustomFields(db, accountId), migration.newFields))
      db.insert(customFields)
        .values({ ...field, user_id: accountId, created_at: now, updated_at: now })
        .run();
  });
}

/** The account's unsubscribe group of this name; undefined when there is none. */
export function findGroup(db: Db, accountId: number, name: string): number | undefined {
  return db
    .select({ id: unsubscribeGroups.id })
    .from(unsubscribeGroups)
    .where(and(ownedBy(unsubscribeGroups, accountId), eq(unsubscribeGroups.group_name, name)))
    .orderBy(unsubscribeGroups.id)
    .get()?.id;
}

/** The same; it is made where there is none, and not shown to recipients before its owner wants that. */
export function requireGroup(db: Db, accountId: number, name: string, now: string): number {
  const about = { group_name: name, description: name, is_display: 0 };
  return inTransaction(db, () => findGroup(db, accountId, name) ?? insertGroup(db, accountId, about, now).id);
}

/** Makes a segment for each list of a migration: everybody who has its name in the field of lists. */
export async function makeSegments(db: Db, job: ImportJob, clock: Clock): Promise<void> {
  const { accountId, typeId: contact_type_id, migration } = job;
  const field = migration?.listsField ?? null;
  if (migration === undefined || field === null || (job.mapping && !job.mapping.includes(field))) return;
  for (const segment_name of findMissingSegments(db, job))
    await createSegment(db, clock, accountId, {
      segment_name,
      contact_type_id,
      select_field: [field],
      select_operator: ['contains'],
      value: [`[${segment_name}]`],
    });
}

/** The names of lists for which the contact type has no segment yet. */
export function findMissingSegments(db: Db, { typeId, migration }: ImportJob): string[] {
  const isLive = and(eq(segments.contact_type_id, typeId), isNull(segments.deleted_at));
  const there = db.select({ name: segments.segment_name }).from(segments).where(isLive).all();
  const names = new Set(there.map(({ name }) => name));
  return (migration?.lists ?? []).filter((name) => !names.has(name));
}
