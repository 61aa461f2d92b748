/** Whether mail gets out and is trusted, as far as was seen: the relay by its last use or check, the senders' domains by the doctor. */
import type { Database } from 'better-sqlite3';
import type { Config } from '../config.ts';
import type { Db } from '../database/open.ts';
import { findRelayAcceptance, findRelayFailure } from '../delivery/queue/relay-use.ts';
import { courierInUse, relaysInUse } from '../delivery/transport/relays/in-use.ts';
import { relayName } from '../delivery/transport/smtp/relay-urls.ts';
import { listSenderDomains } from '../senders/domains.ts';
import { DOMAIN_CHECKS, findDoctorFindings, findSeenDomain } from './doctor-findings.ts';

/** none: there is no relay; nodes: none is needed for campaign mail, which leaves from sender nodes; untried: nothing was seen of the relays that are configured now; answers: the doctor reached one. */
export const RELAY_STATES = ['none', 'nodes', 'untried', 'answers', 'works', 'fails'] as const;

interface RelaySeen {
  state: (typeof RELAY_STATES)[number];
  /** When it was seen, epoch milliseconds; null where nothing was. */
  at: number | null;
  /** Whether any relay ever took a mail, as far as is known. */
  has_worked: 0 | 1;
}

/** What was seen last of the relays that are configured now. One that took a mail or answered after a failure works again. */
export function relaySeen(client: Database, config: Config): RelaySeen {
  const names = relaysInUse(client, config).map(relayName);
  const isOurs = ({ relay }: { relay: string }) => names.includes(relay);
  const accepted = findRelayAcceptance(client);
  const failed = findRelayFailure(client);
  const doctor = findDoctorFindings(client);
  const asked = doctor?.relays.filter(isOurs) ?? [];
  const has_worked = accepted === null ? 0 : 1;
  const stored = config.SMTP_URL === '' ? seenOfStored(client) : { answered: 0, failed: 0 };
  const worksAt = accepted !== null && isOurs(accepted) ? accepted.at : 0;
  const isReached = asked.some(({ state }) => state !== 'fail');
  const askedAt = asked.length > 0 ? (doctor?.at ?? 0) : 0;
  const answersAt = Math.max(isReached ? askedAt : 0, stored.answered);
  const failsAt = Math.max(failed !== null && isOurs(failed) ? failed.at : 0, isReached ? 0 : askedAt, stored.failed);
  if (Math.max(worksAt, answersAt, failsAt) === 0) {
    const unused = courierInUse(client, config) === 'nodes' ? 'nodes' : 'none';
    return { state: names.length === 0 ? unused : 'untried', at: null, has_worked };
  }
  if (failsAt > Math.max(worksAt, answersAt)) return { state: 'fails', at: failsAt, has_worked };
  // An answer says less than a mail that was taken, and takes nothing back from it.
  if (worksAt > failsAt) return { state: 'works', at: worksAt, has_worked };
  return { state: 'answers', at: answersAt, has_worked };
}

/** When the relays kept in the file last passed a test and last failed, epoch milliseconds; 0 where none did. */
function seenOfStored(client: Database): { answered: number; failed: number } {
  const seen = client
    .prepare<[], { answered: string | null; failed: string | null }>(
      'SELECT max(answered_at) AS answered, max(failed_at) AS failed FROM relays',
    )
    .get();
  return { answered: Date.parse(seen?.answered ?? '') || 0, failed: Date.parse(seen?.failed ?? '') || 0 };
}

/** none: there is no sender; unknown: a domain was not checked as it is now; weak: no check failed, but one had remarks. */
export const DNS_STATES = ['none', 'unknown', 'passed', 'weak', 'failed'] as const;

export interface DnsSeen {
  state: (typeof DNS_STATES)[number];
  /** When the doctor asked the DNS, epoch milliseconds; null where it is unknown. */
  at: number | null;
  /** A domain that is in this state, and which of its checks did not pass. */
  domain: string | null;
  checks: (typeof DOMAIN_CHECKS)[number][];
}

/** What the doctor saw of the domains that the senders of an account write from: the worst of them. */
export function dnsSeen(db: Db, config: Config, accountId: number): DnsSeen {
  const doctor = findDoctorFindings(db.$client);
  const domains = listSenderDomains(db, config, accountId).map((sender) => {
    const seen = findSeenDomain(doctor, sender);
    const problems = seen === undefined ? [] : DOMAIN_CHECKS.filter((check) => seen.checks[check] !== 'ok');
    const isFailed = seen !== undefined && problems.some((check) => seen.checks[check] === 'fail');
    const state = isFailed ? 'failed' : seen === undefined ? 'unknown' : problems.length > 0 ? 'weak' : 'passed';
    return { state, at: seen?.at ?? null, domain: sender.domain, checks: problems } as const;
  });
  for (const state of ['failed', 'unknown', 'weak', 'passed'] as const) {
    const found = domains.find((domain) => domain.state === state);
    if (found !== undefined) return found;
  }
  return { state: 'none', at: null, domain: null, checks: [] };
}
