/** The addresses at which mail providers report bounces, complaints and unsubscribes (addition): list, make, delete. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { asc, count } from 'drizzle-orm';
import Type from 'typebox';
import { ownedBy, ownedRecord } from '../database/ownership.ts';
import { MAIL_PROVIDERS, providerIntakes } from '../database/schema/index.ts';
import { addIntake, removeIntake } from '../delivery/feedback/providers/intakes.ts';
import { REFUSALS } from '../delivery/feedback/providers/provider-event.ts';
import { findVerificationKey } from '../delivery/feedback/providers/sendgrid.ts';
import type { Deps } from '../deps.ts';
import { conflict, notFound } from '../failure.ts';
import { messages } from '../field-errors.ts';
import {
  choice,
  done,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  nullable,
  successWith,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import { check } from '../http/requests/validation.ts';
import { SENTENCES, sentence } from '../sentences.ts';
import { audit } from '../users/audit.ts';

const MOST = 20;

const Intake = Type.Object({
  id: integer(),
  provider: { ...choice(...MAIL_PROVIDERS), description: 'The mail provider; ses: Amazon SES.' },
  url: Type.String({ description: 'The address to give to the provider. Whoever knows it can report events.' }),
  has_secret: { ...zeroOrOne(), description: '1: a key or password is stored.' },
  topic: {
    ...nullable(Type.String()),
    description: 'Amazon SNS: the topic that was confirmed, the only one accepted.',
  },
  permanent: integer({ description: 'Events of addresses that are unusable: bounced and suppressed.' }),
  returned: integer({ description: 'Mails that did not arrive for another reason: bounced, not suppressed.' }),
  temporary: integer({ description: 'Delays and the like, which change nothing.' }),
  complaints: integer({ description: 'Complaints: suppressed.' }),
  unsubscribes: integer({ description: 'People who unsubscribed at the provider: unsubscribed from all mail.' }),
  others: integer({ description: 'Events of other kinds, which change nothing.' }),
  unmatched: integer({ description: 'Events about addresses and mails that are not of this account.' }),
  duplicates: integer({ description: 'Events that were known already.' }),
  last_event: { ...nullable(Type.String()), description: "The provider's name of the last event." },
  last_event_at: { ...nullable(isoTimestampSchema()), description: 'When it arrived.' },
  refused: integer({ description: 'Requests with this address that were refused.' }),
  last_refusal: { ...nullable(choice(...REFUSALS)), description: 'Why the last one was.' },
  last_refused_at: { ...nullable(isoTimestampSchema()), description: 'When the last one was.' },
  created_at: isoTimestampSchema(),
});

const CreateBody = Type.Object({
  provider: { ...choice(...MAIL_PROVIDERS), description: 'The mail provider; ses: Amazon SES.' },
  secret: Type.Optional(
    line({
      description:
        'mailgun: the HTTP webhook signing key; sendgrid: the verification key; postmark, brevo, sparkpost: a password, if one is to be asked for. It is never given back.',
    }),
  ),
});

const tags = ['Bounces and suppressions'];

export const providerEventRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock, tokens, publicUrl }) => {
  const config = { role: 'owner' } as const;
  const urlOf = (provider: string, id: number) =>
    `${publicUrl()}/hooks/in/${provider}/${tokens.sign('provider-events', String(id))}`;

  app.get(
    '/provider-events',
    {
      schema: {
        tags,
        summary: 'List the addresses at which mail providers report events (addition)',
        response: successWith({ intakes: Type.Array(Intake, { description: 'One address each, oldest first.' }) }),
      },
      config,
    },
    async (request) => {
      const rows = db
        .select()
        .from(providerIntakes)
        .where(ownedBy(providerIntakes, request.accountId))
        .orderBy(asc(providerIntakes.id))
        .all();
      const intakes = rows.map(({ sealed_secret: sealed, user_id: _account, remembered: _remembered, ...row }) => ({
        ...row,
        url: urlOf(row.provider, row.id),
        has_secret: sealed === null ? (0 as const) : (1 as const),
      }));
      return { status: 'success' as const, message: { intakes } };
    },
  );

  app.post(
    '/provider-events/create',
    {
      schema: {
        tags,
        summary: 'Make an address at which a mail provider reports events (addition)',
        body: CreateBody,
        response: successWith({ id: integer(), url: Type.String() }),
      },
      config: {
        ...config,
        check: check(CreateBody, ({ provider, secret = '' }, errors) => {
          if ((provider === 'mailgun' || provider === 'sendgrid') && secret === '')
            errors.add('secret', messages.required('secret'));
          else if (provider === 'sendgrid' && findVerificationKey(secret) === null)
            errors.add('secret', SENTENCES.provider_key_unreadable);
          else if (provider === 'ses' && secret !== '') errors.add('secret', SENTENCES.provider_key_none);
        }),
      },
    },
    async ({ body: { provider, secret = '' }, accountId, actor }) => {
      const id = db.transaction(
        (tx) => {
          const own = tx
            .select({ count: count() })
            .from(providerIntakes)
            .where(ownedBy(providerIntakes, accountId))
            .get();
          if ((own?.count ?? 0) >= MOST) throw conflict(sentence('providers_many', { count: MOST }));
          audit(db, { accountId, actor, action: 'provider_added', subject: provider }, clock.now());
          return addIntake(db.$client, { accountId, provider, secret: secret || null }, clock.now());
        },
        { behavior: 'immediate' },
      );
      return { status: 'success' as const, message: { id, url: urlOf(provider, id) } };
    },
  );

  app.delete(
    '/provider-events/delete',
    {
      schema: {
        tags,
        summary: 'Delete an address at which a mail provider reports events (addition)',
        description: 'Requests to it are answered 404 from then on. What it recorded stays.',
        querystring: Type.Object({ id: identifier('The address.') }),
        response: done,
      },
      config,
    },
    async ({ query, accountId, actor }) => {
      db.transaction(
        (tx) => {
          const intake = tx
            .select({ id: providerIntakes.id, provider: providerIntakes.provider })
            .from(providerIntakes)
            .where(ownedRecord(providerIntakes, query.id, accountId))
            .get();
          if (intake === undefined) throw notFound();
          removeIntake(db.$client, intake.id);
          audit(db, { accountId, actor, action: 'provider_removed', subject: intake.provider }, clock.now());
        },
        { behavior: 'immediate' },
      );
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );
};
