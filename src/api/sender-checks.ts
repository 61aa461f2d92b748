/** What the senders of an account still need for sending (additions): verification, and the DNS records of their domains; and what uses one. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { parseAddress } from '../audience/contacts/addresses.ts';
import { isoTimestamp } from '../clock.ts';
import { ownedBy, ownedRecord } from '../database/ownership.ts';
import { senders } from '../database/schema/index.ts';
import { stateName } from '../delivery/reporting/mailing-report.ts';
import { parseRelays } from '../delivery/transport/smtp/relay-urls.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import { checkDomains } from '../health-checks/dns/check-domains.ts';
import {
  DOMAIN_CHECKS,
  findDoctorFindings,
  findSeenDomain,
  recordSeenDomains,
} from '../health-checks/doctor-findings.ts';
import { choice, identifier, integer, isoTimestampSchema, nullable, successWith } from '../http/requests/schemas.ts';
import { listSenderDomains } from '../senders/domains.ts';
import { listLastVerifications, resendAllowedAt } from '../senders/senders.ts';
import { senderUsage } from '../senders/usage.ts';
import { sentenceCode } from '../sentences.ts';
import { Verification } from './senders.ts';

const SenderVerification = Type.Object({
  sender_id: integer({ description: 'Id of the sender.' }),
  ...Verification.properties,
  resend_at: {
    ...nullable(isoTimestampSchema()),
    description: 'When another verification mail may be sent, UTC; null when it may be sent now.',
  },
});
const TxtRecord = Type.Object({
  name: Type.String({ description: 'Name of the TXT record.' }),
  value: Type.String({ description: 'Value of that record.' }),
});
const DnsCheck = Type.Object({
  name: choice(...DOMAIN_CHECKS),
  state: {
    ...choice('ok', 'warn', 'fail'),
    description: 'warn: mail leaves, but something is weak; fail: receivers may refuse the mail.',
  },
  found: Type.String({ description: 'What was found.' }),
  code: nullable(Type.String({ description: 'What was found, for programs.' })),
  advice: Type.Array(Type.String(), { description: 'What to do, in lines.' }),
  record: { ...nullable(TxtRecord), description: 'The record to publish; null when there is none to add.' },
});
const SenderDomain = Type.Object({
  domain: Type.String({ description: 'Domain that senders write from.' }),
  return_path: Type.String({ description: 'Domain of the envelope sender, whose SPF record counts.' }),
  dkim: Type.Array(TxtRecord, {
    description: 'The records that publish the keys Sendlark signs with for this domain; none: it does not sign.',
  }),
  checked_at: {
    ...nullable(isoTimestampSchema()),
    description: 'When the DNS was last asked about the domain as it is now, UTC; null when it was not.',
  },
  checks: Type.Array(DnsCheck, { description: 'What the DNS then said; none when it was not asked.' }),
});
const Checks = successWith({
  verifications: Type.Array(SenderVerification, { description: 'The last verification mail of each sender.' }),
  domains: Type.Array(SenderDomain, { description: 'The domains of the senders.' }),
});
/** What deleting a sender stops. */
const Usage = Type.Object({
  queued: integer({ description: 'Single sends that wait for their time: they become drafts.' }),
  sending: integer({ description: 'Mailings that are being sent: they are held.' }),
  live_automations: integer({ description: 'Live automations with a mail from it: they become drafts.' }),
  drafts: integer({ description: 'Single sends that are drafts and name it: they need another sender.' }),
});
/** What the DNS has not answered by then counts as no answer. */
const PATIENCE_MS = 8000;

export const senderCheckRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, config, clock, resolver }) => {
  const relays = config.SMTP_URL === '' ? [] : parseRelays(config.SMTP_URL);
  const asking = new Map<number, Promise<void>>();

  app.get(
    '/senders/checks',
    {
      schema: {
        tags: ['Senders'],
        summary: 'Read the verification mails of all senders and the DKIM keys of their domains (addition)',
        description: 'It has what the DNS last said, and does not ask it.',
        response: Checks,
      },
      config: { role: 'owner' },
    },
    async ({ accountId }) => ({ status: 'success' as const, message: read(accountId) }),
  );

  app.post(
    '/senders/checks/renew',
    {
      schema: {
        tags: ['Senders'],
        summary: 'Ask the DNS about the domains of all senders (addition)',
        description: `What the DNS has not answered after ${PATIENCE_MS / 1000} seconds counts as unanswered.`,
        response: Checks,
      },
      config: { role: 'owner' },
    },
    async ({ accountId }) => {
      // Who asks while the DNS is being asked gets the same answers.
      const asked = asking.get(accountId) ?? askDns(accountId).finally(() => asking.delete(accountId));
      asking.set(accountId, asked);
      await asked;
      return { status: 'success' as const, message: read(accountId) };
    },
  );

  app.get(
    '/sender/usage',
    {
      schema: {
        tags: ['Senders'],
        summary: 'Read what deleting a sender stops (addition)',
        querystring: Type.Object({ sender_id: identifier('The sender.') }),
        response: successWith({ usage: Type.Object(Usage.properties, { description: 'What uses it.' }) }),
      },
      config: { role: 'viewer' },
    },
    async (request) => {
      const sender = db
        .select({ id: senders.id })
        .from(senders)
        .where(ownedRecord(senders, request.query.sender_id, request.accountId))
        .get();
      if (sender === undefined) throw notFound();
      return { status: 'success' as const, message: { usage: senderUsage(db.$client, request.accountId, sender.id) } };
    },
  );

  function read(accountId: number) {
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
    const doctor = findDoctorFindings(db.$client);
    const domains = listSenderDomains(db, config, accountId).map((sender) => {
      const seen = findSeenDomain(doctor, sender);
      return {
        domain: sender.domain,
        return_path: sender.returnPath,
        dkim: sender.keys.map(({ name, value }) => ({ name, value })),
        checked_at: seen?.findings === undefined ? null : isoTimestamp(new Date(seen.at)),
        checks: (seen?.findings ?? []).flatMap(({ state, found, advice = [], record = null }, at) => {
          const name = DOMAIN_CHECKS[at];
          return name === undefined ? [] : [{ name, state, found, code: sentenceCode(found), advice, record }];
        }),
      };
    });
    return { verifications, domains };
  }

  /** Asks the DNS about the domains of an account and keeps the answers. Within the patience, whatever the DNS does. */
  async function askDns(accountId: number): Promise<void> {
    const dns = resolver();
    const until = clock.monotonic() + PATIENCE_MS;
    // Later questions follow from earlier answers, so those are cancelled too.
    const timer = setInterval(() => clock.monotonic() > until && dns.cancel(), 250);
    try {
      const now = clock.now().getTime();
      const domains = listSenderDomains(db, config, accountId);
      const { seen } = await checkDomains(dns, domains, relays, now);
      recordSeenDomains(db.$client, seen, now);
    } finally {
      clearInterval(timer);
    }
  }
};
