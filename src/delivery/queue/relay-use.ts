/** When a relay last took a mail, and when one last could not be used, kept in the database for people to see. */
import type { Database } from 'better-sqlite3';
import type { Config } from '../../config.ts';
import { findNamedValue, writeNamedValue } from '../../database/named-values.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { FailingRelays, relayKey } from '../transport/relays/failing-relays.ts';
import { relaysInUse } from '../transport/relays/in-use.ts';
import { relayName } from '../transport/smtp/relay-urls.ts';

const FAILURE = 'relay_failure';
const ACCEPTANCE = 'relay_acceptance';
/** Failures within this time of the last one that was kept are not kept: many connections fail at once. */
const QUIET_MS = 5_000;
/** A relay that takes mails is recorded this often. */
const ACCEPTANCE_MS = 60_000;

export interface RelayAcceptance {
  /** Host and port. */
  relay: string;
  /** Its row, where it is kept in the file. */
  id?: number | undefined;
  /** Epoch milliseconds. */
  at: number;
}

export interface RelayFailure extends RelayAcceptance {
  /** What the relay said, or why it was not reached. */
  reply: string;
}

/** Records how relays are used, rarely enough to cost nothing beside the mails. */
export class RelayUse {
  readonly #client: Database;
  /** When each relay was last recorded as having taken a mail, epoch milliseconds. */
  readonly #acceptedAt = new Map<string, number>();
  /** When a failure of each relay was last kept, epoch milliseconds. */
  readonly #failedAt = new Map<string, number>();
  readonly #failing = new FailingRelays();

  constructor(client: Database) {
    this.#client = client;
  }

  /** Keeps that a relay took a mail: at once after a failure, otherwise once a minute. True if it could not be used before. */
  accepted({ relay, id, at }: RelayAcceptance): boolean {
    const key = relayKey(relay, id);
    const isNews = this.#failing.delete(relay, id);
    if (!isNews && Math.abs(at - (this.#acceptedAt.get(key) ?? 0)) < ACCEPTANCE_MS) return false;
    writeNamedValue(this.#client, ACCEPTANCE, JSON.stringify({ relay, at }));
    if (id !== undefined)
      this.#client.prepare('UPDATE relays SET accepted_at = ? WHERE id = ?').run(isoTimestamp(new Date(at)), id);
    this.#acceptedAt.set(key, at);
    return isNews;
  }

  /** Keeps a failure, unless one of the same relay was kept a moment ago. True if the relay could be used before. */
  failed({ relay, id, reply, at }: RelayFailure): boolean {
    const key = relayKey(relay, id);
    const isNews = this.#failing.add(relay, id);
    if (!isNews && Math.abs(at - (this.#failedAt.get(key) ?? 0)) < QUIET_MS) return false;
    writeNamedValue(this.#client, FAILURE, JSON.stringify({ relay, reply, at }));
    if (id !== undefined)
      this.#client
        .prepare('UPDATE relays SET failed_at = ?, failure = ? WHERE id = ?')
        .run(isoTimestamp(new Date(at)), reply, id);
    this.#failedAt.set(key, at);
    this.#acceptedAt.clear();
    return isNews;
  }
}

/** Keeps what the test of a relay of the file found, at a time in epoch milliseconds; `reply` is null if it passed. */
export function recordRelayTest(client: Database, id: number, reply: string | null, at: number): void {
  const stamp = isoTimestamp(new Date(at));
  if (reply === null) client.prepare('UPDATE relays SET answered_at = ? WHERE id = ?').run(stamp, id);
  else client.prepare('UPDATE relays SET failed_at = ?, failure = ? WHERE id = ?').run(stamp, reply, id);
}

/** The last failure of a relay; null when there was none. */
export function findRelayFailure(client: Database): RelayFailure | null {
  const value = findNamedValue(client, FAILURE);
  if (value === null) return null;
  const failure: RelayFailure = JSON.parse(value);
  return failure;
}

/** When a relay last took a mail, to the minute; null when none did. */
export function findRelayAcceptance(client: Database): RelayAcceptance | null {
  const value = findNamedValue(client, ACCEPTANCE);
  if (value === null) return null;
  const acceptance: RelayAcceptance = JSON.parse(value);
  return acceptance;
}

/** The last failure of a relay that is in use, as long as no relay has taken a mail since; else null. */
export function relayFailing(client: Database, config: Config): RelayFailure | null {
  const failure = findRelayFailure(client);
  const acceptance = findRelayAcceptance(client);
  if (failure === null || (acceptance !== null && acceptance.at >= failure.at)) return null;
  return relaysInUse(client, config).some((relay) => relayName(relay) === failure.relay) ? failure : null;
}
