/** Senders and their verification. */
import { randomUUID } from 'node:crypto';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { eq, sql } from 'drizzle-orm';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { isoTimestamp, NO_TIME } from '../clock.ts';
import { ownedBy, ownedRecord } from '../database/ownership.ts';
import { readRecord, recordObject } from '../database/record-json.ts';
import { cities, countries, HELD_CODES, senders, states } from '../database/schema/index.ts';
import { waitForAcknowledgement } from '../delivery/queue/mailing-state.ts';
import { stateName } from '../delivery/reporting/mailing-report.ts';
import { countRelayChange } from '../delivery/transport/relays/changes.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import { isOperatorsSession } from '../http/callers.ts';
import { sendList, sendRecord } from '../http/list-response.ts';
import {
  choice,
  DeliveryState,
  done,
  doneInErrors,
  email,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  listQuery,
  nullable,
  optionalReference,
  reference,
  softStamps,
  successWith,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import { check } from '../http/requests/validation.ts';
import { chosenRelay } from '../senders/relay.ts';
import { findLastVerification, holdCampaignsUsingSender, sendVerification } from '../senders/senders.ts';
import { type AuditAction, audit } from '../users/audit.ts';

const tags = ['Senders'];

const Sender = Type.Object({
  id: integer(),
  user_id: integer(),
  from_name: Type.String(),
  from_email: Type.String(),
  reply_to_email: Type.String(),
  country_id: integer(),
  state_id: integer(),
  city_id: integer(),
  zip_code: Type.String(),
  company_address: Type.String(),
  company_address2: Type.String(),
  nickname: Type.String(),
  is_verified: zeroOrOne(),
  utr: Type.String(),
  send_at: Type.String(),
  ...softStamps,
});

/** Addition: the state of the verification mail, which the contract's record of a sender does not have. */
export const Verification = Type.Object({
  is_verified: zeroOrOne(),
  sent_at: nullable(isoTimestampSchema()),
  state: nullable(DeliveryState),
  attempts: integer(),
  reply: nullable(Type.String()),
  held_code: nullable(choice(...HELD_CODES)),
  held_reason: nullable(Type.String()),
});

const SenderBody = Type.Object({
  from_name: line(),
  from_email: email(),
  reply_to_email: email(),
  country_id: reference(),
  state_id: optionalReference(),
  city_id: optionalReference(),
  zip_code: Type.Optional(line()),
  company_address: line(),
  company_address2: Type.Optional(line()),
  nickname: line(),
  /** Addition. */
  relay_id: optionalReference(),
});
const SenderUpdateBody = Type.Object({ sender_id: identifier('The sender.'), ...SenderBody.properties });
const ById = Type.Object({ sender_id: identifier('The sender.') });

export const senderRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock, tokens, publicUrl, wake }) => {
  const record = recordObject(Sender, senders);
  const from = sql`${senders}`;
  const mail = { db, tokens, publicUrl };

  const recordInAudit = (
    { accountId, actor }: FastifyRequest,
    action: AuditAction,
    { from_email }: { from_email: string },
    now: Date,
  ) => audit(db, { accountId, actor, action, subject: from_email }, now);
  /** The sender of the caller's account with this id. Throws 404. */
  const requireSender = ({ accountId }: FastifyRequest, id: unknown) => {
    const sender = db
      .select()
      .from(senders)
      .where(ownedRecord(senders, id, accountId))
      .get();
    if (sender === undefined) throw notFound();
    return sender;
  };
  const exists = (table: typeof countries | typeof states | typeof cities, id: number) =>
    db.select({ id: table.id }).from(table).where(eq(table.id, id)).get() !== undefined;
  const checkPlaces = check(SenderBody, ({ country_id, state_id, city_id }, errors) => {
    if (country_id !== undefined) errors.reference('country_id', () => exists(countries, country_id));
    if (state_id) errors.reference('state_id', () => exists(states, state_id));
    if (city_id) errors.reference('city_id', () => exists(cities, city_id));
  });

  app.route({
    method: ['GET', 'POST'],
    url: '/senders',
    schema: {
      tags,
      summary: 'List the senders',
      response: successWith({ senders: Type.Array(Sender) }),
      querystring: listQuery,
    },
    config: { role: 'viewer' },
    handler: (request, reply) => {
      const source = { record, from, where: ownedBy(senders, request.accountId), id: senders.id };
      sendList(reply, db, 'senders', source, request.query);
    },
  });

  app.post(
    '/sender/save',
    {
      schema: {
        tags,
        summary: 'Add a sender and send its verification mail',
        description: 'The address is verified by the link in the mail.',
        body: SenderBody,
        response: done,
      },
      config: { check: checkPlaces, role: 'owner' },
    },
    async (request, reply) => {
      const { relay_id, ...given } = request.body;
      const now = clock.now();
      const stamp = isoTimestamp(now);
      const id = db.transaction(
        (tx) => {
          const sender = tx
            .insert(senders)
            .values({
              ...given,
              ...chosenRelay(db, relay_id, isOperatorsSession(request)),
              user_id: request.accountId,
              utr: randomUUID(),
              send_at: NO_TIME,
              created_at: stamp,
              updated_at: stamp,
            })
            .returning()
            .get();
          sendVerification(mail, sender, now);
          recordInAudit(request, 'sender_added', sender, now);
          return sender.id;
        },
        { behavior: 'immediate' },
      );
      wake();
      reply.header('location', `/api/sender/details?sender_id=${id}`);
      return { status: 'success' as const, message: 'Added Successfully' };
    },
  );

  app.get(
    '/sender/details',
    { schema: { tags, summary: 'Read a sender', querystring: ById, response: successWith({ sender: Sender }) } },
    (request, reply) => {
      const json = readRecord(db, record, from, ownedRecord(senders, request.query.sender_id, request.accountId));
      if (json === undefined) throw notFound();
      sendRecord(reply, 'sender', json);
    },
  );

  app.post(
    '/sender/update',
    {
      schema: {
        tags,
        summary: 'Change a sender',
        description: 'A new address has to be verified again.',
        body: SenderUpdateBody,
        response: done,
      },
      config: { check: checkPlaces, role: 'owner' },
    },
    async (request) => {
      const { sender_id, relay_id, ...given } = request.body;
      const now = clock.now();
      db.transaction(
        (tx) => {
          const before = requireSender(request, sender_id);
          const hasNewAddress = before.from_email !== given.from_email;
          const after = tx
            .update(senders)
            .set({
              ...given,
              ...chosenRelay(db, relay_id, isOperatorsSession(request)),
              ...(hasNewAddress && { is_verified: 0 }),
              updated_at: isoTimestamp(now),
            })
            .where(eq(senders.id, before.id))
            .returning()
            .get();
          if (before.relay_id !== after.relay_id) countRelayChange(db.$client);
          if (hasNewAddress) sendVerification(mail, after, now);
          recordInAudit(request, 'sender_changed', after, now);
        },
        { behavior: 'immediate' },
      );
      wake();
      return { status: 'success' as const, message: 'Updated Successfully' };
    },
  );

  app.delete(
    '/sender/delete',
    {
      schema: {
        tags,
        summary: 'Delete a sender',
        description: 'Nothing is sent from it any more. The confirmation is in errors, with the status success.',
        querystring: ById,
        response: doneInErrors,
      },
      config: { role: 'owner' },
    },
    async (request) => {
      const now = clock.now();
      const heldMailings = db.transaction(
        (tx) => {
          const sender = tx
            .update(senders)
            .set({ deleted_at: isoTimestamp(now) })
            .where(ownedRecord(senders, request.query.sender_id, request.accountId))
            .returning({ id: senders.id, from_email: senders.from_email })
            .get();
          if (sender === undefined) throw notFound();
          recordInAudit(request, 'sender_removed', sender, now);
          return holdCampaignsUsingSender(db, sender.id, isoTimestamp(now));
        },
        { behavior: 'immediate' },
      );
      wake();
      for (const id of heldMailings) await waitForAcknowledgement(db.$client, id);
      return { status: 'success' as const, errors: 'Deleted Successfully' };
    },
  );

  app.get(
    '/sender/report',
    {
      schema: {
        tags,
        summary: "Read the state of a sender's verification mail (addition)",
        querystring: ById,
        response: successWith({ report: Verification }),
      },
    },
    async (request) => {
      const sender = requireSender(request, request.query.sender_id);
      const none = { sent_at: null, attempts: 0, reply: null, held_code: null, held_reason: null };
      const { state, ...mail } = { ...none, ...findLastVerification(db, sender) };
      const report = { is_verified: sender.is_verified, ...mail, state: state === undefined ? null : stateName(state) };
      return { status: 'success' as const, message: { report } };
    },
  );

  app.get(
    '/sender/resend-mail',
    {
      schema: { tags, summary: 'Send the verification mail again', querystring: ById, response: done },
      config: { role: 'owner' },
    },
    async (request) => {
      db.transaction(() => sendVerification(mail, requireSender(request, request.query.sender_id), clock.now()), {
        behavior: 'immediate',
      });
      wake();
      return { status: 'success' as const, message: 'Verification Mail Send' };
    },
  );
};
