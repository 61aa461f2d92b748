/** Operations for the fields of contacts: reserved ones, an account's custom ones, and the names that can be used as placeholders. */

import { and, asc, eq, sql } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { finishHolds } from '../../campaigns/large-writes.ts';
import type { Db } from '../../database/open.ts';
import { ownedRecord, recordId } from '../../database/ownership.ts';
import { ownedList, recordObject } from '../../database/record-json.ts';
import { customFields, dynamicContents } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { conflict, invalid, notFound } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import { type Said, sentence } from '../../errors/sentences.ts';
import {
  choice,
  identifier,
  integer,
  isoTimestampSchema,
  listQuery,
  nullable,
  zeroOrOne,
} from '../../http/requests/schemas.ts';
import { type Context, listOperation, operation } from '../../operations/operation.ts';
import { holdCampaignsUsingSegments } from '../../senders/hold-campaigns.ts';
import { countPlaceholderUses } from '../../templates/placeholder-uses.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { CONTRACT_FIELDS, isReservedName } from '../contacts/contact-fields.ts';
import { segmentsWithField } from '../segments/broken-rules.ts';
import { recomputeDueTimes } from '../segments/membership.ts';
import { nameFields } from '../segments/recompute.ts';
import { FIELD_TYPES, listCustomFields, MAX_FIELDS, ZONE_FIELD } from './custom-fields.ts';

const Field = Type.Object({
  id: integer(),
  user_id: nullable(integer()),
  field_name: Type.String(),
  field_type: choice(...FIELD_TYPES),
  is_reserved: zeroOrOne('1: a built-in field of every contact; 0: a custom field.'),
  created_at: nullable(isoTimestampSchema()),
  updated_at: nullable(isoTimestampSchema()),
});
const fieldName = Type.String({ pattern: '^[A-Za-z0-9_]+$', maxLength: 255 });
const ById = { id: identifier('The custom field.') };

export type Field = Static<typeof Field>;

const record = recordObject(Field, customFields, { is_reserved: sql`0` });
const reservedFields = CONTRACT_FIELDS.map((field_name, at) => ({
  id: at + 1,
  user_id: null,
  field_name,
  field_type: 'text' as const,
  is_reserved: 1 as const,
  created_at: null,
  updated_at: null,
}));

export const listReservedFields = operation({
  name: 'List the fields every contact has',
  role: 'viewer',
  input: Type.Object({}),
  output: Type.Object({ reservedFields: Type.Array(Field, { description: 'The built-in fields of every contact.' }) }),
  run: () => ({ reservedFields }),
});

export const listOwnFields = listOperation({
  name: 'List your own fields',
  role: 'viewer',
  input: listQuery,
  as: 'customFields',
  record: Field,
  select: ({ accountId }, part) => ({ ...ownedList(record, customFields, accountId), part }),
});

export const addField = operation({
  name: 'Add a field of your own',
  role: 'editor',
  input: Type.Object({ field_name: fieldName, field_type: choice(...FIELD_TYPES) }),
  check(context, { field_name }, errors) {
    if (field_name === undefined) return;
    for (const problem of problemsOfNewFields(context, [field_name])) errors.add('field_name', problem);
  },
  async run(context, field) {
    await storeField(context, field);
    context.wake();
  },
});

/** Returns why the account cannot get new fields of these names; nothing if it can. */
export function problemsOfNewFields(context: Context, names: readonly string[]): Said[] {
  const { db, accountId } = context;
  const { fields } = db.get<{ fields: number }>(
    sql`SELECT count(*) AS fields FROM custom_fields WHERE user_id = ${accountId}`,
  );
  const isTooMany = names.length > 0 && fields + names.length > MAX_FIELDS;
  const hasTaken = new Set(names).size < names.length || names.some((name) => isTaken(context, name));
  return [
    ...(isTooMany ? [sentence('fields_most', { count: MAX_FIELDS })] : []),
    ...(hasTaken ? [messages.taken('field_name')] : []),
  ];
}

/**
 * Stores a new field, and makes the `change` that needs it in the same transaction. Segments with a rule about a deleted field of the
 * same name use the new field from then on.
 */
export async function storeField(
  { db, clock, accountId }: Context,
  field: Pick<Field, 'field_name' | 'field_type'>,
  change: () => void = () => {},
): Promise<void> {
  const now = isoTimestamp(clock.now());
  await nameFields(db, clock, accountId, [field.field_name], () => {
    db.insert(customFields)
      .values({ ...field, user_id: accountId, created_at: now, updated_at: now })
      .run();
    change();
  });
}

export const renameField = operation({
  name: 'Rename a field of your own (addition)',
  description:
    'Refused with 409 while unfinished single sends, automations, feeds, templates or saved blocks have the merge tag of the field, or segments have a rule about it. Contacts keep their values. Sent e-mails no longer show them in the browser.',
  role: 'editor',
  input: Type.Object({ ...ById, field_name: fieldName }),
  check(context, { id, field_name }, errors) {
    if (field_name !== undefined && isTaken(context, field_name, recordId(id)))
      errors.add('field_name', messages.taken('field_name'));
  },
  async run(context, { id: fieldId, field_name }) {
    const { db, clock, accountId, wake } = context;
    const id = recordId(fieldId);
    const before = requireField(context, id).field_name;
    if (before === field_name) return;
    const placeholders = await countPlaceholderUses(db.$client, accountId, before);
    const updated_at = isoTimestamp(clock.now());
    await nameFields(db, clock, accountId, [field_name], () => {
      if (requireField(context, id).field_name !== before) throw conflict(sentence('changed_meanwhile'));
      const uses = { ...placeholders, segments: segmentsWithField(db, accountId, id).length };
      if (Object.values(uses).some((count) => count > 0)) throw conflict(sentence('field_used', uses));
      if (isTaken(context, field_name, id)) throw invalid('field_name', messages.taken('field_name'));
      db.update(customFields).set({ field_name, updated_at }).where(eq(customFields.id, id)).run();
      if ([before, field_name].some(isZoneField)) recomputeDueTimes(db.$client, accountId);
    });
    wake();
  },
});

/** Returns true if a field of this name has the time zones of contacts. */
const isZoneField = (name: string) => name.toLowerCase() === ZONE_FIELD;

/** Returns true if contacts wait for a date in this field in an automation. */
function isWaitedFor({ $client }: Db, accountId: number, field: number): boolean {
  const query = "SELECT 1 FROM automation_schedules WHERE user_id = ? AND until = 'date' AND field_id = ?";
  return $client.prepare(query).get(accountId, field) !== undefined;
}

// Stored values are keyed by the field's id, which is never used again, so the values become unreachable.
// Segments whose rules use the field keep their recipients.
export const deleteField = operation({
  name: 'Delete a field of your own',
  role: 'editor',
  input: Type.Object(ById),
  async run({ db, clock, accountId, wake }, { id: fieldId }) {
    const id = recordId(fieldId);
    const now = isoTimestamp(clock.now());
    inTransaction(db, (tx) => {
      const [deleted] = tx
        .delete(customFields)
        .where(ownedRecord(customFields, id, accountId))
        .returning({ name: customFields.field_name })
        .all();
      if (deleted === undefined) throw notFound();
      if (isZoneField(deleted.name) || isWaitedFor(db, accountId, id)) recomputeDueTimes(db.$client, accountId);
      holdCampaignsUsingSegments(db, segmentsWithField(db, accountId, id), now);
    });
    wake();
    await finishHolds(db);
  },
});

export const listPlaceholders = operation({
  name: 'List the merge tags an e-mail can contain',
  role: 'viewer',
  isForAnyScope: true,
  input: Type.Object({}),
  output: Type.Object({
    contents: Type.Array(Type.String(), { description: 'The names that may be used as placeholders: ((name)).' }),
  }),
  run({ db, accountId }) {
    const builtIn = db
      .select({ name: dynamicContents.name })
      .from(dynamicContents)
      .orderBy(asc(dynamicContents.id))
      .all();
    const own = listCustomFields(db, accountId).map((field) => field.field_name);
    return { contents: [...new Set([...builtIn.map((content) => content.name), ...CONTRACT_FIELDS, ...own])] };
  },
});

function requireField({ db, accountId }: Context, id: number): typeof customFields.$inferSelect {
  const field = db
    .select()
    .from(customFields)
    .where(ownedRecord(customFields, id, accountId))
    .get();
  if (field === undefined) throw notFound();
  return field;
}

/** Returns true if a reserved field, or another field of the account than `id`, has this name. */
function isTaken({ db, accountId }: Context, name: string, id?: number): boolean {
  const sameName = sql`lower(${customFields.field_name}) = ${name.toLowerCase()}`;
  const field = db
    .select({ id: customFields.id })
    .from(customFields)
    .where(and(eq(customFields.user_id, accountId), sameName))
    .get();
  return isReservedName(name) || (field !== undefined && field.id !== id);
}
