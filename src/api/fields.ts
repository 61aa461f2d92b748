/** Reserved and custom contact fields, and the names usable as placeholders. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { and, asc, eq, sql } from 'drizzle-orm';
import Type from 'typebox';
import { isReservedName, listCustomFields, MAX_FIELDS, RESERVED_FIELDS } from '../audience/contacts/contact-fields.ts';
import { reviveSegments, segmentsWithField } from '../audience/segments/broken-rules.ts';
import { markForRecompute, recomputeSoon } from '../audience/segments/recompute.ts';
import { isoTimestamp } from '../clock.ts';
import { ownedBy, ownedRecord, recordId } from '../database/ownership.ts';
import { recordObject } from '../database/record-json.ts';
import { customFields, dynamicContents } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { conflict, invalid, notFound } from '../failure.ts';
import { messages } from '../field-errors.ts';
import { sendList } from '../http/list-response.ts';
import {
  choice,
  done,
  identifier,
  integer,
  isoTimestampSchema,
  listQuery,
  nullable,
  successWith,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import { check } from '../http/requests/validation.ts';
import { holdCampaignsUsingSegments } from '../senders/hold-campaigns.ts';
import { SENTENCES, sentence } from '../sentences.ts';
import { countPlaceholderUses } from '../templates/placeholder-uses.ts';

const tags = ['Fields'];

const FieldDefinition = Type.Object({
  id: integer(),
  user_id: nullable(integer()),
  field_name: Type.String(),
  field_type: choice('text', 'number', 'datetime-local'),
  is_reserved: zeroOrOne(),
  created_at: nullable(isoTimestampSchema()),
  updated_at: nullable(isoTimestampSchema()),
});

const fieldName = Type.String({ pattern: '^[A-Za-z0-9_]+$', maxLength: 255 });
const CustomFieldBody = Type.Object({
  field_name: fieldName,
  field_type: choice('text', 'number', 'datetime-local'),
});

const RenamedBody = Type.Object({ id: identifier('The custom field.'), field_name: fieldName });

export const fieldRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock, wake }) => {
  const reservedFields = RESERVED_FIELDS.map((field_name, at) => ({
    id: at + 1,
    user_id: null,
    field_name,
    field_type: 'text' as const,
    is_reserved: 1 as const,
    created_at: null,
    updated_at: null,
  }));

  app.get(
    '/reserve-fields',
    {
      schema: {
        tags,
        summary: 'List the fields every contact has',
        response: successWith({ reservedFields: Type.Array(FieldDefinition) }),
      },
    },
    async () => ({ status: 'success' as const, message: { reservedFields } }),
  );

  const record = recordObject(FieldDefinition, customFields, { is_reserved: sql`0` });
  app.get(
    '/custom-fields',
    {
      schema: {
        tags,
        summary: 'List your own fields',
        querystring: listQuery,
        response: successWith({ customFields: Type.Array(FieldDefinition) }),
      },
    },
    (request, reply) => {
      const where = ownedBy(customFields, request.accountId);
      const source = { record, from: sql`${customFields}`, where, id: customFields.id };
      sendList(reply, db, 'customFields', source, request.query);
    },
  );

  /** Whether a built-in field or another one of the account than `id` has this name. */
  const isTaken = (name: string, accountId: number, id?: number) => {
    const sameName = sql`lower(${customFields.field_name}) = ${name.toLowerCase()}`;
    const found = db
      .select({ id: customFields.id })
      .from(customFields)
      .where(and(eq(customFields.user_id, accountId), sameName))
      .get();
    return isReservedName(name) || (found !== undefined && found.id !== id);
  };
  /** Has segments with a rule about a deleted field of this name use the one that has it now; gives their ids. Call inside a transaction. */
  const reviveRules = (accountId: number, field_name: string): number[] => {
    const ids = reviveSegments(db, accountId, { field_name });
    markForRecompute(db, sql`id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`);
    return ids;
  };

  app.post(
    '/custom-fields/save',
    {
      schema: { tags, summary: 'Add a field of your own', body: CustomFieldBody, response: done },
      config: {
        check: check(CustomFieldBody, ({ field_name }, errors, { accountId }) => {
          if (field_name === undefined) return;
          const { fields } = db.get<{ fields: number }>(
            sql`SELECT count(*) AS fields FROM custom_fields WHERE user_id = ${accountId}`,
          );
          if (fields >= MAX_FIELDS)
            errors.add('field_name', `An account may not have more than ${MAX_FIELDS} custom fields.`);
          if (isTaken(field_name, accountId)) errors.add('field_name', messages.taken('field_name'));
        }),
      },
    },
    async (request) => {
      const now = isoTimestamp(clock.now());
      const revived = db.transaction(
        (tx) => {
          tx.insert(customFields)
            .values({ ...request.body, user_id: request.accountId, created_at: now, updated_at: now })
            .run();
          return reviveRules(request.accountId, request.body.field_name);
        },
        { behavior: 'immediate' },
      );
      await recomputeSoon(db, revived, clock);
      wake();
      return { status: 'success' as const, message: 'Added Successfully' };
    },
  );

  app.post(
    '/custom-fields/update',
    {
      schema: {
        tags,
        summary: 'Rename a field of your own (addition)',
        description:
          'Refused with 409 while single sends that are not finished, automations, templates or saved blocks have its placeholder, or segments a rule about it. The values stay; mails that were sent no longer show them in the browser.',
        body: RenamedBody,
        response: done,
      },
      config: {
        check: check(RenamedBody, ({ id, field_name }, errors, { accountId }) => {
          if (field_name !== undefined && isTaken(field_name, accountId, recordId(id)))
            errors.add('field_name', messages.taken('field_name'));
        }),
      },
    },
    async ({ accountId, body: { id: given, field_name } }) => {
      const id = recordId(given);
      const requireField = () => {
        const field = db
          .select()
          .from(customFields)
          .where(ownedRecord(customFields, id, accountId))
          .get();
        if (field === undefined) throw notFound();
        return field;
      };
      const before = requireField().field_name;
      if (before === field_name) return { status: 'success' as const, message: 'Updated Successfully' };
      const placeholders = await countPlaceholderUses(db.$client, accountId, before);
      const updated_at = isoTimestamp(clock.now());
      const revived = db.transaction(
        (tx) => {
          if (requireField().field_name !== before) throw conflict(SENTENCES.changed_meanwhile);
          const uses = { ...placeholders, segments: segmentsWithField(db, accountId, id).length };
          if (Object.values(uses).some((count) => count > 0)) throw conflict(sentence('field_used', uses));
          if (isTaken(field_name, accountId, id)) throw invalid('field_name', messages.taken('field_name'));
          tx.update(customFields).set({ field_name, updated_at }).where(eq(customFields.id, id)).run();
          return reviveRules(accountId, field_name);
        },
        { behavior: 'immediate' },
      );
      await recomputeSoon(db, revived, clock);
      wake();
      return { status: 'success' as const, message: 'Updated Successfully' };
    },
  );

  // The stored values are keyed by the field's id, which is never reused, so deleting the field makes them unreachable. Segments whose
  // rules use the field keep their recipients.
  app.delete(
    '/custom-fields/delete',
    {
      schema: {
        tags,
        summary: 'Delete a field of your own',
        querystring: Type.Object({ id: identifier('The custom field.') }),
        response: done,
      },
    },
    async (request) => {
      const id = recordId(request.query.id);
      const now = isoTimestamp(clock.now());
      db.transaction(
        (tx) => {
          const { changes } = tx
            .delete(customFields)
            .where(ownedRecord(customFields, id, request.accountId))
            .run();
          if (changes === 0) throw notFound();
          holdCampaignsUsingSegments(db, segmentsWithField(db, request.accountId, id), now);
        },
        { behavior: 'immediate' },
      );
      wake();
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );

  app.get(
    '/get-dynamic/content',
    {
      schema: {
        tags: ['Templates'],
        summary: 'List the placeholders a mail can contain',
        response: successWith({ contents: Type.Array(Type.String()) }),
      },
    },
    async (request) => {
      const builtIn = db
        .select({ name: dynamicContents.name })
        .from(dynamicContents)
        .orderBy(asc(dynamicContents.id))
        .all();
      const own = listCustomFields(db, request.accountId).map((field) => field.field_name);
      const contents = [...new Set([...builtIn.map((content) => content.name), ...own])];
      return { status: 'success' as const, message: { contents } };
    },
  );
};
