/** The event URLs that accounts give to their mail providers, with their secrets and counts. */

import type { Database } from 'better-sqlite3';
import type { MailProvider } from '../../../database/schema/index.ts';
import { isBusy } from '../../../database/write-lock.ts';
import { type Clock, isoTimestamp } from '../../../time/clock.ts';
import { openText, sealText } from '../../transport/relays/sealing.ts';
import type { RefusalCode } from './provider-event.ts';

export interface Intake {
  id: number;
  user_id: number;
  provider: MailProvider;
  sealed_secret: string | null;
  topic: string | null;
}

/** The number of events by effect; the names are those of the columns. */
export interface EventCounts {
  permanent: number;
  returned: number;
  temporary: number;
  complaints: number;
  unsubscribes: number;
  others: number;
  unmatched: number;
  duplicates: number;
}

/** Adds an intake and returns its id. `secret` is null if the URL itself is the secret. */
export function storeIntake(
  client: Database,
  { accountId, provider, secret }: { accountId: number; provider: MailProvider; secret: string | null },
  now: Date,
): number {
  const sealed = secret === null ? null : sealText(client, secret, purposeOf(accountId, provider));
  const { lastInsertRowid } = client
    .prepare('INSERT INTO provider_intakes (user_id, provider, sealed_secret, created_at) VALUES (?, ?, ?, ?)')
    .run(accountId, provider, sealed, isoTimestamp(now));
  return Number(lastInsertRowid);
}

/** Removes an intake, so that its URL no longer works. The caller must have checked that the intake belongs to the account. */
export function removeIntake(client: Database, id: number): void {
  client.prepare('DELETE FROM provider_intakes WHERE id = ?').run(id);
}

/** The intake with this id; undefined if there is none. */
export function findIntake(client: Database, id: number): Intake | undefined {
  return client
    .prepare<[number], Intake>('SELECT id, user_id, provider, sealed_secret, topic FROM provider_intakes WHERE id = ?')
    .get(id);
}

/** Returns the key or password of an intake; null if it has none or if it cannot be decrypted. */
export function openIntakeSecret(client: Database, intake: Intake): string | null {
  const { sealed_secret: sealed, user_id, provider } = intake;
  return sealed === null ? null : openText(client, sealed, purposeOf(user_id, provider));
}

/** Stores the topic of a subscription. Returns false if a different topic was confirmed before. */
export function keepTopic(client: Database, id: number, topic: string): boolean {
  const { changes } = client
    .prepare('UPDATE provider_intakes SET topic = ? WHERE id = ? AND (topic IS NULL OR topic = ?)')
    .run(topic, id, topic);
  return changes > 0;
}

/** Adds to the counts. `remembered` is the change in the number of rows in provider_event_keys. */
export function countEvents(
  client: Database,
  id: number,
  counts: EventCounts,
  { name, remembered, now }: { name: string; remembered: number; now: Date },
): void {
  client
    .prepare(`UPDATE provider_intakes SET permanent = permanent + @permanent, returned = returned + @returned,
       temporary = temporary + @temporary, complaints = complaints + @complaints, unsubscribes = unsubscribes + @unsubscribes,
       others = others + @others, unmatched = unmatched + @unmatched, duplicates = duplicates + @duplicates,
       remembered = remembered + @remembered, last_event = @name, last_event_at = @at WHERE id = @id`)
    .run({ ...counts, id, name, remembered, at: isoTimestamp(now) });
}

/** Adds to an intake's number of refused requests. */
export function countRefusals(client: Database, id: number, code: RefusalCode, times: number, now: Date): void {
  client
    .prepare('UPDATE provider_intakes SET refused = refused + ?, last_refusal = ?, last_refused_at = ? WHERE id = ?')
    .run(times, code, isoTimestamp(now), id);
}

function purposeOf(accountId: number, provider: MailProvider): string {
  return `events/${provider}/${accountId}`;
}

/** The time after which failed requests are counted anew, in milliseconds. */
const WINDOW_MS = 60_000;
/** The maximum number of failed requests per minute, per network and per intake. */
const MAX_FAILURES = 30;
/** The maximum number of callers whose failures are remembered; beyond it, the oldest are forgotten. */
const MAX_CALLERS = 10_000;
/** The minimum time between two writes of an intake's count, in milliseconds. */
const WRITE_MS = 1000;

/** The key under which requests to an intake are limited, whatever network they come from. */
export function intakeCaller(intakeId: number): string {
  return `intake ${intakeId}`;
}

/** Counts refused requests, so that a caller with many of them has to wait and the owner of an intake sees their number. */
export class RefusedRequests {
  readonly #client: Database;
  readonly #clock: Clock;
  readonly #callers = new Map<string, { failures: number; since: number }>();
  readonly #unwritten = new Map<number, { times: number; code: RefusalCode; writtenAt: number }>();

  constructor(client: Database, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /**
   * Returns how many milliseconds a caller has to wait before its next request is processed; 0 if it need not wait. A caller is a network
   * or an `intakeCaller`.
   */
  waitMs(caller: string): number {
    const counted = this.#callers.get(caller);
    if (counted === undefined || counted.failures < MAX_FAILURES) return 0;
    return Math.max(0, counted.since + WINDOW_MS - this.#clock.monotonic());
  }

  /** Counts a failed request of a caller. */
  failed(caller: string): void {
    const now = this.#clock.monotonic();
    const counted = this.#callers.get(caller);
    if (counted !== undefined && now - counted.since < WINDOW_MS) counted.failures++;
    else {
      this.#callers.delete(caller);
      this.#callers.set(caller, { failures: 1, since: now });
    }
    const [first] = this.#callers.keys();
    if (this.#callers.size > MAX_CALLERS && first !== undefined) this.#callers.delete(first);
  }

  /** Counts a refused request to an intake, for its owner. */
  refused(intakeId: number, code: RefusalCode): void {
    this.failed(intakeCaller(intakeId));
    const count = this.#unwritten.get(intakeId) ?? { times: 0, code, writtenAt: Number.NEGATIVE_INFINITY };
    this.#unwritten.set(intakeId, count);
    count.times++;
    count.code = code;
    if (this.#clock.monotonic() - count.writtenAt >= WRITE_MS) this.write(intakeId);
  }

  /** Writes the counts of an intake that are not written yet. */
  write(intakeId: number): void {
    const count = this.#unwritten.get(intakeId);
    if (count === undefined || count.times === 0) return;
    try {
      countRefusals(this.#client, intakeId, count.code, count.times, this.#clock.now());
    } catch (error) {
      // The database is busy, so the counts are written with the next refusal.
      if (!isBusy(error)) throw error;
      return;
    }
    Object.assign(count, { times: 0, writtenAt: this.#clock.monotonic() });
  }
}
