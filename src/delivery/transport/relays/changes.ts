/**
 * Changes the SMTP relays stored in the database. A change does not wake any thread: the courier watches the revision number that is
 * incremented here.
 */
import type { Database } from 'better-sqlite3';
import { asc, eq, sql } from 'drizzle-orm';
import type { Db } from '../../../database/open.ts';
import { relays } from '../../../database/schema/index.ts';
import { isoTimestamp } from '../../../time/clock.ts';
import type { RelayRow } from './in-use.ts';
import { sealPassword } from './sealing.ts';

export type StoredRelay = typeof relays.$inferSelect;

/** The fields that an operator enters. */
export interface GivenRelay extends Omit<RelayRow, 'id' | 'sealed_password'> {
  name: string;
  /** The password; empty to keep the stored password, if that is for this server. */
  password: string;
}

/**
 * Returns true if the stored password may be kept with the new host and port: a password is only ever sent to the server for which it was
 * entered.
 */
export function keepsPassword(
  before: StoredRelay | undefined,
  { host, port }: { host: string; port: number },
): boolean {
  return before !== undefined && before.sealed_password !== null && before.host === host && before.port === port;
}

/** Adds an SMTP relay at the end, or changes the relay `before`. Returns its id. Call it inside a transaction. */
export function saveRelay(db: Db, before: StoredRelay | undefined, input: GivenRelay, now: Date): number {
  const { password, ...fields } = input;
  const kept = keepsPassword(before, input) ? before?.sealed_password : null;
  const sealed = password === '' ? kept : sealPassword(db.$client, password, input);
  const sealed_password = input.username === '' ? null : (sealed ?? null);
  const stamp = isoTimestamp(now);
  countRelayChange(db.$client);
  if (before === undefined) {
    const position = sql`(SELECT ifnull(max(position), 0) + 1 FROM relays)`;
    const row = { ...fields, sealed_password, position, created_at: stamp, updated_at: stamp };
    return db.insert(relays).values(row).returning({ id: relays.id }).get().id;
  }
  const isSame =
    sealed_password === before.sealed_password &&
    (['host', 'port', 'security', 'username'] as const).every((name) => before[name] === input[name]);
  // The recorded results say nothing about a different connection, so they are removed.
  const forgotten = isSame ? {} : { accepted_at: null, answered_at: null, failed_at: null, failure: null };
  db.update(relays)
    .set({ ...fields, ...forgotten, sealed_password, updated_at: stamp })
    .where(eq(relays.id, before.id))
    .run();
  return before.id;
}

/** Removes an SMTP relay and its password. Call it inside a transaction. */
export function deleteRelay(db: Db, id: number): void {
  countRelayChange(db.$client);
  db.delete(relays).where(eq(relays.id, id)).run();
}

/** Orders the SMTP relays by these ids; relays that are not listed follow. Call it inside a transaction. */
export function orderRelays(db: Db, ids: readonly number[]): void {
  countRelayChange(db.$client);
  const stored = db.select({ id: relays.id }).from(relays).orderBy(asc(relays.position), asc(relays.id)).all();
  const rest = stored.map(({ id }) => id).filter((id) => !ids.includes(id));
  for (const [position, id] of [...ids, ...rest].entries())
    db.update(relays)
      .set({ position: position + 1 })
      .where(eq(relays.id, id))
      .run();
}

/**
 * Increments the revision after a change of the SMTP relays, or of the relay assigned to a sender: mail that waits for a connection goes
 * back to the queue and is then sent by the new choice. Call it inside the transaction of the change.
 */
export function countRelayChange(client: Database): void {
  client
    .prepare(`
      INSERT INTO installation (name, value) VALUES ('relays_revision', '1')
      ON CONFLICT (name) DO UPDATE SET value = CAST(value AS INTEGER) + 1`)
    .run();
}
