/**
 * The results of the last `sendlark doctor` run about the outside world: whether each SMTP relay answered, and the DNS of each sender's
 * domain.
 */
import type { Database } from 'better-sqlite3';
import { findNamedValue, writeNamedValue } from '../database/named-values.ts';
import type { SenderDomain } from '../senders/domains.ts';
import { type Finding, type KeptFinding, keptFinding } from './finding.ts';

const NAME = 'doctor_findings';
/** The maximum length of a stored result, because a foreign DNS record can have 64 KiB. */
const MAX_FOUND = 500;
/** The checks of a domain in the order in which they are reported. */
export const DOMAIN_CHECKS = ['SPF', 'DKIM', 'DMARC', 'Alignment'] as const;

/** The results for a sender's domain, with the return path and DKIM keys that were checked. */
export interface SeenDomain {
  domain: string;
  returnPath: string;
  keys: string[];
  checks: Record<(typeof DOMAIN_CHECKS)[number], Finding['state']>;
  /** The findings in the order of the checks. Earlier releases did not store them. */
  findings?: KeptFinding[];
  /** When this domain was checked separately, epoch milliseconds; absent if it was checked with the others. */
  at?: number;
}

interface DoctorFindings {
  /** Epoch milliseconds. */
  at: number;
  relays: { relay: string; state: Finding['state'] }[];
  domains: SeenDomain[];
}

/** The results for a domain at `at`, epoch milliseconds, from the findings about its return path, DKIM, DMARC and alignment. */
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

/** Replaces the stored results of the doctor. */
export function recordDoctorFindings(client: Database, findings: DoctorFindings): void {
  writeNamedValue(client, NAME, JSON.stringify(findings));
}

/** Replaces the stored results for these domains. */
export function recordSeenDomains(client: Database, domains: readonly SeenDomain[], now: number): void {
  const record = client.transaction(() => {
    const before = findDoctorFindings(client) ?? { at: now, relays: [], domains: [] };
    const keyOf = ({ domain, returnPath }: SeenDomain) => `${domain} ${returnPath}`;
    const byKey = new Map([...before.domains, ...domains].map((domain) => [keyOf(domain), domain]));
    recordDoctorFindings(client, { ...before, domains: [...byKey.values()] });
  });
  record.immediate();
}

/** The latest results for this domain with its current return path and keys, and their time; undefined if there are none. */
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
  return seen && doctor ? { ...seen, at: seen.at ?? doctor.at } : undefined;
}

/** The results of the last doctor run; null if it never ran. */
export function findDoctorFindings(client: Database): DoctorFindings | null {
  const value = findNamedValue(client, NAME);
  if (value === null) return null;
  const findings: DoctorFindings = JSON.parse(value);
  return findings;
}
