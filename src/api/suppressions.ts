/** Bounces and complaints reported by other systems, and the suppressed addresses (additions). */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { and, sql } from 'drizzle-orm';
import Type from 'typebox';
import { addressId, isAddress } from '../audience/contacts/address-rows.ts';
import { parseAddress } from '../audience/contacts/addresses.ts';
import { isErased } from '../audience/contacts/erased.ts';
import { removeSuppression, suppressAddress } from '../audience/suppressions.ts';
import { isoTimestamp } from '../clock.ts';
import { ownedBy, requireOwnedIds } from '../database/ownership.ts';
import { recordObject } from '../database/record-json.ts';
import { addresses, suppressions } from '../database/schema/index.ts';
import { lastAccepted, recordBounce } from '../delivery/feedback/bounces/record.ts';
import { sanitizeText } from '../delivery/feedback/bounces/sanitize.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import { sendList } from '../http/list-response.ts';
import {
  addressListQuery,
  choice,
  done,
  email,
  identifier,
  integer,
  isoTimestampSchema,
  successWith,
  text,
} from '../http/requests/schemas.ts';

const tags = ['Bounces and suppressions'];

const Suppression = Type.Object({
  id: integer(),
  email_address: Type.String(),
  kind: choice('bounce', 'complaint'),
  diagnostic: Type.String(),
  created_at: isoTimestampSchema(),
});

const BounceBody = Type.Object({
  address: email(),
  kind: choice('bounce', 'complaint'),
  diagnostic: Type.Optional(text({ description: 'What the provider said.' })),
});

export const suppressionRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock }) => {
  app.post(
    '/bounces',
    {
      schema: {
        tags,
        summary: 'Record a bounce or a complaint',
        description: 'For what other systems learn about an address. It is suppressed: no more mail goes there.',
        body: BounceBody,
        response: done,
      },
    },
    async (request) => {
      const { address: given, kind } = request.body;
      const diagnostic = sanitizeText(request.body.diagnostic ?? '');
      const address = parseAddress(given);
      if (address === null) throw new Error('an invalid address passed the schema');
      const now = clock.now();
      const recorded = { status: 'success' as const, message: 'Recorded Successfully' };
      // No mail goes to an erased person anyway, and the report would name them again.
      if (isErased(db.$client, request.accountId, given)) return recorded;
      db.transaction(
        () => {
          const address_id = addressId(db, request.accountId, address);
          const deliveryId = lastAccepted(db.$client, request.accountId, address_id);
          if (deliveryId !== null) {
            recordBounce(db.$client, { deliveryId, kind, suppress: true, diagnostic }, now, isoTimestamp(now));
          }
          suppressAddress(db.$client, {
            user_id: request.accountId,
            address_id,
            kind,
            diagnostic,
            created_at: isoTimestamp(now),
          });
        },
        { behavior: 'immediate' },
      );
      return recorded;
    },
  );

  app.get(
    '/suppressions/list',
    {
      schema: {
        tags,
        summary: 'List the suppressed addresses',
        querystring: addressListQuery,
        response: successWith({ suppressions: Type.Array(Suppression) }),
      },
    },
    (request, reply) => {
      const record = recordObject(Suppression, suppressions, { email_address: sql`${addresses.normalized_email}` });
      const from = sql`${suppressions} CROSS JOIN ${addresses} ON ${addresses.id} = ${suppressions.address_id}`;
      const { accountId, query } = request;
      const where = and(ownedBy(suppressions, accountId), isAddress(suppressions.address_id, accountId, query.email));
      sendList(reply, db, 'suppressions', { record, from, where, id: suppressions.id }, query);
    },
  );

  app.delete(
    '/suppressions/delete',
    {
      schema: {
        tags,
        summary: 'Remove an address from the suppression list',
        querystring: Type.Object({ id: identifier('The suppression.') }),
        response: done,
      },
    },
    async (request) => {
      const [id] = await requireOwnedIds(
        db,
        suppressions,
        [request.query.id],
        ownedBy(suppressions, request.accountId),
        notFound(),
      );
      if (id !== undefined) removeSuppression(db.$client, id);
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );
};
