/** Bounces and complaints reported by other systems, and the suppressed addresses (additions). */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { sql } from 'drizzle-orm';
import Type from 'typebox';
import { addressId } from '../audience/contacts/address-rows.ts';
import { parseAddress } from '../audience/contacts/addresses.ts';
import { isoTimestamp } from '../clock.ts';
import { ownedBy, requireOwnedIds } from '../database/ownership.ts';
import { recordObject } from '../database/record-json.ts';
import { addresses, suppressions } from '../database/schema/index.ts';
import { lastAccepted, recordBounce, suppressAddress } from '../delivery/feedback/bounces/record.ts';
import { sanitizeText } from '../delivery/feedback/bounces/sanitize.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import { sendList } from '../http/list-response.ts';
import {
  choice,
  done,
  email,
  identifier,
  integer,
  isoTimestampSchema,
  listQuery,
  successWith,
  text,
} from '../http/schemas.ts';

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
  app.post('/bounces', { schema: { body: BounceBody, response: done } }, async (request) => {
    const { address: given, kind } = request.body;
    const diagnostic = sanitizeText(request.body.diagnostic ?? '');
    const address = parseAddress(given);
    if (address === null) throw new Error('an invalid address passed the schema');
    const now = clock.now();
    db.transaction(
      () => {
        const address_id = addressId(db, request.userId, address);
        const deliveryId = lastAccepted(db.$client, request.userId, address_id);
        if (deliveryId !== null) {
          recordBounce(db.$client, { deliveryId, kind, suppress: true, diagnostic }, now, isoTimestamp(now));
        }
        suppressAddress(db.$client, { user_id: request.userId, address_id, kind, diagnostic }, isoTimestamp(now));
      },
      { behavior: 'immediate' },
    );
    return { status: 'success' as const, message: 'Recorded Successfully' };
  });

  app.get(
    '/suppressions/list',
    { schema: { querystring: listQuery, response: successWith({ suppressions: Type.Array(Suppression) }) } },
    (request, reply) => {
      const record = recordObject(Suppression, suppressions, { email_address: sql`${addresses.compared_email}` });
      const from = sql`${suppressions} CROSS JOIN ${addresses} ON ${addresses.id} = ${suppressions.address_id}`;
      const source = { record, from, where: ownedBy(suppressions, request.userId), id: suppressions.id };
      sendList(reply, db, 'suppressions', source, request.query);
    },
  );

  app.delete(
    '/suppressions/delete',
    { schema: { querystring: Type.Object({ id: identifier('The suppression.') }), response: done } },
    async (request) => {
      const [id] = requireOwnedIds(
        db,
        suppressions,
        [request.query.id],
        ownedBy(suppressions, request.userId),
        notFound(),
      );
      db.run(sql`DELETE FROM suppressions WHERE id = ${id}`);
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );
};
