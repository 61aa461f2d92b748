/** Checks that take a few milliseconds: settings, disk, clock, held sending, permissions of files. */
import { readdirSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Database } from 'better-sqlite3';
import type { Config } from '../../config.ts';
import { findPublicUrl } from '../../delivery/links/public-url.ts';
import { latestBeatAt, sendingHeldReason } from '../../delivery/queue/holds.ts';
import { isTestMode, linksFault } from '../../delivery/transport/relays/in-use.ts';
import { type Said, sentence } from '../../errors/sentences.ts';
import { RELEASED } from '../../time/clock.ts';
import { DAY_MS } from '../../units.ts';
import type { Finding } from './finding.ts';

const GIB = 2 ** 30;
/** The check fails below this number of free bytes, and warns below four times as many. */
const MIN_BYTES = GIB / 4;

/** Returns the findings about settings, disk, clock and held sending at `now`, epoch milliseconds. */
export function localChecks(client: Database, config: Config, now: number): Finding[] {
  return [settingsCheck(client, config), diskCheck(config), clockCheck(client, now), heldCheck(client)];
}

function settingsCheck(client: Database, config: Config): Finding {
  const fault = linksFault(client, config);
  if (fault !== null) {
    return { name: 'Settings', state: 'fail', found: fault, advice: [sentence('settings_address')] };
  }
  const { url } = findPublicUrl(client, config);
  const advice: Said[] = [];
  if (isTestMode(client, config)) advice.push(sentence('settings_no_relay'));
  if (url === '') advice.push(sentence('settings_no_address'));
  else if (url.startsWith('http:')) {
    advice.push(sentence('settings_no_https'));
  }
  if (url.startsWith('https:') && config.TRUST_PROXY.length === 0) {
    advice.push(sentence('settings_no_proxy'));
  }
  return advice.length === 0
    ? { name: 'Settings', state: 'ok', found: sentence('settings_complete') }
    : { name: 'Settings', state: 'warn', found: sentence('settings_remarks'), advice };
}

function diskCheck(config: Config): Finding {
  const { bavail, bsize } = statfsSync(dirname(resolve(config.DATABASE_PATH)));
  const free = bavail * bsize;
  const found = sentence('disk_free', { size: (free / GIB).toFixed(1) });
  if (free >= 4 * MIN_BYTES) return { name: 'Disk', state: 'ok', found };
  const advice = [sentence('disk_cure')];
  return { name: 'Disk', state: free < MIN_BYTES ? 'fail' : 'warn', found, advice };
}

function clockCheck(client: Database, now: number): Finding {
  const time = new Date(now).toISOString();
  const advice = [sentence('clock_cure')];
  if (now < RELEASED)
    return { name: 'Clock', state: 'fail', found: sentence('clock_before_release', { time }), advice };
  if (latestBeatAt(client) > now + DAY_MS)
    return { name: 'Clock', state: 'fail', found: sentence('clock_behind', { time }), advice };
  return { name: 'Clock', state: 'ok', found: time };
}

function heldCheck(client: Database): Finding {
  const reason = sendingHeldReason(client);
  if (reason === null) return { name: 'Sending', state: 'ok', found: sentence('sending_on') };
  return {
    name: 'Sending',
    state: 'warn',
    found: sentence('sending_held', { reason }),
    advice: [sentence('sending_cure')],
  };
}

/** The permission bits of a file's group and of all other users. */
const NON_OWNER_BITS = 0o077;

/**
 * Checks the permissions of the database and of every file next to it whose name begins with that of the database: write-ahead log, lock,
 * unfinished copies and backups. Earlier releases created these files with the mode of the umask, and a file keeps its mode.
 */
export function filesCheck(config: Config): Finding {
  const path = resolve(config.DATABASE_PATH);
  const files = readdirSync(dirname(path))
    .filter((name) => name.startsWith(basename(path)))
    .map((name) => join(dirname(path), name));
  const open = process.platform === 'win32' ? [] : files.filter(isOpen);
  if (open.length === 0) return { name: 'Files', state: 'ok', found: sentence('files_private') };
  return {
    name: 'Files',
    state: 'warn',
    found: open.length === 1 ? sentence('files_open_one') : sentence('files_open', { count: open.length }),
    advice: open.map((file) => sentence('files_cure', { file })),
  };
}

function isOpen(file: string): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats?.isFile() === true && (stats.mode & NON_OWNER_BITS) !== 0;
}
