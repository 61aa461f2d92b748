/** Records when an SMTP relay last accepted a mail, and when one last failed, in the database for display. */
import type { Database } from 'better-sqlite3';
import type { Config } from '../../config.ts';
import { findNamedValue, writeNamedValue } from '../../database/named-values.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { FailingRelays, relayKey } from '../transport/relays/failing-relays.ts';
import { relaysInUse } from '../transport/relays/in-use.ts';
import { relayName } from '../transport/smtp/relay-urls.ts';

const FAILURE = 'relay_failure';
const ACCEPTANCE = 'relay_acceptance';
/** The time after a stored failure in which further failures are not stored, because many connections fail at once. */
const QUIET_MS = 5_000;
/** How often the acceptances of an SMTP relay are recorded, in milliseconds. */
const ACCEPTANCE_MS = 60_000;

/** The fact that an SMTP relay accepted a mail. */
export interface RelayAcceptance {
  /** The host and port of the relay. */
  relay: string;
  /** The id of the relay's row, if it is stored in the database. */
  id?: number | undefined;
  /** The time in epoch milliseconds. */
  at: number;
}

export interface RelayFailure extends RelayAcceptance {
  /** The relay's reply, or why it could not be reached. */
  reply: string;
}

/** Records the use of SMTP relays, rarely enough that it costs nothing compared with sending. */
export class RelayUse {
  readonly #client: Database;
  /** When the last acceptance of each SMTP relay was recorded, in epoch milliseconds, by relay. */
  readonly #acceptedAt = new Map<string, number>();
  /** When the last failure of each SMTP relay was recorded, in epoch milliseconds, by relay. */
  readonly #failedAt = new Map<string, number>();
  readonly #failing = new FailingRelays();

  constructor(client: Database) {
    this.#client = client;
  }

  /**
   * Records that an SMTP relay accepted a mail: at once after a failure, otherwise once a minute. Returns true if it was failing before.
   */
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

  /** Records a failure, unless one of the same SMTP relay was recorded a moment ago. Returns true if the relay was working before. */
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
    // The next acceptance by any relay is recorded at once, because it ends the failure that is displayed.
    this.#acceptedAt.clear();
    return isNews;
  }
}

/** Records the result of testing an SMTP relay of the database; `at` is epoch milliseconds, `reply` is null if the test passed. */
export function recordRelayTest(client: Database, id: number, reply: string | null, at: number): void {
  const stamp = isoTimestamp(new Date(at));
  if (reply === null) client.prepare('UPDATE relays SET answered_at = ? WHERE id = ?').run(stamp, id);
  else client.prepare('UPDATE relays SET failed_at = ?, failure = ? WHERE id = ?').run(stamp, reply, id);
}

/** Returns the last failure of an SMTP relay; null if there was none. */
export function findRelayFailure(client: Database): RelayFailure | null {
  const value = findNamedValue(client, FAILURE);
  if (value === null) return null;
  const failure: RelayFailure = JSON.parse(value);
  return failure;
}

/** Returns when an SMTP relay last accepted a mail, to the minute; null if no relay did. */
export function findRelayAcceptance(client: Database): RelayAcceptance | null {
  const value = findNamedValue(client, ACCEPTANCE);
  if (value === null) return null;
  const acceptance: RelayAcceptance = JSON.parse(value);
  return acceptance;
}

/** Returns the last failure of an SMTP relay in use, if no relay has accepted a mail since; otherwise null. */
export function currentRelayFailure(client: Database, config: Config): RelayFailure | null {
  const failure = findRelayFailure(client);
  const acceptance = findRelayAcceptance(client);
  if (failure === null || (acceptance !== null && acceptance.at >= failure.at)) return null;
  return relaysInUse(client, config).some((relay) => relayName(relay) === failure.relay) ? failure : null;
}
