/** What `sendlark doctor` last saw outside this machine: whether each relay answered, and the DNS of each sender's domain. */
import type { Database } from 'better-sqlite3';
import { findNamedValue, writeNamedValue } from '../database/named-values.ts';
import type { SenderDomain } from '../senders/domains.ts';
import { type Finding, type KeptFinding, keptFinding } from './finding.ts';

const NAME = 'doctor_findings';
/** The most characters kept of what was found: a record of somebody else's DNS can have 64 KiB. */
const MAX_FOUND = 500;
/** The checks of a domain in the order in which they are told. */
export const DOMAIN_CHECKS = ['SPF', 'DKIM', 'DMARC', 'Alignment'] as const;

/** The checks of a sender's domain, as they were made for this return path and these DKIM keys. */
export interface SeenDomain {
  domain: string;
  returnPath: string;
  keys: string[];
  checks: Record<(typeof DOMAIN_CHECKS)[number], Finding['state']>;
  /** What was found, in the order of the checks. An earlier release did not keep it. */
  findings?: KeptFinding[];
  /** When this domain was asked alone, epoch milliseconds; without it, when all was looked at. */
  at?: number;
}

interface DoctorFindings {
  /** Epoch milliseconds. */
  at: number;
  relays: { relay: string; state: Finding['state'] }[];
  domains: SeenDomain[];
}

/** What was seen of a domain at `at`, epoch milliseconds, from the findings on its return path, DKIM, DMARC and alignment. */
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

/** Keeps what the doctor saw, in place of what it saw before. */
export function recordDoctorFindings(client: Database, findings: DoctorFindings): void {
  writeNamedValue(client, NAME, JSON.stringify(findings));
}

/** Keeps what was seen of these domains, in place of what was seen of them before. */
export function recordSeenDomains(client: Database, domains: readonly SeenDomain[], now: number): void {
  const record = client.transaction(() => {
    const before = findDoctorFindings(client) ?? { at: now, relays: [], domains: [] };
    const keyOf = ({ domain, returnPath }: SeenDomain) => `${domain} ${returnPath}`;
    const byKey = new Map([...before.domains, ...domains].map((domain) => [keyOf(domain), domain]));
    recordDoctorFindings(client, { ...before, domains: [...byKey.values()] });
  });
  record.immediate();
}

/** What was seen last of this domain with the return path and the keys that it has now, and when; undefined where it was not. */
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

/** What the doctor saw last; null when it never ran. */
export function findDoctorFindings(client: Database): DoctorFindings | null {
  const value = findNamedValue(client, NAME);
  if (value === null) return null;
  const findings: DoctorFindings = JSON.parse(value);
  return findings;
}
