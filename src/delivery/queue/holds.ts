/**
 * Holds on campaigns, mailings and all sending: a code for programs and a reason for the owner. All sending is held after a restore until
 * the operator releases it, while the clock seems wrong, and while a required setting is missing. Each cause has its own row, so that the
 * end of one cause leaves the others. Mail can also wait without a hold, if no sender node can take it; that ends by itself, so it cannot
 * be released.
 */

import type { Database } from 'better-sqlite3';
import { findNamedValue, removeNamedValue, writeNamedValue } from '../../database/named-values.ts';
import type { HeldCode } from '../../database/schema/index.ts';
import { type Said, type Sentence, sentence } from '../../errors/sentences.ts';
import { readStored, stored } from '../../errors/stored.ts';
import { RELEASED } from '../../time/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../units.ts';

/** The number of days without the service after which mail that came due in the meantime is not sent without the operator's consent. */
const MAX_GAP_DAYS = 7;
const BEAT_INTERVAL_MS = MINUTE_MS;
/** The age of the last heartbeat at which the background thread has stalled, in milliseconds: three heartbeats are missing. */
export const STALLED_AFTER_MS = 3 * BEAT_INTERVAL_MS;

const BY_OPERATOR = 'sending_held';
const BY_CLOCK = 'sending_held_by_clock';
const BY_SETTINGS = 'sending_held_by_settings';

/** Returns several reasons as one, separated by semicolons; null if there is no reason. */
export function joinReasons(reasons: readonly Said[]): Said | null {
  return reasons.reduceRight<Said | null>(
    (more, reason) => (more === null ? reason : sentence('held_and', { reason, more })),
    null,
  );
}

/** Returns the reason why sending is held, including every cause; null if it is not held. */
export function sendingHeldReason(client: Database): Said | null {
  const causes = client
    .prepare<string[], string>('SELECT value FROM installation WHERE name IN (?, ?, ?) ORDER BY name')
    .pluck()
    .all(BY_OPERATOR, BY_CLOCK, BY_SETTINGS);
  return joinReasons(causes.map((cause) => readStored(cause)));
}

/** Returns true if sending is held for a cause that an operator can end. */
export function isReleasable(client: Database): boolean {
  return findNamedValue(client, BY_OPERATOR) !== null || findNamedValue(client, BY_CLOCK) !== null;
}

/** Holds all sending until `releaseSending` is called. */
export function holdSending(client: Database, reason: Said): void {
  writeNamedValue(client, BY_OPERATOR, stored(reason));
}

/** Holds all sending because of a problem with the settings, or ends that hold if `problem` is null. `now` is in epoch milliseconds. */
export function holdForSettings(client: Database, problem: Said | null, now: number): void {
  if (problem === null) return void endHolds(client, [BY_SETTINGS], now);
  const reason = stored(problem);
  if (findNamedValue(client, BY_SETTINGS) !== reason) writeNamedValue(client, BY_SETTINGS, reason);
}

/**
 * Ends the holds that an operator can end: those set by a restore and by the clock. Due mail is sent unless another cause remains. Accepts
 * `now`, epoch milliseconds, as the correct time. Returns false if there was no such hold.
 */
export function releaseSending(client: Database, now: number): boolean {
  return client
    .transaction(() => {
      writeNamedValue(client, 'last_seen', String(now));
      writeNamedValue(client, 'latest_seen', String(now));
      return endHolds(client, [BY_OPERATOR, BY_CLOCK], now);
    })
    .immediate();
}

/** Returns when sending was last released from a hold, in epoch milliseconds; 0 if never. */
export function releasedAt(client: Database): number {
  return Number(findNamedValue(client, 'released_at') ?? 0);
}

/** Returns when the background thread last ran, by the clock at that time, in epoch milliseconds; 0 before its first step. */
export function lastBeatAt(client: Database): number {
  return Number(findNamedValue(client, 'last_seen') ?? 0);
}

/**
 * Returns the latest time at which the service ran with a plausible clock, in epoch milliseconds; 0 before the first run. Setting the clock
 * back does not lower it.
 */
export function latestBeatAt(client: Database): number {
  const latest = Number(findNamedValue(client, 'latest_seen') ?? 0);
  // Earlier releases stored only the last heartbeat.
  const last = lastBeatAt(client);
  return latest === 0 && last >= RELEASED ? last : latest;
}

/**
 * Records at most once a minute that the service is running at the time `now` of the wall clock, epoch milliseconds. If the clock jumps
 * ahead, sending is held; when the clock is corrected, this hold ends by itself, because nothing was sent in between.
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
    else if (now >= latest - DAY_MS) endHolds(this.#client, [BY_CLOCK], now);
    if (Math.abs(now - this.#seen) < BEAT_INTERVAL_MS) return;
    this.#seen = now;
    writeNamedValue(this.#client, 'last_seen', String(now));
    // A time in the past, as on a machine that boots without the current time, is not recorded, because the correct time would later seem
    // to be a jump.
    if (!isAhead && now > Math.max(latest, RELEASED)) writeNamedValue(this.#client, 'latest_seen', String(now));
  }

  #holdAt(now: number, latest: number): void {
    if (findNamedValue(this.#client, BY_CLOCK) !== null) return;
    const days = Math.floor((now - latest) / DAY_MS);
    writeNamedValue(this.#client, BY_CLOCK, stored(sentence('held_clock', { days })));
  }
}

/** Ends these holds. Returns true if one of them existed. */
function endHolds(client: Database, names: readonly string[], now: number): boolean {
  const held = names.filter((name) => findNamedValue(client, name) !== null);
  for (const name of held) removeNamedValue(client, name);
  if (held.length > 0) writeNamedValue(client, 'released_at', String(now));
  return held.length > 0;
}

const MAIL_WAITS = 'mail_waits';

/** Returns why due mail waits although nothing is held; null if it does not wait. */
export function mailWaitsReason(client: Database): Said | null {
  return readStored(findNamedValue(client, MAIL_WAITS));
}

/** Records why mail waits; null if it no longer waits. Returns true if this is a change. */
export function noteMailWaits(client: Database, reason: Sentence | null): boolean {
  const value = reason && stored(reason);
  if (findNamedValue(client, MAIL_WAITS) === value) return false;
  if (value === null) removeNamedValue(client, MAIL_WAITS);
  else writeNamedValue(client, MAIL_WAITS, value);
  return true;
}

export interface Held {
  held_code: HeldCode;
  held_reason: Said;
}

/** The values of `Held` if there is no hold. */
export const NOT_HELD = { held_code: null, held_reason: null };

/** Hold codes whose sentences take no values. */
type PlainHeldCode = 'cancelled' | 'copy' | 'no_audience' | 'sender_deleted' | 'sender_unverified';

/** Returns a hold code with its sentence. */
export function holdFor(code: PlainHeldCode): Held {
  return { held_code: code, held_reason: sentence(`held_${code}`) };
}

/** Codes for holds that stop all mail: all sending is held, or no sender node takes mail. */
export const COMMON_HELD_CODES = ['sending_held', 'mail_waits'] as const;
type ReportedHeldCode = HeldCode | (typeof COMMON_HELD_CODES)[number];

/** The hold that a report shows. */
type ReportedHold = { held_code: ReportedHeldCode; held_reason: Said } | typeof NOT_HELD;

/**
 * Returns the hold of the first of these rows that is held. If none is held and `isUnderWay`, returns the hold of all sending, or the wait
 * for a sender node.
 */
export function reportedHold(
  client: Database,
  rows: readonly ({ held_code: HeldCode | null; held_reason: Said | null } | null | undefined)[],
  isUnderWay: boolean,
): ReportedHold {
  for (const row of rows) {
    if (row?.held_code) return { held_code: row.held_code, held_reason: row.held_reason ?? '' };
  }
  if (!isUnderWay) return NOT_HELD;
  const held = sendingHeldReason(client);
  if (held !== null) return { held_code: 'sending_held', held_reason: held };
  const waits = mailWaitsReason(client);
  return waits === null ? NOT_HELD : { held_code: 'mail_waits', held_reason: waits };
}
