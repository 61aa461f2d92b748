/**
 * The results of the last `sendlark doctor` run about the outside world: whether each SMTP relay answered, and the DNS of each sender's
 * domain.
 */
import type { Database } from 'better-sqlite3';
import { findNamedValue, writeNamedValue } from '../../database/named-values.ts';
import type { SentenceCode } from '../../errors/sentences.ts';
import { codeOf, readStored } from '../../errors/stored.ts';
import type { SenderDomain } from '../../senders/domains.ts';
import { type Finding, type KeptFinding, keptFinding } from './finding.ts';

/** The name of the stored value with the results. */
const NAME = 'doctor_findings';
/** The maximum length of a stored text in characters, because a DNS record of others can have 64 KiB. */
const MAX_FOUND = 500;
/** The checks of a domain in the order in which they are reported. */
export const DOMAIN_CHECKS = ['SPF', 'DKIM', 'DMARC', 'Alignment'] as const;

/** The results for a sender's domain, with the return path and the names of the DKIM keys that were checked. */
export interface SeenDomain {
  domain: string;
  returnPath: string;
  keys: string[];
  checks: Record<(typeof DOMAIN_CHECKS)[number], Finding['state']>;
  /** The findings in the order of the checks. Earlier releases did not store them. */
  findings?: KeptFinding[];
  /** The checks that have ever passed. Earlier releases did not store them. */
  worked?: (typeof DOMAIN_CHECKS)[number][];
  /** When this domain alone was checked, epoch milliseconds; absent if all domains were checked together. */
  at?: number;
}

interface DoctorFindings {
  /** Epoch milliseconds. */
  at: number;
  relays: { relay: string; state: Finding['state'] }[];
  domains: SeenDomain[];
}

/**
 * Returns the results for a domain, checked at `at` (epoch milliseconds), from the findings about its return path, DKIM, DMARC and alignment,
 * in this order.
 */
export function seenDomain(sender: SenderDomain, findings: readonly Finding[], at: number): SeenDomain {
  const [spf, dkim, dmarc, alignment] = findings;
  const stateOf = (finding: Finding | undefined) => finding?.state ?? 'warn';
  return {
    domain: sender.domain,
    returnPath: sender.returnPath,
    keys: sender.keys.map(({ name }) => name),
    checks: { SPF: stateOf(spf), DKIM: stateOf(dkim), DMARC: stateOf(dmarc), Alignment: stateOf(alignment) },
    findings: findings.map(({ found, ...finding }) =>
      keptFinding({ ...finding, found: typeof found === 'string' ? found.slice(0, MAX_FOUND) : found }),
    ),
    at,
  };
}

/** Replaces the stored results of the doctor, but remembers which checks passed before. */
export function recordDoctorFindings(client: Database, findings: DoctorFindings): void {
  const before = new Map(findDoctorFindings(client)?.domains.map((domain) => [keyOf(domain), domain]));
  const domains = findings.domains.map((domain) => ({
    ...domain,
    worked: everPassed(domain, before.get(keyOf(domain))),
  }));
  writeNamedValue(client, NAME, JSON.stringify({ ...findings, domains }));
}

const keyOf = ({ domain, returnPath }: SeenDomain) => `${domain} ${returnPath}`;

/** Returns the checks of a domain that pass now or have ever passed. */
function everPassed(now: SeenDomain, before: SeenDomain | undefined) {
  return DOMAIN_CHECKS.filter(
    (check) => now.checks[check] === 'ok' || before?.checks[check] === 'ok' || before?.worked?.includes(check),
  );
}

/** Replaces the stored results for these domains. */
export function recordSeenDomains(client: Database, domains: readonly SeenDomain[], now: number): void {
  const record = client.transaction(() => {
    const before = findDoctorFindings(client) ?? { at: now, relays: [], domains: [] };
    const byKey = new Map([...before.domains, ...domains].map((domain) => [keyOf(domain), domain]));
    recordDoctorFindings(client, { ...before, domains: [...byKey.values()] });
  });
  record.immediate();
}

/** The findings about records that were never published. */
const UNPUBLISHED: readonly unknown[] = ['dns_no_record', 'dkim_missing', 'dmarc_none'] satisfies SentenceCode[];

/**
 * Turns the failure for a record that was never published into a warning, because nothing is broken before the owner sets the record up. A
 * wrong record, or a record that has disappeared, remains a failure.
 */
function withUnpublishedAsWarnings(seen: SeenDomain): SeenDomain {
  const checks = { ...seen.checks };
  for (const [at, check] of DOMAIN_CHECKS.entries()) {
    const finding = seen.findings?.[at];
    if (finding?.state !== 'fail' || seen.worked?.includes(check)) continue;
    // Where SPF and DKIM are no failures, or are warnings by now, alignment fails only because their records were never published.
    const isOnlyUnaligned = check === 'Alignment' && checks.SPF !== 'fail' && checks.DKIM !== 'fail';
    if (isOnlyUnaligned || UNPUBLISHED.includes(codeOf(readStored(finding.found)))) checks[check] = 'warn';
  }
  const findings = seen.findings?.map((finding, at) => ({ ...finding, state: checks[DOMAIN_CHECKS[at] ?? 'SPF'] }));
  return { ...seen, checks, ...(findings && { findings }) };
}

/**
 * Returns the latest results for a domain with its current return path and keys, and when it was checked; undefined if it was never checked
 * with these. A record that was never published is a warning.
 */
export function findSeenDomain(
  doctor: DoctorFindings | null,
  { domain, returnPath, keys }: SenderDomain,
): (SeenDomain & { at: number }) | undefined {
  const seen = doctor?.domains.find(
    (known) =>
      known.domain === domain &&
      known.returnPath === returnPath &&
      String(known.keys) === String(keys.map(({ name }) => name)),
  );
  return seen && doctor ? { ...withUnpublishedAsWarnings(seen), at: seen.at ?? doctor.at } : undefined;
}

/** Returns the results of the last run of the doctor; null if it never ran. */
export function findDoctorFindings(client: Database): DoctorFindings | null {
  const value = findNamedValue(client, NAME);
  if (value === null) return null;
  const findings: DoctorFindings = JSON.parse(value);
  return findings;
}
