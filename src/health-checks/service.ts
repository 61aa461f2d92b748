/** Checks of what the running service has left in the database: the background, the last failure of a relay, the last backup. */
import type { Database } from 'better-sqlite3';
import type { Config } from '../config.ts';
import { lastBackupAt } from '../database/backups.ts';
import { findRelayFailure } from '../delivery/queue/relay-failures.ts';
import { lastBeatAt, STALLED_AFTER_MS } from '../delivery/queue/sending-hold.ts';
import type { Finding } from './finding.ts';

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
  if (Math.abs(now - lastBeatAt(client)) < STALLED_AFTER_MS) return { name, state: 'ok', found: 'running' };
  const advice = ['Read the log, then restart the service. Nothing is lost: what is due is in the database.'];
  return { name, state: 'fail', found: 'stalled: nothing is sent, and segments are not brought up to date', advice };
}

function relayCheck(client: Database, { SMTP_URL }: Config, now: number): Finding {
  const name = 'Relay';
  if (SMTP_URL === '') {
    const advice = ['Set SMTP_URL to the relay that mail is to be handed to.'];
    return { name, state: 'warn', found: 'none: mail stays in the built-in outbox', advice };
  }
  const failure = findRelayFailure(client);
  const age = failure === null ? Number.POSITIVE_INFINITY : Math.abs(now - failure.at);
  if (failure === null || age >= RECENT_MS) return { name, state: 'ok', found: 'no failure in the last 10 minutes' };
  const minutes = Math.floor(age / MINUTE_MS);
  const when = minutes === 0 ? 'less than a minute ago' : minutes === 1 ? 'a minute ago' : `${minutes} minutes ago`;
  const advice = ['Mail waits and is tried again by itself. To find the cause: sendlark doctor'];
  return { name, state: 'warn', found: `failed ${when}: ${failure.reply}`, advice };
}

function backupCheck(client: Database, now: number): Finding {
  const name = 'Backup';
  const last = lastBackupAt(client);
  const advice = ['Make one each day, onto another disk: sendlark backup FILE'];
  if (last === null) return { name, state: 'warn', found: 'none was made with sendlark backup', advice };
  const days = Math.floor((now - Date.parse(last)) / DAY_MS);
  return days < BACKUP_DAYS
    ? { name, state: 'ok', found: `the last one is of ${last.slice(0, 10)}` }
    : { name, state: 'warn', found: `the last one is ${days} days old`, advice };
}
