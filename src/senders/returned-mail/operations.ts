/**
 * Returned mail (additions): the URLs at which mail providers report bounces, complaints and unsubscribes, and mail to the feedback-loop,
 * abuse and postmaster addresses that matches no mail of ours.
 */
import { asc, desc } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { ownedBy, ownedRecord, recordId } from '../../database/ownership.ts';
import { MAIL_PROVIDERS, providerIntakes, REFUSALS, ROLE_MAILBOXES, roleMails } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { removeRoleMail } from '../../delivery/feedback/bounces/kept-mails.ts';
import { removeIntake, storeIntake } from '../../delivery/feedback/providers/intakes.ts';
import { findVerificationKey } from '../../delivery/feedback/providers/sendgrid.ts';
import { conflict, notFound } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import { sentence } from '../../errors/sentences.ts';
import {
  choice,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  nullable,
  zeroOrOne,
} from '../../http/requests/schemas.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { auditBy } from '../../users/audit.ts';

const MAX_INTAKES = 20;

const provider = { ...choice(...MAIL_PROVIDERS), description: 'The mail provider; ses: Amazon SES.' };

const Intake = Type.Object({
  id: integer(),
  provider,
  url: Type.String({
    description: 'The URL to give to the provider. A program that knows this URL can report events.',
  }),
  has_secret: zeroOrOne('1: a key or password is stored.'),
  topic: nullable(Type.String(), 'Amazon SNS: the topic that was confirmed, the only one accepted.'),
  permanent: integer({ description: 'Bounces of unusable addresses, which are suppressed.' }),
  returned: integer({ description: 'Bounces for other reasons, whose addresses are not suppressed.' }),
  temporary: integer({ description: 'Delays and other temporary events, which change nothing.' }),
  complaints: integer({ description: 'Complaints: the addresses are suppressed.' }),
  unsubscribes: integer({
    description: 'The number of contacts who unsubscribed at the provider. They are unsubscribed from all mail.',
  }),
  others: integer({ description: 'Events of other kinds, which change nothing.' }),
  unmatched: integer({ description: 'Events about addresses and e-mails that this account does not know.' }),
  duplicates: integer({ description: 'Events that were known already.' }),
  last_event: nullable(Type.String(), "The provider's name for the last event."),
  last_event_at: nullable(isoTimestampSchema(), 'When the last event arrived, UTC; null: none has arrived.'),
  refused: integer({ description: 'Requests to this URL that were refused.' }),
  last_refusal: nullable(choice(...REFUSALS), 'Why a request was last refused; null: none was.'),
  last_refused_at: nullable(isoTimestampSchema(), 'When a request was last refused, UTC; null: none was.'),
  created_at: isoTimestampSchema(),
});

const RoleMail = Type.Object({
  id: integer(),
  mailbox: { ...choice(...ROLE_MAILBOXES), description: 'The address that the e-mail came to, without the domain.' },
  sender: Type.String({ description: 'The sender that the e-mail names, which can be forged.' }),
  subject: Type.String(),
  text: Type.String({ description: 'The beginning of the e-mail as plain text.' }),
  created_at: isoTimestampSchema(),
});

const RoleMails = Type.Object({
  addresses: Type.Array(Type.String(), {
    description:
      'The addresses that receive such mail, that for feedback loops first; empty if BOUNCE_LISTEN is not set.',
  }),
  mails: Type.Array(RoleMail, { description: 'Newest first.' }),
});

export type Intake = Static<typeof Intake>;
export type RoleMails = Static<typeof RoleMails>;

export const listIntakes = operation({
  name: 'List the addresses at which mail providers report events (addition)',
  role: 'owner',
  input: Type.Object({}),
  output: Type.Object({ intakes: Type.Array(Intake, { description: 'One for each URL, oldest first.' }) }),
  run(context): { intakes: Intake[] } {
    const { db, accountId } = context;
    const where = ownedBy(providerIntakes, accountId);
    const rows = db.select().from(providerIntakes).where(where).orderBy(asc(providerIntakes.id)).all();
    const intakes = rows.map(({ sealed_secret: sealed, user_id: _account, remembered: _remembered, ...row }) => ({
      ...row,
      url: urlOf(context, row.provider, row.id),
      has_secret: sealed === null ? (0 as const) : (1 as const),
    }));
    return { intakes };
  },
});

export const addIntake = operation({
  name: 'Make an address at which a mail provider reports events (addition)',
  role: 'owner',
  input: Type.Object({
    provider,
    secret: Type.Optional(
      line({
        description:
          'mailgun: the HTTP webhook signing key; sendgrid: the verification key; postmark, brevo, sparkpost: a password that requests must have, if any. The secret is never returned.',
      }),
    ),
  }),
  output: Type.Object({ id: integer(), url: Type.String({ description: 'The address to give to the provider.' }) }),
  check(_context, { provider, secret = '' }, errors) {
    if ((provider === 'mailgun' || provider === 'sendgrid') && secret === '')
      errors.add('secret', messages.required('secret'));
    else if (provider === 'sendgrid' && findVerificationKey(secret) === null)
      errors.add('secret', sentence('provider_key_unreadable'));
    else if (provider === 'ses' && secret !== '') errors.add('secret', sentence('provider_key_none'));
  },
  run(context, { provider, secret = '' }) {
    const { db, clock, accountId } = context;
    const id = inTransaction(db, () => {
      const intakes = db.select().from(providerIntakes).where(ownedBy(providerIntakes, accountId)).all();
      if (intakes.length >= MAX_INTAKES) throw conflict(sentence('providers_many', { count: MAX_INTAKES }));
      auditBy(context, 'provider_added', provider);
      return storeIntake(db.$client, { accountId, provider, secret: secret || null }, clock.now());
    });
    return { id, url: urlOf(context, provider, id) };
  },
});

export const deleteIntake = operation({
  name: 'Delete an address at which a mail provider reports events (addition)',
  description: 'Requests to the address are answered with 404 from then on. Events that it has recorded stay.',
  role: 'owner',
  input: Type.Object({ id: identifier('The address.') }),
  run(context, { id }) {
    const { db, accountId } = context;
    inTransaction(db, () => {
      const where = ownedRecord(providerIntakes, id, accountId);
      const intake = db.select().from(providerIntakes).where(where).get();
      if (intake === undefined) throw notFound();
      removeIntake(db.$client, intake.id);
      auditBy(context, 'provider_removed', intake.provider);
    });
  },
});

export const listRoleMails = operation({
  name: 'List the e-mail to fbl, abuse and postmaster that could not be matched to a sent e-mail (addition)',
  description: 'The newest 200 e-mails are kept.',
  role: 'owner',
  isForOperators: true,
  input: Type.Object({}),
  output: RoleMails,
  run({ db, config: { BOUNCE_LISTEN, BOUNCE_DOMAIN } }): RoleMails {
    return {
      addresses: BOUNCE_LISTEN === null ? [] : ROLE_MAILBOXES.map((name) => `${name}@${BOUNCE_DOMAIN}`),
      mails: db.select().from(roleMails).orderBy(desc(roleMails.id)).all(),
    };
  },
});

export const deleteRoleMail = operation({
  name: 'Delete an e-mail to fbl, abuse or postmaster (addition)',
  role: 'owner',
  isForOperators: true,
  input: Type.Object({ id: identifier('The e-mail.') }),
  run({ db }, { id }) {
    if (!removeRoleMail(db.$client, recordId(id))) throw notFound();
  },
});

/** Returns the URL at which a provider reports events. */
function urlOf({ tokens, publicUrl }: Context, provider: Intake['provider'], id: number): string {
  return `${publicUrl()}/hooks/in/${provider}/${tokens.sign('provider-events', String(id))}`;
}
