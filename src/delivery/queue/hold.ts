/**
 * Sending as a whole, held: after a restore until the operator says go, while the clock cannot be believed, while a setting that
 * mails rest on is missing. Each cause has a row of its own, so that lifting one leaves the others.
 */
import type { Database } from 'better-sqlite3';
import { RELEASED } from '../../clock.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** A gap longer than this since the service was last seen running is no pause: what came due in it is not sent unasked. */
const MAX_GAP_DAYS = 7;
const BEAT_INTERVAL_MS = 60_000;
/** A background thread not seen for longer has stalled: three beats are missing. */
export const STALLED_AFTER_MS = 3 * BEAT_INTERVAL_MS;

const BY_OPERATOR = 'sending_held';
const BY_CLOCK = 'sending_held_by_clock';
const BY_SETTINGS = 'sending_held_by_settings';

/** Why sending is held, every cause of it, or null. */
export function sendingHeldReason(client: Database): string | null {
  const reasons = client
    .prepare<string[], string>('SELECT value FROM installation WHERE name IN (?, ?, ?) ORDER BY name')
    .pluck()
    .all(BY_OPERATOR, BY_CLOCK, BY_SETTINGS);
  return reasons.length === 0 ? null : reasons.join('; ');
}

/** Holds all sending until `release`. */
export function holdSending(client: Database, reason: string): void {
  write(client, BY_OPERATOR, reason);
}

/** Holds all sending while `problem` says what is wrong with the settings; null lets it go on. `now` is epoch milliseconds. */
export function holdForSettings(client: Database, problem: string | null, now: number): void {
  if (problem === null) lift(client, [BY_SETTINGS], now);
  else if (read(client, BY_SETTINGS) !== problem) write(client, BY_SETTINGS, problem);
}

/**
 * Ends the holds that are the operator's to end, a restore's and the clock's; what is due goes unless another cause is left. The
 * clock is taken to be right at `now`, epoch milliseconds. False when there was no such hold.
 */
export function releaseSending(client: Database, now: number): boolean {
  return client
    .transaction(() => {
      write(client, 'last_seen', String(now));
      write(client, 'latest_seen', String(now));
      return lift(client, [BY_OPERATOR, BY_CLOCK], now);
    })
    .immediate();
}

/** When sending was last released from a hold, epoch milliseconds; 0 before. */
export function releasedAt(client: Database): number {
  return Number(read(client, 'released_at') ?? 0);
}

/** When the background was last seen running, by the clock of then, epoch milliseconds; 0 before its first step. */
export function lastBeatAt(client: Database): number {
  return Number(read(client, 'last_seen') ?? 0);
}

/**
 * The newest moment at which the service ran under a clock that was believed, epoch milliseconds; 0 before the first. A clock that
 * is set back does not lower it.
 */
export function latestBeatAt(client: Database): number {
  const latest = Number(read(client, 'latest_seen') ?? 0);
  // Written by an earlier release: the last beat is all there is.
  const last = lastBeatAt(client);
  return latest === 0 && last >= RELEASED ? last : latest;
}

/**
 * Notes that the service runs at this wall time (epoch milliseconds), at most once a minute. A leap ahead holds sending; a clock that
 * is set right again lifts this hold by itself, since nothing was sent in between and nothing is overdue that was not before.
 */
export class Heartbeat {
  readonly #client: Database;
  #seen: number;

  constructor(client: Database) {
    this.#client = client;
    this.#seen = lastBeatAt(client);
  }

  beat(now: number): void {
    const latest = latestBeatAt(this.#client);
    const isAhead = latest > 0 && now - latest > MAX_GAP_DAYS * DAY_MS;
    if (isAhead) this.#holdAt(now, latest);
    else if (now >= latest - DAY_MS) lift(this.#client, [BY_CLOCK], now);
    if (Math.abs(now - this.#seen) < BEAT_INTERVAL_MS) return;
    this.#seen = now;
    write(this.#client, 'last_seen', String(now));
    // A clock that is behind, as of a machine that boots without the time, must not make the right time look like a leap later.
    if (!isAhead && now > Math.max(latest, RELEASED)) write(this.#client, 'latest_seen', String(now));
  }

  #holdAt(now: number, latest: number): void {
    if (read(this.#client, BY_CLOCK) !== null) return;
    const days = Math.floor((now - latest) / DAY_MS);
    write(
      this.#client,
      BY_CLOCK,
      `The clock is ${days} days past when the service last ran: nothing is sent before a release, or before the clock is set right`,
    );
  }
}

/** Removes these holds; true when there was one. */
function lift(client: Database, names: readonly string[], now: number): boolean {
  const held = names.filter((name) => read(client, name) !== null);
  for (const name of held) client.prepare('DELETE FROM installation WHERE name = ?').run(name);
  if (held.length > 0) write(client, 'released_at', String(now));
  return held.length > 0;
}

function read(client: Database, name: string): string | null {
  const value = client.prepare('SELECT value FROM installation WHERE name = ?').pluck().get(name);
  return typeof value === 'string' ? value : null;
}

function write(client: Database, name: string, value: string): void {
  client
    .prepare(
      'INSERT INTO installation (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    )
    .run(name, value);
}
