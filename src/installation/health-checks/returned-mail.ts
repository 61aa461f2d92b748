/** Checks that returned mail arrives: the service sends a test mail to itself the way other servers do, over the DNS and port 25. */
import type { Resolver } from 'node:dns/promises';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import type { Config } from '../../config.ts';
import { findNamedValue, writeNamedValue } from '../../database/named-values.ts';
import { sanitizeText } from '../../delivery/feedback/bounces/sanitize.ts';
import { hasTestArrived, testReturnPath } from '../../delivery/feedback/bounces/test-arrival.ts';
import { sentence } from '../../errors/sentences.ts';
import { type CheckResult, type Finding, type KeptFinding, keptFinding, readFinding } from './finding.ts';
import { SmtpRefusal, talkSmtp } from './smtp-talk.ts';

const NAME = 'Returned mail';
const SMTP_PORT = 25;
/** The maximum number of mail servers tried, and the time for each. */
const MAX_SERVERS = 2;
const PATIENCE_MS = 5000;
/** How long the mail may take after it was accepted, because another server may forward it. */
const ARRIVAL_MS = 5000;
const POLL_MS = 100;
const KEPT = 'returned_mail_seen';

interface TestSetup {
  resolver: Pick<Resolver, 'resolveMx'>;
  /** Epoch milliseconds. */
  now: number;
  /** 25, except in tests. */
  port?: number;
}

/** Whether this installation accepts returned mail, so that there is something to test. */
export function takesReturnedMail({ BOUNCE_DOMAIN, BOUNCE_LISTEN }: Config): boolean {
  return BOUNCE_DOMAIN !== '' && BOUNCE_LISTEN !== null;
}

/**
 * Sends the test mail and waits for its arrival. Ends within half a minute and never rejects. Problems are only warnings, because mail is
 * sent nevertheless.
 */
export async function returnedMailCheck(client: Database, config: Config, setup: TestSetup): Promise<Finding> {
  const { BOUNCE_DOMAIN: domain, BOUNCE_LISTEN: at } = config;
  const listen = at === null ? '' : `${at.host}:${at.port}`;
  try {
    const servers = await serversOf(setup.resolver, domain);
    return { name: NAME, ...(await sendTest(client, { ...setup, domain, listen, servers })) };
  } catch (error) {
    const found = sentence('returns_dns', { domain, code: codeOf(error) });
    return { name: NAME, state: 'warn', found, advice: [sentence('returns_dns_cure', { domain })] };
  }
}

/**
 * The mail servers of a domain, the preferred first; the domain itself if it has no MX record (RFC 5321, 5.1); none if it accepts no mail
 * (RFC 7505).
 */
async function serversOf(resolver: TestSetup['resolver'], domain: string): Promise<string[]> {
  const records = await resolver.resolveMx(domain).catch((error) => {
    if (codeOf(error) !== 'ENODATA') throw error;
    return [{ exchange: domain, priority: 0 }];
  });
  return records
    .filter(({ exchange }) => exchange !== '')
    .sort((one, other) => one.priority - other.priority)
    .slice(0, MAX_SERVERS)
    .map(({ exchange }) => exchange);
}

async function sendTest(
  client: Database,
  { domain, listen, servers, now, port = SMTP_PORT }: TestSetup & { domain: string; listen: string; servers: string[] },
): Promise<CheckResult> {
  let silent: CheckResult | null = null;
  for (const host of servers) {
    try {
      await deliver(host, port, domain, testReturnPath(client, domain, now));
    } catch (error) {
      if (error instanceof SmtpRefusal) {
        const found = sentence('returns_refused', { domain, host, reply: sanitizeText(error.message) });
        return { state: 'warn', found, advice: [sentence('returns_refused_cure', { domain })] };
      }
      const found = sentence('returns_silent', { domain, host, port, reason: codeOf(error) });
      silent ??= { state: 'warn', found, advice: [sentence('returns_silent_cure', { domain })] };
      continue;
    }
    for (let waited = 0; waited < ARRIVAL_MS; waited += POLL_MS) {
      if (hasTestArrived(client, now)) return { state: 'ok', found: sentence('returns_arrive', { domain, host }) };
      await setTimeout(POLL_MS);
    }
    const found = sentence('returns_lost', { domain, host });
    return { state: 'warn', found, advice: [sentence('returns_lost_cure', { domain, listen })] };
  }
  if (silent === null) throw new Error('null MX');
  return silent;
}

/** Delivers the mail as a server that returns mail does: from the null sender (RFC 5321, 4.5.5). */
async function deliver(host: string, port: number, domain: string, to: string): Promise<void> {
  const message = [
    `From: Sendlark <MAILER-DAEMON@${domain}>`,
    `To: <${to}>`,
    'Subject: Test of returned mail',
    `Date: ${new Date().toUTCString()}`,
    `Message-ID: <${to}>`,
    'Auto-Submitted: auto-generated',
    '',
    'Sendlark sends this to itself to see whether returned mail arrives.',
    '.',
  ].join('\r\n');
  await talkSmtp(connect({ host, port }), 'connect', PATIENCE_MS, async (ask) => {
    await ask('', '220');
    await ask(`EHLO ${domain}`, '250');
    await ask('MAIL FROM:<>', '250');
    await ask(`RCPT TO:<${to}>`, '25');
    await ask('DATA', '354');
    await ask(message, '250');
  });
}

function codeOf(error: unknown): string {
  const { code, message }: { code?: unknown; message?: unknown } = Object(error);
  return sanitizeText(String(code || message || error));
}

interface KeptResult {
  /** The domain of return paths at that time. */
  domain: string;
  /** Epoch milliseconds. */
  at: number;
  finding: Finding;
}

/** Replaces the stored result. */
export function recordReturnedMail(client: Database, seen: KeptResult): void {
  writeNamedValue(client, KEPT, JSON.stringify({ ...seen, finding: keptFinding(seen.finding) }));
}

/** The last result with its time; null if there is none, or if the settings for returned mail have changed since. */
export function findReturnedMail(client: Database, config: Config): KeptResult | null {
  const value = findNamedValue(client, KEPT);
  if (value === null || !takesReturnedMail(config)) return null;
  const { finding, ...seen }: Omit<KeptResult, 'finding'> & { finding: KeptFinding } = JSON.parse(value);
  return seen.domain === config.BOUNCE_DOMAIN ? { ...seen, finding: readFinding(finding) } : null;
}
