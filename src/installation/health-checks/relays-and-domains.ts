/**
 * Tells from stored results whether mail gets out and is trusted: from the last use and test of the SMTP relays, and from the doctor's check of
 * the senders' domains.
 */

import type { Database } from 'better-sqlite3';
import type { Config } from '../../config.ts';
import type { Db } from '../../database/open.ts';
import { isMailboxProvider } from '../../delivery/checks/header-checks.ts';
import { findRelayAcceptance, findRelayFailure } from '../../delivery/queue/relay-use.ts';
import { courierInUse, relaysInUse } from '../../delivery/transport/relays/in-use.ts';
import { relayName } from '../../delivery/transport/smtp/relay-urls.ts';
import { listSenderDomains } from '../../senders/domains.ts';
import { DOMAIN_CHECKS, findDoctorFindings, findSeenDomain } from './doctor-findings.ts';

/**
 * none: there is no relay; nodes: there is no relay, but sender nodes send campaigns; untried: no relay has been used or tested yet; answers: a
 * relay was reached, but has not accepted a mail since the last failure.
 */
export const RELAY_STATES = ['none', 'nodes', 'untried', 'answers', 'works', 'fails'] as const;

interface LastRelayState {
  state: (typeof RELAY_STATES)[number];
  /** When the relays were in this state, epoch milliseconds; null if no relay has been used or tested. */
  at: number | null;
  /** True if any relay is known to have accepted a mail. */
  has_worked: 0 | 1;
}

/** Returns the latest state of the SMTP relays in use. A relay that accepted a mail or replied after a failure works again. */
export function lastRelayState(client: Database, config: Config): LastRelayState {
  const names = relaysInUse(client, config).map(relayName);
  const isInUse = ({ relay }: { relay: string }) => names.includes(relay);
  const accepted = findRelayAcceptance(client);
  const failed = findRelayFailure(client);
  const doctor = findDoctorFindings(client);
  const checked = doctor?.relays.filter(isInUse) ?? [];
  const has_worked = accepted === null ? 0 : 1;
  const stored = config.SMTP_URL === '' ? lastTimesOfStored(client) : { answered: 0, failed: 0 };
  const worksAt = accepted !== null && isInUse(accepted) ? accepted.at : 0;
  const isReached = checked.some(({ state }) => state !== 'fail');
  const checkedAt = checked.length > 0 ? (doctor?.at ?? 0) : 0;
  const answersAt = Math.max(isReached ? checkedAt : 0, stored.answered);
  const failsAt = Math.max(
    failed !== null && isInUse(failed) ? failed.at : 0,
    isReached ? 0 : checkedAt,
    stored.failed,
  );
  if (Math.max(worksAt, answersAt, failsAt) === 0) {
    const withoutRelay = courierInUse(client, config) === 'nodes' ? 'nodes' : 'none';
    return { state: names.length === 0 ? withoutRelay : 'untried', at: null, has_worked };
  }
  if (failsAt > Math.max(worksAt, answersAt)) return { state: 'fails', at: failsAt, has_worked };
  // An accepted mail proves more than a reply, so a later reply does not replace this state.
  if (worksAt > failsAt) return { state: 'works', at: worksAt, has_worked };
  return { state: 'answers', at: answersAt, has_worked };
}

/** Returns when a stored SMTP relay last passed a test and last failed, epoch milliseconds; 0: never. */
function lastTimesOfStored(client: Database): { answered: number; failed: number } {
  const times = client
    .prepare<[], { answered: string | null; failed: string | null }>(
      'SELECT max(answered_at) AS answered, max(failed_at) AS failed FROM relays',
    )
    .get();
  return { answered: Date.parse(times?.answered ?? '') || 0, failed: Date.parse(times?.failed ?? '') || 0 };
}

/** none: there is no sender with a domain of its own; unknown: a domain was not checked with its current settings; weak: no check failed, but some had warnings. */
export const DNS_STATES = ['none', 'unknown', 'passed', 'weak', 'failed'] as const;

export interface LastDnsState {
  state: (typeof DNS_STATES)[number];
  /** When the doctor queried the DNS, epoch milliseconds; null if unknown. */
  at: number | null;
  /** A domain in this state, and its checks that did not pass. */
  domain: string | null;
  checks: (typeof DOMAIN_CHECKS)[number][];
}

/**
 * Returns the worst of the doctor's results for the domains of an account's senders, or for only one of these domains (ASCII form). Domains
 * of mailbox providers do not count, because nobody else can add records there.
 */
export function lastDnsState(db: Db, config: Config, accountId: number, domain?: string | null): LastDnsState {
  const doctor = findDoctorFindings(db.$client);
  const known = listSenderDomains(db, config, accountId).filter((sender) => !isMailboxProvider(sender.domain));
  const asked = domain === undefined ? known : known.filter((sender) => sender.domain === domain);
  const domains = asked.map((sender): LastDnsState => {
    const seen = findSeenDomain(doctor, sender);
    if (seen === undefined) return { state: 'unknown', at: null, domain: sender.domain, checks: [] };
    const problems = DOMAIN_CHECKS.filter((check) => seen.checks[check] !== 'ok');
    const isFailed = problems.some((check) => seen.checks[check] === 'fail');
    const passedOrWeak = problems.length === 0 ? 'passed' : 'weak';
    const state = isFailed ? 'failed' : passedOrWeak;
    return { state, at: seen.at, domain: sender.domain, checks: problems };
  });
  for (const state of ['failed', 'unknown', 'weak', 'passed'] as const) {
    const inState = domains.find((checked) => checked.state === state);
    if (inState !== undefined) return inState;
  }
  return { state: 'none', at: null, domain: null, checks: [] };
}
