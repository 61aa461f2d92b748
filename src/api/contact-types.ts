/** Contact types: named lists of contacts. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { sql } from 'drizzle-orm';
import Type from 'typebox';
import { markForRecompute, recomputeSoon } from '../audience/segments/recompute.ts';
import { isoTimestamp } from '../clock.ts';
import { ownedBy, ownedRecord, recordId } from '../database/ownership.ts';
import { readRecord, recordObject } from '../database/record-json.ts';
import { contactTypes } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import { sendList, sendRecord } from '../http/list-response.ts';
import {
  done,
  doneInErrors,
  identifier,
  integer,
  line,
  listQuery,
  softStamps,
  successWith,
} from '../http/requests/schemas.ts';
import { holdCampaignsUsingTarget } from '../senders/hold-campaigns.ts';

const tags = ['Contact types'];

export const ContactType = Type.Object({
  id: integer(),
  user_id: integer(),
  name: Type.String(),
  ...softStamps,
});
const ListedContactType = Type.Object({ ...ContactType.properties, contacts_count: integer() });
const Name = line({ minLength: 2 });
const ById = Type.Object({ contact_type_id: identifier('The contact type.') });

export const contactTypeRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock, wake }) => {
  const record = recordObject(ContactType, contactTypes);
  const listed = recordObject(ListedContactType, contactTypes);
  const from = sql`${contactTypes}`;

  const insertion = db
    .insert(contactTypes)
    .values({
      user_id: sql.placeholder('user_id'),
      name: sql.placeholder('name'),
      created_at: sql.placeholder('now'),
      updated_at: sql.placeholder('now'),
    })
    .returning({ id: contactTypes.id })
    .prepare();

  app.get(
    '/contacts-type',
    {
      schema: {
        tags,
        summary: 'List the contact types',
        querystring: listQuery,
        response: successWith({ contactTypes: Type.Array(ListedContactType) }),
      },
    },
    (request, reply) => {
      const where = ownedBy(contactTypes, request.accountId);
      sendList(reply, db, 'contactTypes', { record: listed, from, where, id: contactTypes.id }, request.query);
    },
  );

  app.post(
    '/contacts-type/add',
    { schema: { tags, summary: 'Add a contact type', body: Type.Object({ name: Name }), response: done } },
    async (request, reply) => {
      const now = isoTimestamp(clock.now());
      const { id } = insertion.get({ user_id: request.accountId, name: request.body.name, now });
      reply.header('location', `/api/contacts-type/view?contact_type_id=${id}`);
      return { status: 'success' as const, message: 'Added Successfully' };
    },
  );

  app.get(
    '/contacts-type/view',
    {
      schema: {
        tags,
        summary: 'Read a contact type',
        querystring: ById,
        response: successWith({ contactType: ContactType }),
      },
    },
    (request, reply) => {
      const where = ownedRecord(contactTypes, request.query.contact_type_id, request.accountId);
      const json = readRecord(db, record, from, where);
      if (json === undefined) throw notFound();
      sendRecord(reply, 'contactType', json);
    },
  );

  app.post(
    '/contacts-type/update',
    {
      schema: {
        tags,
        summary: 'Rename a contact type',
        body: Type.Object({ id: identifier('The contact type.'), name: Name }),
        response: done,
      },
    },
    async (request) => {
      const { changes } = db
        .update(contactTypes)
        .set({ name: request.body.name, updated_at: isoTimestamp(clock.now()) })
        .where(ownedRecord(contactTypes, request.body.id, request.accountId))
        .run();
      if (changes === 0) throw notFound();
      return { status: 'success' as const, message: 'Updated Successfully' };
    },
  );

  // The contacts of a deleted type count as deleted: every query for contacts requires a type that is not deleted.
  app.delete(
    '/contacts-type/delete',
    {
      schema: {
        tags,
        summary: 'Delete a contact type',
        description:
          'Deletes its contacts too. A queued single send that names it is no longer queued, and a live automation becomes a draft. The confirmation is in errors, with the status success.',
        querystring: ById,
        response: doneInErrors,
      },
    },
    async (request) => {
      const id = recordId(request.query.contact_type_id);
      const now = isoTimestamp(clock.now());
      const affected = db.transaction(
        (tx) => {
          const { changes } = tx
            .update(contactTypes)
            .set({ deleted_at: now })
            .where(ownedRecord(contactTypes, id, request.accountId))
            .run();
          if (changes === 0) throw notFound();
          holdCampaignsUsingTarget(db, 'contacts', id, now);
          return markForRecompute(db, sql`contact_type_id = ${id}`);
        },
        { behavior: 'immediate' },
      );
      wake();
      await recomputeSoon(db, affected, clock);
      return { status: 'success' as const, errors: 'Deleted Successfully' };
    },
  );
};
