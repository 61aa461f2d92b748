/**
 * Health checks that read what the running service stored in the database: heartbeats of the background thread, failures of SMTP relays,
 * backups, sender nodes and webhooks.
 */
import type { Database } from 'better-sqlite3';
import type { Config } from '../../config.ts';
import type { Db } from '../../database/open.ts';
import { lastBeatAt, mailWaitsReason, STALLED_AFTER_MS } from '../../delivery/queue/holds.ts';
import { findRelayFailure } from '../../delivery/queue/relay-use.ts';
import { readGauges } from '../../delivery/reporting/gauges.ts';
import { listSenderNodes } from '../../delivery/reporting/sender-nodes.ts';
import { courierInUse, hasRelay } from '../../delivery/transport/relays/in-use.ts';
import { sentence } from '../../errors/sentences.ts';
import { DAY_MS, MINUTE_MS } from '../../units.ts';
import { VERSION } from '../../version.ts';
import { listEndpoints } from '../../webhooks/endpoints.ts';
import { lastBackupAt } from '../backups/last-backup.ts';
import type { CheckResult, Finding } from './finding.ts';

/** While mail waits, a failed SMTP relay is retried at least once a minute. A failure older than this is therefore over. */
const RECENT_MS = 10 * MINUTE_MS;
/** If the last backup is older than this, the check warns. */
const BACKUP_DAYS = 7;

/** Returns the findings about background thread, SMTP relays and backups at `now`, epoch milliseconds. */
export function serviceChecks(client: Database, config: Config, now: number): Finding[] {
  return [backgroundCheck(client, now), relayCheck(client, config, now), backupCheck(client, now)];
}

function backgroundCheck(client: Database, now: number): Finding {
  const name = 'Background';
  if (Math.abs(now - lastBeatAt(client)) < STALLED_AFTER_MS)
    return { name, state: 'ok', found: sentence('background_running') };
  const advice = [sentence('background_cure')];
  return { name, state: 'fail', found: sentence('background_stalled'), advice };
}

function relayCheck(client: Database, config: Config, now: number): Finding {
  const name = 'SMTP server';
  const missing = missingRelay(client, config);
  if (missing !== null) return { name, ...missing };
  const failure = findRelayFailure(client);
  const age = failure === null ? Number.POSITIVE_INFINITY : Math.abs(now - failure.at);
  if (failure === null || age >= RECENT_MS) return { name, state: 'ok', found: sentence('relay_well') };
  const minutes = Math.floor(age / MINUTE_MS);
  const upToAMinute = sentence(minutes === 0 ? 'when_seconds' : 'when_minute');
  const when = minutes > 1 ? sentence('when_minutes', { count: minutes }) : upToAMinute;
  const advice = [sentence('relay_cure')];
  return { name, state: 'warn', found: sentence('relay_failed', { when, reply: failure.reply }), advice };
}

/** Returns the finding for an installation without an SMTP relay; null if a relay is set up. */
export function missingRelay(client: Database, config: Config): CheckResult | null {
  if (hasRelay(client, config)) return null;
  const found = courierInUse(client, config) === 'nodes' ? sentence('relay_none_nodes') : sentence('relay_none');
  return { state: 'warn', found, advice: [sentence('relay_none_cure')] };
}

function backupCheck(client: Database, now: number): Finding {
  const name = 'Backup';
  const last = lastBackupAt(client);
  const advice = [sentence('backup_cure')];
  if (last === null) return { name, state: 'warn', found: sentence('backup_none'), advice };
  const days = Math.floor((now - Date.parse(last)) / DAY_MS);
  return days < BACKUP_DAYS
    ? { name, state: 'ok', found: sentence('backup_fresh', { day: last.slice(0, 'YYYY-MM-DD'.length) }) }
    : { name, state: 'warn', found: sentence('backup_old', { days }), advice };
}

/** Returns the findings about sender nodes at `now`, epoch milliseconds; an empty list if NATS_URL is not set. */
export function nodeChecks(client: Database, { NATS_URL }: Config, now: number): Finding[] {
  if (NATS_URL.length === 0) return [];
  const nodes = listSenderNodes(client, now);
  const reachable = nodes.filter(({ state }) => state !== 'silent');
  const name = 'Nodes';
  const problems: Finding[] = [];
  const reason = mailWaitsReason(client);
  if (reason !== null) {
    const state = readGauges(client).queued > 0 ? 'fail' : 'warn';
    problems.push({ name, state, found: reason, advice: [sentence('nodes_waits_cure')] });
  }
  const silent = nodes.filter(({ state }) => state === 'silent');
  if (silent.length > 0) {
    const found = sentence('nodes_silent', { names: namesOf(silent) });
    problems.push({ name: 'Silent nodes', state: 'warn', found, advice: [sentence('nodes_silent_cure')] });
  }
  const refused = reachable.filter(({ state }) => state === 'refused');
  if (refused.length > 0) {
    const found = sentence('nodes_refused', { names: namesOf(refused), reply: refused[0]?.refusal ?? '' });
    problems.push({ name: 'Refused nodes', state: 'warn', found, advice: [sentence('nodes_refused_cure')] });
  }
  const otherReleases = reachable.filter(({ version }) => version !== VERSION);
  if (otherReleases.length > 0) {
    const names = otherReleases.map((node) => `${node.name} (${node.version})`).join(', ');
    const found = sentence('nodes_releases', { version: VERSION, names });
    problems.push({ name: 'Releases of nodes', state: 'warn', found, advice: [sentence('nodes_releases_cure')] });
  }
  if (problems.length > 0) return problems;
  return [{ name, state: 'ok', found: sentence('nodes_well', { count: reachable.length }) }];
}

function namesOf(nodes: readonly { name: string }[]): string {
  return nodes.map(({ name }) => name).join(', ');
}

/** Returns the findings about the account's webhooks; an empty list if the account has no webhook. */
export function webhooksCheck(db: Db, accountId: number): Finding[] {
  const name = 'Webhooks';
  const endpoints = listEndpoints(db, accountId);
  if (endpoints.length === 0) return [];
  const disabled = endpoints.filter(({ disabled_code: code }) => code !== null && code !== 'by_owner');
  if (disabled.length === 0) return [{ name, state: 'ok', found: sentence('webhooks_well') }];
  // Only hosts are named, because paths and queries often contain a secret.
  const hosts = new Set(disabled.map(({ url }) => new URL(url).host));
  const advice = [sentence('webhooks_cure')];
  return [{ name, state: 'warn', found: sentence('webhooks_off', { name: [...hosts].join(', ') }), advice }];
}
