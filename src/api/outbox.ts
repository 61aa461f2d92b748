/** The built-in outbox (addition): the mails that are kept because no relay is configured. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { and, eq, sql } from 'drizzle-orm';
import Type from 'typebox';
import { parseAddress } from '../audience/contacts/addresses.ts';
import { ownedBy, ownedRecord } from '../database/ownership.ts';
import { readRecord, recordObject } from '../database/record-json.ts';
import { addresses, deliveries, mailings, outbox } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import { sendList, sendRecord } from '../http/list-response.ts';
import { identifier, integer, isoTimestampSchema, listQuery, nullable, successWith } from '../http/schemas.ts';

const OutboxMail = Type.Object({
  id: integer(),
  envelope_from: Type.String(),
  envelope_to: Type.String(),
  from: Type.String(),
  to: Type.String(),
  subject: Type.String(),
  created_at: isoTimestampSchema(),
});
const WholeMail = Type.Object({ ...OutboxMail.properties, web_copy: nullable(Type.String()), raw: Type.String() });

export const outboxRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, tokens, publicUrl }) => {
  const from = sql`${outbox}`;

  /** The URL of a mail's web copy; null when its recipient is no longer in the database. */
  function findWebCopyUrl({ mailing, to }: { mailing: number; to: string }): string | null {
    const ids = db
      .select({
        delivery: deliveries.id,
        mailing: deliveries.mailing_id,
        address: deliveries.address_id,
        group: sql<number>`ifnull(${mailings.unsubscribe_group_id}, 0)`,
        user: mailings.user_id,
        email: addresses.compared_email,
      })
      .from(deliveries)
      .innerJoin(mailings, eq(mailings.id, deliveries.mailing_id))
      .innerJoin(addresses, eq(addresses.id, deliveries.address_id))
      .where(
        and(
          eq(deliveries.mailing_id, mailing),
          eq(addresses.user_id, mailings.user_id),
          eq(addresses.compared_email, parseAddress(to)?.normalized ?? ''),
        ),
      )
      .get();
    return ids === undefined ? null : `${publicUrl()}/w/${tokens.recipient(ids).web}`;
  }

  app.get(
    '/outbox/list',
    { schema: { querystring: listQuery, response: successWith({ mails: Type.Array(OutboxMail) }) } },
    (request, reply) => {
      const source = {
        record: recordObject(OutboxMail, outbox),
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
      schema: { querystring: Type.Object({ id: identifier('The mail.') }), response: successWith({ mail: WholeMail }) },
    },
    (request, reply) => {
      const where = ownedRecord(outbox, request.query.id, request.userId);
      const mail = db.select({ mailing: outbox.mailing_id, to: outbox.envelope_to }).from(outbox).where(where).get();
      if (mail === undefined) throw notFound();
      const record = recordObject(WholeMail, outbox, {
        raw: sql`CAST(${outbox.raw} AS TEXT)`,
        web_copy: sql`${findWebCopyUrl(mail)}`,
      });
      sendRecord(reply, 'mail', readRecord(db, record, from, where) ?? '');
    },
  );
};
