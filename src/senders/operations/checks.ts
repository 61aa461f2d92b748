/**
 * Operations that check what the senders of an account still need for sending (additions to the contract): verification, and
 * the DNS records of their domains.
 */
import { and, eq } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { parseAddress } from '../../audience/contacts/addresses.ts';
import { ownedBy } from '../../database/ownership.ts';
import { senders } from '../../database/schema/index.ts';
import { stateName } from '../../delivery/reporting/mailing-report.ts';
import { isTestMode, relaysInUse } from '../../delivery/transport/relays/in-use.ts';
import { notFound } from '../../errors/failure.ts';
import { codeOf } from '../../errors/stored.ts';
import {
  choice,
  findingFields,
  integer,
  isoTimestampSchema,
  line,
  nullable,
  zeroOrOne,
} from '../../http/requests/schemas.ts';
import {
  DOMAIN_CHECKS,
  findDoctorFindings,
  findSeenDomain,
  recordSeenDomains,
} from '../../installation/health-checks/doctor-findings.ts';
import { checkDomains } from '../../installation/health-checks/domain-authentication.ts';
import { readFinding } from '../../installation/health-checks/finding.ts';
import { lastDnsState } from '../../installation/health-checks/relays-and-domains.ts';
import { isOperatorsSession } from '../../operations/callers.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { HOUR_MS } from '../../units.ts';
import { activateDkimKeys, DKIM_KEY_STATES } from '../dkim-keys.ts';
import { listSenderDomains, type SenderDomain, senderDomain } from '../domains.ts';
import { listLastVerifications, resendAllowedAt } from '../verification.ts';
import { Verification } from './senders.ts';

const SenderVerification = Type.Object({
  sender_id: integer({ description: 'Id of the sender.' }),
  ...Verification.properties,
  resend_at: nullable(
    isoTimestampSchema(),
    'When another verification e-mail may be sent, UTC; null when it may be sent now.',
  ),
});
const TxtRecord = Type.Object({
  name: Type.String({ description: 'Name of the TXT record.' }),
  value: Type.String({ description: 'Value of that record.' }),
});
const DnsCheck = Type.Object({
  name: choice(...DOMAIN_CHECKS),
  state: {
    ...choice('ok', 'warn', 'fail'),
    description: 'warn: mail is sent, but something should be improved; fail: receivers may refuse the e-mail.',
  },
  ...findingFields,
  record: nullable(TxtRecord, 'The record to publish; null when there is none to add.'),
  is_waiting: zeroOrOne('1: the domain is new, and its record was not seen yet; the record may only need time.'),
});
const DkimKey = Type.Object({
  id: integer(),
  ...TxtRecord.properties,
  state: {
    ...choice(...DKIM_KEY_STATES),
    description: 'waiting: the key signs once its record is seen in the DNS; former: the key does not sign any more.',
  },
  is_published: nullable(zeroOrOne(), '1: the record of the key was seen in the DNS; null when the DNS was not asked.'),
  created_at: isoTimestampSchema(),
});
const Domain = Type.Object({
  domain: Type.String({ description: 'Domain that senders write from.' }),
  return_path: Type.String({ description: 'Domain of the envelope sender, whose SPF record counts.' }),
  dkim: Type.Array(DkimKey, {
    description:
      'The keys Sendlark has for this domain, with the record that publishes each; empty: Sendlark does not sign mail of this domain.',
  }),
  may_sign: zeroOrOne(
    '1: you may make the first DKIM key of this domain: the domain has no key, and you have a verified sender of the domain or are an operator.',
  ),
  checked_at: nullable(
    isoTimestampSchema(),
    'When the domain was last checked with its present settings, UTC; null: never.',
  ),
  checks: Type.Array(DnsCheck, { description: 'The results of the last check; empty if the DNS was not asked.' }),
});
const Checks = Type.Object({
  verifications: Type.Array(SenderVerification, { description: 'The last verification e-mail of each sender.' }),
  domains: Type.Array(Domain, { description: 'The domains of the senders.' }),
});

/** How long a check waits for the DNS; later answers count as no answer. */
const TIMEOUT_MS = 8000;
/** How often the queries are cancelled after that. */
const CANCEL_EVERY_MS = 250;

/** The running DNS checks by account and domain. Concurrent callers wait for the same check. */
const runningChecks = new WeakMap<Context['db'], Map<string, Promise<void>>>();

/** How long new records may take to be seen everywhere. */
const NEW_MS = 72 * HOUR_MS;

export type Checks = Static<typeof Checks>;
export type CheckedDomain = Static<typeof Domain>;
export type DnsCheck = Static<typeof DnsCheck>;
export type DkimKey = Static<typeof DkimKey>;
export type TxtRecord = Static<typeof TxtRecord>;

export const readChecks = operation({
  name: 'Read the verification e-mails of all senders and the DKIM keys of their domains (addition)',
  description: 'The answer has the result of the last DNS check and starts no new one.',
  role: 'owner',
  isReading: true,
  input: Type.Object({}),
  output: Checks,
  run: currentChecks,
});

export const renewChecks = operation({
  name: 'Check the DNS records of all sender domains, or of one (addition)',
  description: `A lookup without a result after ${TIMEOUT_MS / 1000} seconds counts as unanswered. A DKIM key whose record is found signs from then on.`,
  role: 'owner',
  input: Type.Object({ domain: Type.Optional(line({ description: 'Only this domain.' })) }),
  output: Checks,
  async run(context, { domain }) {
    const { db, config, accountId } = context;
    const domains = listSenderDomains(db, config, accountId).filter(
      (known) => domain === undefined || known.domain === domain,
    );
    if (domains.length === 0 && domain !== undefined) throw notFound();
    const running = runningChecks.get(db) ?? new Map<string, Promise<void>>();
    runningChecks.set(db, running);
    const key = `${accountId} ${domain ?? ''}`;
    const check = running.get(key) ?? askDns(context, domains).finally(() => running.delete(key));
    running.set(key, check);
    await check;
    return currentChecks(context);
  },
});

/** Used by the review of a campaign. It is null if nothing is known against the domain, or no mail leaves this machine. */
export const readDomainDoubt = operation({
  name: 'Read why mail providers may distrust the domain of a sender, by the last check of its DNS records',
  role: 'viewer',
  input: Type.Object({ sender_id: integer({ description: 'Id of the sender.' }) }),
  output: Type.Object({
    doubt: nullable(
      Type.Object({
        domain: Type.String(),
        checks: Type.Array(choice(...DOMAIN_CHECKS), {
          description: 'The checks that did not pass; empty if the domain was not checked with its present settings.',
        }),
      }),
    ),
  }),
  run({ db, config, accountId }, { sender_id }) {
    const sender = db
      .select({ from_email: senders.from_email })
      .from(senders)
      .where(and(ownedBy(senders, accountId), eq(senders.id, sender_id)))
      .get();
    if (sender === undefined || isTestMode(db.$client, config)) return { doubt: null };
    const { state, domain, checks } = lastDnsState(db, config, accountId, senderDomain(sender.from_email));
    // Without a DKIM key of the domain here, the SMTP server may still sign its mail.
    const isUnsignedOnly = state === 'weak' && checks.length === 1 && checks[0] === 'DKIM';
    const isTrusted = state === 'passed' || state === 'none' || isUnsignedOnly;
    return { doubt: domain === null || isTrusted ? null : { domain, checks } };
  },
});

/** Returns the verification mails and the results of the last DNS checks of an account's senders. */
function currentChecks(context: Context): Checks {
  const { db, config, clock, accountId } = context;
  const now = clock.now();
  const last = listLastVerifications(db, accountId);
  const rows = db.select().from(senders).where(ownedBy(senders, accountId)).orderBy(senders.id).all();
  const verifications = rows.map(({ id, from_email, is_verified }): Checks['verifications'][number] => {
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
  const isNew = (domain: string) =>
    rows
      .filter(({ from_email }) => senderDomain(from_email) === domain)
      .every(({ created_at }) => now.getTime() - Date.parse(created_at) < NEW_MS);
  const isOperator = isOperatorsSession(context);
  const doctor = findDoctorFindings(db.$client);
  const domains = listSenderDomains(db, config, accountId).map((domain): CheckedDomain => {
    const seen = findSeenDomain(doctor, domain);
    return {
      domain: domain.domain,
      return_path: domain.returnPath,
      dkim: domain.keys.map(({ id, name, value, state, created_at }): DkimKey => {
        if (seen?.findings === undefined) return { id, name, value, state, is_published: null, created_at };
        const isPublished = seen.findings.some(({ published = [] }) => published.includes(name));
        return { id, name, value, state, is_published: isPublished ? 1 : 0, created_at };
      }),
      may_sign: domain.keys.length === 0 && (isOperator || verified.has(domain.domain)) ? 1 : 0,
      checked_at: seen?.findings === undefined ? null : isoTimestamp(new Date(seen.at)),
      checks: (seen?.findings ?? []).map(readFinding).flatMap(({ state, found, advice = [], record = null }, at) => {
        const name = DOMAIN_CHECKS[at];
        if (name === undefined) return [];
        // Alignment has no record of its own: while SPF and DKIM do not fail, it passes once a record of theirs is found.
        const isMissing = state === 'warn' && (record !== null || name === 'Alignment');
        const is_waiting = isMissing && isNew(domain.domain) ? 1 : 0;
        return [{ name, state, found, code: codeOf(found), advice, record, is_waiting }];
      }),
    };
  });
  return { verifications, domains };
}

/**
 * Queries the DNS for domains, stores the answers and activates keys whose records are published. Ends within `TIMEOUT_MS`,
 * even if the DNS does not answer.
 */
async function askDns({ db, config, clock, resolver }: Context, domains: readonly SenderDomain[]): Promise<void> {
  const dns = resolver();
  const until = clock.monotonic() + TIMEOUT_MS;
  // The queries are cancelled repeatedly, because an answer may start further queries after the time is over.
  const timer = setInterval(() => clock.monotonic() > until && dns.cancel(), CANCEL_EVERY_MS);
  try {
    const now = clock.now().getTime();
    const { seen } = await checkDomains(dns, domains, relaysInUse(db.$client, config), now);
    recordSeenDomains(db.$client, seen, now);
    const published = seen.flatMap(({ findings = [] }) => findings.flatMap((finding) => finding.published ?? []));
    const waiting = domains.flatMap(({ keys }) => keys.filter(({ state }) => state === 'waiting'));
    activateDkimKeys(
      db,
      waiting.filter(({ name }) => published.includes(name)).map(({ id }) => id),
    );
  } finally {
    clearInterval(timer);
  }
}
