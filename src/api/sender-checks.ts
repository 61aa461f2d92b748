/** What the senders of an account still need for sending (addition): verification, and DKIM keys for their domains. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { parseAddress } from '../audience/contacts/addresses.ts';
import { isoTimestamp } from '../clock.ts';
import { ownedBy } from '../database/ownership.ts';
import { senders } from '../database/schema/index.ts';
import { stateName } from '../delivery/reporting/mailing-report.ts';
import type { Deps } from '../deps.ts';
import { integer, isoTimestampSchema, nullable, successWith } from '../http/requests/schemas.ts';
import { listSenderDomains } from '../senders/domains.ts';
import { listLastVerifications, resendAllowedAt } from '../senders/senders.ts';
import { Verification } from './senders.ts';

const SenderVerification = Type.Object({
  sender_id: integer({ description: 'Id of the sender.' }),
  ...Verification.properties,
  resend_at: {
    ...nullable(isoTimestampSchema()),
    description: 'When another verification mail may be sent, UTC; null when it may be sent now.',
  },
});
const SenderDomain = Type.Object({
  domain: Type.String({ description: 'Domain that senders write from.' }),
  return_path: Type.String({ description: 'Domain of the envelope sender, whose SPF record counts.' }),
  dkim: Type.Array(
    Type.Object({
      name: Type.String({ description: 'Name of the TXT record that publishes the key.' }),
      value: Type.String({ description: 'Value of that record.' }),
    }),
    { description: 'The keys that Sendlark signs with for this domain; none: it does not sign.' },
  ),
});

export const senderCheckRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, config, clock }) => {
  app.get(
    '/senders/checks',
    {
      schema: {
        tags: ['Senders'],
        summary: 'Read the verification mails of all senders and the DKIM keys of their domains (addition)',
        description: 'The DNS is not asked: sendlark doctor says whether the keys are published.',
        response: successWith({
          verifications: Type.Array(SenderVerification, { description: 'The last verification mail of each sender.' }),
          domains: Type.Array(SenderDomain, { description: 'The domains of the senders.' }),
        }),
      },
      config: { role: 'owner' },
    },
    async ({ accountId }) => {
      const now = clock.now();
      const last = listLastVerifications(db, accountId);
      const rows = db.select().from(senders).where(ownedBy(senders, accountId)).orderBy(senders.id).all();
      const verifications = rows.map(({ id, from_email, is_verified }) => {
        const mail = last.get(parseAddress(from_email)?.normalized ?? '');
        const resendAt = resendAllowedAt(mail, now);
        return {
          sender_id: id,
          is_verified,
          sent_at: mail?.sent_at ?? null,
          state: mail === undefined ? null : stateName(mail.state),
          attempts: mail?.attempts ?? 0,
          reply: mail?.reply ?? null,
          held_code: mail?.held_code ?? null,
          held_reason: mail?.held_reason ?? null,
          resend_at: resendAt === null ? null : isoTimestamp(resendAt),
        };
      });
      const domains = listSenderDomains(db, config, accountId).map(({ domain, returnPath, keys }) => ({
        domain,
        return_path: returnPath,
        dkim: keys.map(({ name, value }) => ({ name, value })),
      }));
      return { status: 'success' as const, message: { verifications, domains } };
    },
  );
};
