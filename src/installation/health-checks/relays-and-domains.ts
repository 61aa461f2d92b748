/**
 * Whether mail gets out and is trusted, according to stored results: the last use or check of the SMTP relay, and the doctor's check of the
 * senders' domains.
 */
import type { Database } from 'better-sqlite3';
import type { Config } from '../../config.ts';
import type { Db } from '../../database/open.ts';
import { findRelayAcceptance, findRelayFailure } from '../../delivery/queue/relay-use.ts';
import { courierInUse, relaysInUse } from '../../delivery/transport/relays/in-use.ts';
import { relayName } from '../../delivery/transport/smtp/relay-urls.ts';
import { listSenderDomains } from '../../senders/domains.ts';
import { DOMAIN_CHECKS, findDoctorFindings, findSeenDomain } from './doctor-findings.ts';

/**
 * none: there is no relay; nodes: campaign mail needs none, because sender nodes send it; untried: the configured relays have not been used
 * yet; answers: the doctor reached one.
 */
export const RELAY_STATES = ['none', 'nodes', 'untried', 'answers', 'works', 'fails'] as const;

interface RelaySeen {
  state: (typeof RELAY_STATES)[number];
  /** The time of that result, epoch milliseconds; null if there is none. */
  at: number | null;
  /** Whether any relay is known to have accepted a mail. */
  has_worked: 0 | 1;
}

/** The latest state of the SMTP relays that are configured now. A relay that accepted a mail or replied after a failure works again. */
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
  // A reply proves less than an accepted mail, so it never replaces that state.
  if (worksAt > failsAt) return { state: 'works', at: worksAt, has_worked };
  return { state: 'answers', at: answersAt, has_worked };
}

/** When the stored SMTP relays last passed a test and last failed, epoch milliseconds; 0 if none did. */
function seenOfStored(client: Database): { answered: number; failed: number } {
  const seen = client
    .prepare<[], { answered: string | null; failed: string | null }>(
      'SELECT max(answered_at) AS answered, max(failed_at) AS failed FROM relays',
    )
    .get();
  return { answered: Date.parse(seen?.answered ?? '') || 0, failed: Date.parse(seen?.failed ?? '') || 0 };
}

/** none: there is no sender; unknown: a domain was not checked with its current settings; weak: no check failed, but one had warnings. */
export const DNS_STATES = ['none', 'unknown', 'passed', 'weak', 'failed'] as const;

export interface DnsSeen {
  state: (typeof DNS_STATES)[number];
  /** When the doctor queried the DNS, epoch milliseconds; null if unknown. */
  at: number | null;
  /** A domain in this state, and its checks that did not pass. */
  domain: string | null;
  checks: (typeof DOMAIN_CHECKS)[number][];
}

/** The doctor's results for the domains of an account's senders: the worst of them. */
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
    const inState = domains.find((domain) => domain.state === state);
    if (inState !== undefined) return inState;
  }
  return { state: 'none', at: null, domain: null, checks: [] };
}
