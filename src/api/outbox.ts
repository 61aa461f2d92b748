/** The built-in outbox (addition): the mails that are kept because no relay is configured. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { and, eq, sql } from 'drizzle-orm';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { parseAddress } from '../audience/contacts/addresses.ts';
import { fold } from '../database/fold.ts';
import { ownedBy, ownedRecord } from '../database/ownership.ts';
import { readRecord, recordObject } from '../database/record-json.ts';
import { addresses, deliveries, mailings, outbox } from '../database/schema/index.ts';
import { HIDDEN, withoutTokens } from '../delivery/links/hidden-links.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import { changesNothing } from '../http/callers.ts';
import { sendList, sendRecord } from '../http/list-response.ts';
import {
  eitherOrderQuery,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  nullable,
  successWith,
} from '../http/requests/schemas.ts';

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

/** The envelope sender without the signature with which anybody could report a bounce of the recipient. */
const unsignedReturnPath = sql`iif(instr(${outbox.envelope_from}, '+') = 0, ${outbox.envelope_from},
  substr(${outbox.envelope_from}, 1, instr(${outbox.envelope_from}, '+')) || ${HIDDEN} || substr(${outbox.envelope_from}, instr(${outbox.envelope_from}, '@')))`;

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

  /** What a request's mails show instead of their columns: to whoever may only look, nothing by which they could act for a recipient. */
  const hiddenFrom = (request: FastifyRequest) =>
    changesNothing(request) ? { envelope_from: unsignedReturnPath } : {};

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
      const record = recordObject(OutboxMail, outbox, hiddenFrom(request));
      sendList(reply, db, 'mails', { record, from, where, id: outbox.id }, request.query);
    },
  );

  app.get(
    '/outbox/details',
    {
      schema: {
        tags,
        summary: 'Read a mail in the built-in outbox',
        description: 'A user who may only look gets it without the tokens in its links, which act for its recipient.',
        querystring: Type.Object({ id: identifier('The mail.') }),
        response: successWith({ mail: WholeMail }),
      },
    },
    (request, reply) => {
      const where = ownedRecord(outbox, request.query.id, request.accountId);
      const raw = sql<string>`CAST(${outbox.raw} AS TEXT)`;
      const mail = db
        .select({ mailing: outbox.mailing_id, to: outbox.envelope_to, raw })
        .from(outbox)
        .where(where)
        .get();
      if (mail === undefined) throw notFound();
      const isHidden = changesNothing(request);
      const record = recordObject(WholeMail, outbox, {
        raw: isHidden ? sql`${withoutTokens(mail.raw)}` : raw,
        web_copy: sql`${isHidden ? null : findWebCopyUrl(mail)}`,
        ...hiddenFrom(request),
      });
      sendRecord(reply, 'mail', readRecord(db, record, from, where) ?? '');
    },
  );
};
