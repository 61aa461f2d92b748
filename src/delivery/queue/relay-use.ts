/** The last time a relay could not be used, kept in the database for people to see. Older failures are in the log. */
import type { Database } from 'better-sqlite3';

const NAME = 'relay_failure';
/** Failures within this time of the last one that was kept are not kept: many connections fail at once. */
const QUIET_MS = 5_000;

export interface RelayFailure {
  /** Host and port. */
  relay: string;
  /** What the relay said, or why it was not reached. */
  reply: string;
  /** Epoch milliseconds. */
  at: number;
}

/** Keeps a failure, unless one was kept a moment ago. */
export function recordRelayFailure(client: Database, failure: RelayFailure): void {
  const last = findRelayFailure(client);
  if (last !== null && Math.abs(failure.at - last.at) < QUIET_MS) return;
  client
    .prepare(
      'INSERT INTO installation (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    )
    .run(NAME, JSON.stringify(failure));
}

/** The last failure; null when there was none. */
export function findRelayFailure(client: Database): RelayFailure | null {
  const value = client.prepare<[string], string>('SELECT value FROM installation WHERE name = ?').pluck().get(NAME);
  if (value === undefined) return null;
  const failure: RelayFailure = JSON.parse(value);
  return failure;
}
