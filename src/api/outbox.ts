/** The built-in outbox (addition): the mails that are kept because no relay is configured. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { and, eq, sql } from 'drizzle-orm';
import Type from 'typebox';
import { parseAddress } from '../audience/contacts/addresses.ts';
import { fold } from '../database/fold.ts';
import { ownedBy, ownedRecord } from '../database/ownership.ts';
import { readRecord, recordObject } from '../database/record-json.ts';
import { addresses, deliveries, mailings, outbox } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import { sendList, sendRecord } from '../http/list-response.ts';
import {
  eitherOrderQuery,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  nullable,
  successWith,
} from '../http/schemas.ts';

const tags = ['Outbox'];

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

const OutboxQuery = Type.Object({
  ...eitherOrderQuery.properties,
  search: Type.Optional(line({ description: 'Only mails with this in their sender, recipient or subject.' })),
});

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
        email: addresses.normalized_email,
      })
      .from(deliveries)
      .innerJoin(mailings, eq(mailings.id, deliveries.mailing_id))
      .innerJoin(addresses, eq(addresses.id, deliveries.address_id))
      .where(
        and(
          eq(deliveries.mailing_id, mailing),
          eq(addresses.user_id, mailings.user_id),
          eq(addresses.normalized_email, parseAddress(to)?.normalized ?? ''),
        ),
      )
      .get();
    return ids === undefined ? null : `${publicUrl()}/w/${tokens.recipient(ids).web}`;
  }

  /** Whether a mail's sender, recipient or subject includes a text, regardless of case. */
  const includes = (search: string) =>
    sql`instr(fold(concat_ws(char(10), ${outbox.from}, ${outbox.to}, ${outbox.subject})), ${fold(search)}) > 0`;

  app.get(
    '/outbox/list',
    {
      schema: {
        tags,
        summary: 'List the mails in the built-in outbox',
        description: 'Without a relay, mails are kept here instead of being sent.',
        querystring: OutboxQuery,
        response: successWith({ mails: Type.Array(OutboxMail) }),
      },
    },
    (request, reply) => {
      const { search } = request.query;
      const where = and(ownedBy(outbox, request.accountId), search ? includes(search) : undefined);
      sendList(
        reply,
        db,
        'mails',
        { record: recordObject(OutboxMail, outbox), from, where, id: outbox.id },
        request.query,
      );
    },
  );

  app.get(
    '/outbox/details',
    {
      schema: {
        tags,
        summary: 'Read a mail in the built-in outbox',
        querystring: Type.Object({ id: identifier('The mail.') }),
        response: successWith({ mail: WholeMail }),
      },
    },
    (request, reply) => {
      const where = ownedRecord(outbox, request.query.id, request.accountId);
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
