/** What the senders of an account still need for sending (additions): verification, and the DNS records of their domains; and what uses one. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { parseAddress } from '../audience/contacts/addresses.ts';
import { isoTimestamp } from '../clock.ts';
import { ownedBy, ownedRecord } from '../database/ownership.ts';
import { senders } from '../database/schema/index.ts';
import { stateName } from '../delivery/reporting/mailing-report.ts';
import { relaysInUse } from '../delivery/transport/relays/in-use.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import { checkDomains } from '../health-checks/dns/check-domains.ts';
import {
  DOMAIN_CHECKS,
  findDoctorFindings,
  findSeenDomain,
  recordSeenDomains,
} from '../health-checks/doctor-findings.ts';
import { isOperatorsSession } from '../http/callers.ts';
import {
  choice,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  nullable,
  successWith,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import { DKIM_KEY_STATES, useDkimKeys } from '../senders/dkim-keys.ts';
import { listSenderDomains, type SenderDomain, senderDomain } from '../senders/domains.ts';
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
const DkimKey = Type.Object({
  id: integer(),
  ...TxtRecord.properties,
  state: {
    ...choice(...DKIM_KEY_STATES),
    description: 'waiting: it signs once its record was seen in the DNS; former: it does not sign any more.',
  },
  is_published: {
    ...nullable(zeroOrOne()),
    description: 'Whether its record was seen; null when the DNS was not asked.',
  },
  created_at: isoTimestampSchema(),
});
const Domain = Type.Object({
  domain: Type.String({ description: 'Domain that senders write from.' }),
  return_path: Type.String({ description: 'Domain of the envelope sender, whose SPF record counts.' }),
  dkim: Type.Array(DkimKey, {
    description: 'The keys Sendlark has for this domain, with the record that publishes each; none: it does not sign.',
  }),
  may_sign: {
    ...zeroOrOne(),
    description: 'Whether you may make its first DKIM key: it has none, and a sender of it is verified.',
  },
  checked_at: {
    ...nullable(isoTimestampSchema()),
    description: 'When the DNS was last asked about the domain as it is now, UTC; null when it was not.',
  },
  checks: Type.Array(DnsCheck, { description: 'What the DNS then said; none when it was not asked.' }),
});
const Checks = successWith({
  verifications: Type.Array(SenderVerification, { description: 'The last verification mail of each sender.' }),
  domains: Type.Array(Domain, { description: 'The domains of the senders.' }),
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
  const asking = new Map<string, Promise<void>>();

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
    async (request) => ({ status: 'success' as const, message: read(request) }),
  );

  app.post(
    '/senders/checks/renew',
    {
      schema: {
        tags: ['Senders'],
        summary: 'Ask the DNS about the domains of all senders, or about one (addition)',
        description: `What the DNS has not answered after ${PATIENCE_MS / 1000} seconds counts as unanswered. A DKIM key whose record is seen signs from then on.`,
        body: Type.Object({ domain: Type.Optional(line({ description: 'Only this domain.' })) }),
        response: Checks,
      },
      config: { role: 'owner' },
    },
    async (request) => {
      const { accountId } = request;
      const domain = request.body?.domain;
      const domains = listSenderDomains(db, config, accountId).filter(
        (known) => domain === undefined || known.domain === domain,
      );
      if (domains.length === 0 && domain !== undefined) throw notFound();
      // Who asks while the DNS is being asked gets the same answers.
      const key = `${accountId} ${domain ?? ''}`;
      const asked = asking.get(key) ?? askDns(domains).finally(() => asking.delete(key));
      asking.set(key, asked);
      await asked;
      return { status: 'success' as const, message: read(request) };
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

  function read(request: FastifyRequest) {
    const { accountId } = request;
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
    const verified = new Set(rows.filter((row) => row.is_verified === 1).map((row) => senderDomain(row.from_email)));
    const isOperator = isOperatorsSession(request);
    const doctor = findDoctorFindings(db.$client);
    const domains = listSenderDomains(db, config, accountId).map((sender) => {
      const seen = findSeenDomain(doctor, sender);
      return {
        domain: sender.domain,
        return_path: sender.returnPath,
        dkim: sender.keys.map(({ id, name, value, state, created_at }) => {
          const published = seen?.findings?.flatMap((finding) => finding.published ?? []);
          const is_published = published === undefined ? null : Number(published.includes(name));
          return { id, name, value, state, is_published, created_at };
        }),
        may_sign: Number(sender.keys.length === 0 && (isOperator || verified.has(sender.domain))),
        checked_at: seen?.findings === undefined ? null : isoTimestamp(new Date(seen.at)),
        checks: (seen?.findings ?? []).flatMap(({ state, found, advice = [], record = null }, at) => {
          const name = DOMAIN_CHECKS[at];
          return name === undefined ? [] : [{ name, state, found, code: sentenceCode(found), advice, record }];
        }),
      };
    });
    return { verifications, domains };
  }

  /** Asks the DNS about domains, keeps the answers and uses the keys that are published now. Within the patience, whatever the DNS does. */
  async function askDns(domains: readonly SenderDomain[]): Promise<void> {
    const dns = resolver();
    const until = clock.monotonic() + PATIENCE_MS;
    // Later questions follow from earlier answers, so those are cancelled too.
    const timer = setInterval(() => clock.monotonic() > until && dns.cancel(), 250);
    try {
      const now = clock.now().getTime();
      const { seen } = await checkDomains(dns, domains, relaysInUse(db.$client, config), now);
      recordSeenDomains(db.$client, seen, now);
      const published = seen.flatMap(({ findings = [] }) => findings.flatMap((finding) => finding.published ?? []));
      const waiting = domains.flatMap(({ keys }) => keys.filter(({ state }) => state === 'waiting'));
      useDkimKeys(
        db,
        waiting.filter(({ name }) => published.includes(name)).map(({ id }) => id),
      );
    } finally {
      clearInterval(timer);
    }
  }
};
