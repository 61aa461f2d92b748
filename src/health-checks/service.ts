/** Checks of what the running service has left in the database: the background, the last failure of a relay, the last backup. */
import type { Database } from 'better-sqlite3';
import type { Config } from '../config.ts';
import { lastBackupAt } from '../database/backups.ts';
import { findRelayFailure } from '../delivery/queue/relay-use.ts';
import { lastBeatAt, STALLED_AFTER_MS } from '../delivery/queue/sending-hold.ts';
import { courierInUse, hasRelay } from '../delivery/transport/relays/in-use.ts';
import { SENTENCES, sentence } from '../sentences.ts';
import type { CheckResult, Finding } from './finding.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** A failed relay for which mail waits is tried again at least once a minute, so an older failure is over. */
const RECENT_MS = 10 * MINUTE_MS;
/** A last backup older than this is a warning. */
const BACKUP_DAYS = 7;

/** What background, relay and backups say at `now`, epoch milliseconds. */
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
  const name = 'Relay';
  const missing = missingRelay(client, config);
  if (missing !== null) return { name, ...missing };
  const failure = findRelayFailure(client);
  const age = failure === null ? Number.POSITIVE_INFINITY : Math.abs(now - failure.at);
  if (failure === null || age >= RECENT_MS) return { name, state: 'ok', found: sentence('relay_well') };
  const minutes = Math.floor(age / MINUTE_MS);
  const when =
    minutes > 1
      ? sentence('when_minutes', { count: minutes })
      : SENTENCES[minutes === 0 ? 'when_seconds' : 'when_minute'];
  const advice = [sentence('relay_cure')];
  return { name, state: 'warn', found: sentence('relay_failed', { when, reply: failure.reply }), advice };
}

/** What follows from having no relay; null where there is one. */
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
    ? { name, state: 'ok', found: sentence('backup_fresh', { day: last.slice(0, 10) }) }
    : { name, state: 'warn', found: sentence('backup_old', { days }), advice };
}
