/** What `sendlark doctor` last saw outside this machine: whether each relay answered, and the DNS of each sender's domain. */
import type { Database } from 'better-sqlite3';
import type { SenderDomain } from '../senders/domains.ts';
import type { Finding } from './finding.ts';

const NAME = 'doctor_findings';
/** The checks of a domain in the order in which they are told. */
export const DOMAIN_CHECKS = ['SPF', 'DKIM', 'DMARC', 'Alignment'] as const;

/** The checks of a sender's domain, as they were made for this return path and these DKIM keys. */
export interface SeenDomain {
  domain: string;
  returnPath: string;
  keys: string[];
  checks: Record<(typeof DOMAIN_CHECKS)[number], Finding['state']>;
}

export interface DoctorFindings {
  /** Epoch milliseconds. */
  at: number;
  relays: { relay: string; state: Finding['state'] }[];
  domains: SeenDomain[];
}

/** What was seen of a domain, from the finding of its return path and those of its DKIM, DMARC and alignment. */
export function seenDomain(
  sender: SenderDomain,
  spf: Finding | undefined,
  [dkim, dmarc, alignment]: readonly Finding[],
): SeenDomain {
  const stateOf = (finding: Finding | undefined) => finding?.state ?? 'warn';
  return {
    domain: sender.domain,
    returnPath: sender.returnPath,
    keys: sender.keys.map(({ name }) => name),
    checks: { SPF: stateOf(spf), DKIM: stateOf(dkim), DMARC: stateOf(dmarc), Alignment: stateOf(alignment) },
  };
}

/** Keeps what the doctor saw, in place of what it saw before. */
export function recordDoctorFindings(client: Database, findings: DoctorFindings): void {
  client
    .prepare(
      'INSERT INTO installation (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    )
    .run(NAME, JSON.stringify(findings));
}

/** What the doctor saw last; null when it never ran. */
export function findDoctorFindings(client: Database): DoctorFindings | null {
  const value = client.prepare<[string], string>('SELECT value FROM installation WHERE name = ?').pluck().get(NAME);
  if (value === undefined) return null;
  const findings: DoctorFindings = JSON.parse(value);
  return findings;
}
