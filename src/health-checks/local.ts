/** Checks of this machine that take a few milliseconds: settings, disk, clock, held sending. */
import { statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Database } from 'better-sqlite3';
import { RELEASED } from '../clock.ts';
import { type Config, linksFault } from '../config.ts';
import { latestBeatAt, sendingHeldReason } from '../delivery/queue/sending-hold.ts';
import type { Finding } from './finding.ts';

const GIB = 2 ** 30;
/** Less than this fails; less than four times as much is a warning. */
const LEAST_BYTES = GIB / 4;
const DAY = 24 * 60 * 60 * 1000;

/** What settings, disk, clock and holds say at `now`, epoch milliseconds. */
export function localChecks(client: Database, config: Config, now: number): Finding[] {
  return [settingsCheck(config), diskCheck(config), clockCheck(client, now), heldCheck(client)];
}

function settingsCheck(config: Config): Finding {
  const fault = linksFault(config);
  if (fault !== null) {
    const advice = [
      'Set PUBLIC_URL to the address under which recipients reach the service; sending is held until then.',
    ];
    return { name: 'Settings', state: 'fail', found: fault, advice };
  }
  const advice: string[] = [];
  if (config.SMTP_URL === '') advice.push('SMTP_URL is not set: mail stays in the built-in outbox.');
  if (config.PUBLIC_URL === '') advice.push('PUBLIC_URL is not set: links in mails lead to this machine only.');
  else if (config.PUBLIC_URL.startsWith('http:')) {
    advice.push('PUBLIC_URL is not https: one-click unsubscribing (RFC 8058) needs https.');
  }
  if (config.PUBLIC_URL.startsWith('https:') && config.TRUST_PROXY.length === 0) {
    advice.push('PUBLIC_URL is https and TRUST_PROXY is off: name the reverse proxy that ends TLS.');
  }
  return advice.length === 0
    ? { name: 'Settings', state: 'ok', found: 'complete' }
    : { name: 'Settings', state: 'warn', found: 'valid, with remarks', advice };
}

function diskCheck(config: Config): Finding {
  const { bavail, bsize } = statfsSync(dirname(resolve(config.DATABASE_PATH)));
  const free = bavail * bsize;
  const found = `${(free / GIB).toFixed(1)} GiB free beside the database`;
  if (free >= 4 * LEAST_BYTES) return { name: 'Disk', state: 'ok', found };
  const advice = ['Make room: with a full disk nothing is sent until there is space again.'];
  return { name: 'Disk', state: free < LEAST_BYTES ? 'fail' : 'warn', found, advice };
}

function clockCheck(client: Database, now: number): Finding {
  const found = new Date(now).toISOString();
  const advice = ['Set the clock and keep it right, with systemd-timesyncd or chrony.'];
  if (now < RELEASED) return { name: 'Clock', state: 'fail', found: `${found}, before this release was made`, advice };
  if (latestBeatAt(client) > now + DAY) {
    return { name: 'Clock', state: 'fail', found: `${found}, a day or more before the service last ran`, advice };
  }
  return { name: 'Clock', state: 'ok', found };
}

function heldCheck(client: Database): Finding {
  const reason = sendingHeldReason(client);
  if (reason === null) return { name: 'Sending', state: 'ok', found: 'not held' };
  return { name: 'Sending', state: 'warn', found: `held. ${reason}`, advice: ['To let it go on: sendlark release'] };
}
