/** Undoing an import, and reading whom the undo left as they were. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { eq, sql } from 'drizzle-orm';
import Type from 'typebox';
import { undoImport } from '../audience/import/undo/undo.ts';
import { isoTimestamp } from '../clock.ts';
import { ownedRecord, recordId } from '../database/ownership.ts';
import { recordObject } from '../database/record-json.ts';
import { contactImports, contacts, importKept } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import { sendList } from '../http/list-response.ts';
import { choice, done, identifier, integer, listQuery, nullable, successWith } from '../http/requests/schemas.ts';

const tags = ['Contacts'];

const ImportId = Type.Object({ id: identifier('The import.') });
const KeptContact = Type.Object({
  contact_id: integer(),
  email: nullable(Type.String()),
  reason: choice('changed', 'moved', 'deleted', 'segment'),
});

export const contactImportUndoRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock, wake }) => {
  app.post(
    '/contacts/imports/undo',
    {
      schema: {
        tags,
        summary: 'Take back what an import did, within 30 days (addition)',
        description:
          'The background does it; the details of the import tell how far it is. Contacts that the import added are removed, others get back what they had before. Who was changed since the import stays as they are, and is at `/contacts/imports/kept`.',
        body: ImportId,
        response: done,
      },
    },
    async (request) => {
      undoImport(db, request.accountId, recordId(request.body.id), isoTimestamp(clock.now()));
      wake();
      return { status: 'success' as const, message: 'Undoing' };
    },
  );

  const record = recordObject(KeptContact, importKept, { email: sql`${contacts.email}` });
  const from = sql`${importKept} LEFT JOIN ${contacts} ON ${contacts.id} = ${importKept.contact_id}`;

  app.get(
    '/contacts/imports/kept',
    {
      schema: {
        tags,
        summary: 'List the contacts that the undo of an import left as they were (addition)',
        description: 'For 30 days after the import.',
        querystring: Type.Object({ ...ImportId.properties, ...listQuery.properties }),
        response: successWith({ contacts: Type.Array(KeptContact) }),
      },
    },
    (request, reply) => {
      const owned = db
        .select({ id: contactImports.id })
        .from(contactImports)
        .where(ownedRecord(contactImports, request.query.id, request.accountId))
        .get();
      if (owned === undefined) throw notFound();
      const source = { record, from, where: eq(importKept.import_id, owned.id), id: importKept.contact_id };
      sendList(reply, db, 'contacts', source, request.query);
    },
  );
};
