/** When a relay last took a mail, and when one last could not be used, kept in the database for people to see. The log has all failures. */
import type { Database } from 'better-sqlite3';

const FAILURE = 'relay_failure';
const ACCEPTANCE = 'relay_acceptance';
/** Failures within this time of the last one that was kept are not kept: many connections fail at once. */
const QUIET_MS = 5_000;
/** A relay that takes mails is recorded this often. */
const ACCEPTANCE_MS = 60_000;

export interface RelayAcceptance {
  /** Host and port. */
  relay: string;
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

  constructor(client: Database) {
    this.#client = client;
  }

  /** Keeps that a relay took a mail: at once after a failure, otherwise once a minute. */
  accepted(acceptance: RelayAcceptance): void {
    const { relay, at } = acceptance;
    if (Math.abs(at - (this.#acceptedAt.get(relay) ?? 0)) < ACCEPTANCE_MS) return;
    write(this.#client, ACCEPTANCE, acceptance);
    this.#acceptedAt.set(relay, at);
  }

  /** Keeps a failure, unless one was kept a moment ago. */
  failed(failure: RelayFailure): void {
    const last = findRelayFailure(this.#client);
    if (last !== null && Math.abs(failure.at - last.at) < QUIET_MS) return;
    write(this.#client, FAILURE, failure);
    this.#acceptedAt.clear();
  }
}

/** The last failure of a relay; null when there was none. */
export function findRelayFailure(client: Database): RelayFailure | null {
  const value = read(client, FAILURE);
  if (value === undefined) return null;
  const failure: RelayFailure = JSON.parse(value);
  return failure;
}

/** When a relay last took a mail, to the minute; null when none did. */
export function findRelayAcceptance(client: Database): RelayAcceptance | null {
  const value = read(client, ACCEPTANCE);
  if (value === undefined) return null;
  const acceptance: RelayAcceptance = JSON.parse(value);
  return acceptance;
}

function read(client: Database, name: string): string | undefined {
  return client.prepare<[string], string>('SELECT value FROM installation WHERE name = ?').pluck().get(name);
}

function write(client: Database, name: string, value: object): void {
  client
    .prepare(
      'INSERT INTO installation (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    )
    .run(name, JSON.stringify(value));
}
