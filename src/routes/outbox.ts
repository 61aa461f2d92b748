/** The built-in outbox (additions, decisions §4): what would have left the machine. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { sql } from 'drizzle-orm';
import Type from 'typebox';
import { ownedBy, ownedRecord } from '../database/owned.ts';
import { outbox } from '../database/schema.ts';
import { readRecord, wireObject } from '../database/wire.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import { sendList, sendRecord } from '../plugins/lists.ts';
import { carrying, identifier, integer, listQuery, wireTimestamp } from '../schemas.ts';

const OutboxMail = Type.Object({
  id: integer(),
  envelope_from: Type.String(),
  envelope_to: Type.String(),
  subject: Type.String(),
  created_at: wireTimestamp(),
});
const WholeMail = Type.Object({ ...OutboxMail.properties, raw: Type.String() });

export const outboxRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db }) => {
  const from = sql`${outbox}`;

  app.get(
    '/outbox/list',
    { schema: { querystring: listQuery, response: carrying({ mails: Type.Array(OutboxMail) }) } },
    (request, reply) => {
      const source = {
        record: wireObject(OutboxMail, outbox),
        from,
        where: ownedBy(outbox, request.userId),
        id: outbox.id,
      };
      sendList(reply, db, 'mails', source, request.query);
    },
  );

  app.get(
    '/outbox/details',
    {
      schema: { querystring: Type.Object({ id: identifier('The mail.') }), response: carrying({ mail: WholeMail }) },
    },
    (request, reply) => {
      const record = wireObject(WholeMail, outbox, { raw: sql`CAST(${outbox.raw} AS TEXT)` });
      const json = readRecord(db, record, from, ownedRecord(outbox, request.query.id, request.userId));
      if (json === undefined) throw notFound();
      sendRecord(reply, 'mail', json);
    },
  );
};
