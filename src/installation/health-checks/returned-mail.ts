/** Checks that returned mail arrives. The service sends a test mail to itself as other servers do: by the MX record, to port 25. */
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
/** The maximum number of mail servers that are tried. */
const MAX_SERVERS = 2;
/** How long the dialogue with a server may take. */
const TIMEOUT_MS = 5000;
/** How long the mail may take after it was accepted, because another server may forward it. */
const ARRIVAL_MS = 5000;
const POLL_MS = 100;
/** The name of the stored value with the last result. */
const STORED_NAME = 'returned_mail_seen';

interface TestSetup {
  resolver: Pick<Resolver, 'resolveMx'>;
  /** Epoch milliseconds. */
  now: number;
  /** 25, except in tests. */
  port?: number;
}

/** Returns true if this installation receives returned mail, so that a test makes sense. */
export function takesReturnedMail({ BOUNCE_DOMAIN, BOUNCE_LISTEN }: Config): boolean {
  return BOUNCE_DOMAIN !== '' && BOUNCE_LISTEN !== null;
}

/**
 * Sends the test mail and waits for its arrival. Ends within half a minute and never rejects. Problems are only warnings, because mail is
 * sent nevertheless.
 */
export async function returnedMailCheck(client: Database, config: Config, setup: TestSetup): Promise<Finding> {
  const { BOUNCE_DOMAIN: domain, BOUNCE_LISTEN: address } = config;
  const listen = address === null ? '' : `${address.host}:${address.port}`;
  try {
    const servers = await serversOf(setup.resolver, domain);
    return { name: NAME, ...(await sendTest(client, { ...setup, domain, listen, servers })) };
  } catch (error) {
    const found = sentence('returns_dns', { domain, code: codeOf(error) });
    return { name: NAME, state: 'warn', found, advice: [sentence('returns_dns_cure', { domain })] };
  }
}

/**
 * Returns the mail servers of a domain in order of preference: the domain itself if it has no MX record (RFC 5321, 5.1); an empty list if the
 * domain accepts no mail (RFC 7505).
 */
async function serversOf(resolver: TestSetup['resolver'], domain: string): Promise<string[]> {
  const records = await resolver.resolveMx(domain).catch((error) => {
    if (codeOf(error) !== 'ENODATA') throw error;
    return [{ exchange: domain, priority: 0 }];
  });
  return records
    .filter(({ exchange }) => exchange !== '')
    .sort((a, b) => a.priority - b.priority)
    .slice(0, MAX_SERVERS)
    .map(({ exchange }) => exchange);
}

/**
 * Sends the test mail to the first server that can be reached, and waits for its arrival. Throws if the list of servers is empty.
 */
async function sendTest(
  client: Database,
  { domain, listen, servers, now, port = SMTP_PORT }: TestSetup & { domain: string; listen: string; servers: string[] },
): Promise<CheckResult> {
  let unreachable: CheckResult | null = null;
  for (const host of servers) {
    try {
      await deliver(host, port, domain, testReturnPath(client, domain, now));
    } catch (error) {
      if (error instanceof SmtpRefusal) {
        const found = sentence('returns_refused', { domain, host, reply: sanitizeText(error.message) });
        return { state: 'warn', found, advice: [sentence('returns_refused_cure', { domain })] };
      }
      const found = sentence('returns_silent', { domain, host, port, reason: codeOf(error) });
      unreachable ??= { state: 'warn', found, advice: [sentence('returns_silent_cure', { domain })] };
      continue;
    }
    for (let waited = 0; waited < ARRIVAL_MS; waited += POLL_MS) {
      if (hasTestArrived(client, now)) return { state: 'ok', found: sentence('returns_arrive', { domain, host }) };
      await setTimeout(POLL_MS);
    }
    const found = sentence('returns_lost', { domain, host });
    return { state: 'warn', found, advice: [sentence('returns_lost_cure', { domain, listen })] };
  }
  if (unreachable === null) throw new Error('null MX');
  return unreachable;
}

/** Delivers the test mail as a server that returns mail does: from the null sender (RFC 5321, 4.5.5). */
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
  await talkSmtp(connect({ host, port }), 'connect', TIMEOUT_MS, async (ask) => {
    await ask('', '220');
    await ask(`EHLO ${domain}`, '250');
    await ask('MAIL FROM:<>', '250');
    // 250 and 251 both accept the recipient (RFC 5321, 4.2.3).
    await ask(`RCPT TO:<${to}>`, '25');
    await ask('DATA', '354');
    await ask(message, '250');
  });
}

function codeOf(error: unknown): string {
  const { code, message }: { code?: unknown; message?: unknown } = Object(error);
  return sanitizeText(String(code || message || error));
}

interface StoredResult {
  /** The domain of return paths that was tested. */
  domain: string;
  /** When it was tested, epoch milliseconds. */
  at: number;
  finding: Finding;
}

/** Replaces the stored result. */
export function recordReturnedMail(client: Database, result: StoredResult): void {
  writeNamedValue(client, STORED_NAME, JSON.stringify({ ...result, finding: keptFinding(result.finding) }));
}

/** Returns the last result; null if no test was made, or if the settings for returned mail have changed since. */
export function findReturnedMail(client: Database, config: Config): StoredResult | null {
  const value = findNamedValue(client, STORED_NAME);
  if (value === null || !takesReturnedMail(config)) return null;
  const { finding, ...result }: Omit<StoredResult, 'finding'> & { finding: KeptFinding } = JSON.parse(value);
  return result.domain === config.BOUNCE_DOMAIN ? { ...result, finding: readFinding(finding) } : null;
}
