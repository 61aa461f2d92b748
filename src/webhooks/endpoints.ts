/** The endpoints of an account. Only this folder adds endpoints, changes their state, and lists the events that they ask for. */
import { randomBytes } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { and, asc, eq } from 'drizzle-orm';
import { addNamedValue, findNamedValue } from '../database/named-values.ts';
import type { Db } from '../database/open.ts';
import { type WEBHOOK_DISABLED_CODES, webhookEndpoints } from '../database/schema/index.ts';
import { openText, sealText } from '../delivery/transport/relays/sealing.ts';
import { isoTimestamp } from '../time/clock.ts';
import { DAY_MS } from '../units.ts';
import { newSecret } from './signature.ts';

export type Endpoint = typeof webhookEndpoints.$inferSelect;
export type DisabledCode = (typeof WEBHOOK_DISABLED_CODES)[number];

/** The named value that has the prefix of event ids. */
const PREFIX_NAME = 'webhook_prefix';
/** How long after a rotation the previous secret also signs. */
const ROTATION_MS = DAY_MS;

/** Returns the endpoints of an account in the order in which they were added. */
export function listEndpoints(db: Db, accountId: number): Endpoint[] {
  return db
    .select()
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.user_id, accountId))
    .orderBy(asc(webhookEndpoints.id))
    .all();
}

/** Returns the account's endpoint with this id, or undefined. */
export function findEndpoint(db: Db, accountId: number, id: number): Endpoint | undefined {
  return db
    .select()
    .from(webhookEndpoints)
    .where(and(eq(webhookEndpoints.id, id), eq(webhookEndpoints.user_id, accountId)))
    .get();
}

/** The settings of an endpoint that its owner chooses. */
export interface EndpointInput {
  url: string;
  note: string;
  events: readonly string[];
}

/** Adds an endpoint, which receives events from now on. Returns its id and secret. Call inside a transaction. */
export function addEndpoint(
  db: Db,
  accountId: number,
  input: EndpointInput,
  now: Date,
): { id: number; secret: string } {
  const stamp = isoTimestamp(now);
  const client = db.$client;
  addNamedValue(client, PREFIX_NAME, randomBytes(8).toString('hex'));
  const { id } = db
    .insert(webhookEndpoints)
    .values({
      ...input,
      events: [...input.events],
      user_id: accountId,
      state: 'enabled',
      sealed_secret: '',
      position: lastEventId(client),
      created_at: stamp,
      updated_at: stamp,
    })
    .returning({ id: webhookEndpoints.id })
    .get();
  const secret = newSecret();
  client
    .prepare('UPDATE webhook_endpoints SET sealed_secret = ? WHERE id = ?')
    .run(sealText(client, secret, purposeOf(id)), id);
  renewWants(client, accountId);
  return { id, secret };
}

/** Changes an endpoint. If its URL changes, waiting events are sent to the new URL at once. Call inside a transaction. */
export function changeEndpoint(db: Db, endpoint: Endpoint, input: EndpointInput, now: Date): void {
  db.update(webhookEndpoints)
    .set({ ...input, events: [...input.events], updated_at: isoTimestamp(now) })
    .where(eq(webhookEndpoints.id, endpoint.id))
    .run();
  if (input.url !== endpoint.url) retryWaiting(db.$client, endpoint.id, now);
  renewWants(db.$client, endpoint.user_id);
}

/** Deletes an endpoint with its waiting events and its log. Call inside a transaction. */
export function deleteEndpoint(db: Db, { id, user_id }: Endpoint): void {
  for (const table of ['webhook_waiting', 'webhook_log'])
    db.$client.prepare(`DELETE FROM ${table} WHERE endpoint_id = ?`).run(id);
  db.delete(webhookEndpoints).where(eq(webhookEndpoints.id, id)).run();
  renewWants(db.$client, user_id);
}

/** Gives an endpoint a new secret and returns it. The previous secret also signs for a day. Call inside a transaction. */
export function rotateSecret(db: Db, endpoint: Endpoint, now: Date): string {
  const secret = newSecret();
  db.update(webhookEndpoints)
    .set({
      sealed_secret: sealText(db.$client, secret, purposeOf(endpoint.id)),
      previous_sealed_secret: endpoint.sealed_secret,
      previous_until: now.getTime() + ROTATION_MS,
      updated_at: isoTimestamp(now),
    })
    .where(eq(webhookEndpoints.id, endpoint.id))
    .run();
  return secret;
}

/** Disables an endpoint and stores why. If the endpoint is disabled already, it keeps its reason. Call inside a transaction. */
export function disableEndpoint(client: Database, id: number, code: DisabledCode, now: Date): void {
  const accountId = client
    .prepare<[string, string, number], number>(
      "UPDATE webhook_endpoints SET state = 'disabled', disabled_code = ?, updated_at = ? WHERE id = ? AND state = 'enabled' RETURNING user_id",
    )
    .pluck()
    .get(code, isoTimestamp(now), id);
  if (accountId !== undefined) renewWants(client, accountId);
}

/**
 * Enables an endpoint. Events that still wait for the endpoint get all their attempts again. Events of the time in which it was
 * disabled are sent only if they were stored for another endpoint of the account. Call inside a transaction.
 */
export function enableEndpoint(client: Database, { id, user_id }: Endpoint, now: Date): void {
  client
    .prepare(
      "UPDATE webhook_endpoints SET state = 'enabled', disabled_code = NULL, failures = 0, updated_at = ? WHERE id = ?",
    )
    .run(isoTimestamp(now), id);
  retryWaiting(client, id, now);
  renewWants(client, user_id);
}

/** Gives the events that wait for an endpoint all their attempts again. The first event of each lane is due now. */
function retryWaiting(client: Database, endpointId: number, now: Date): void {
  client
    .prepare(`
      UPDATE webhook_waiting AS w SET attempts = 0, failed_since = NULL, due_at = iif(event_id = (
        SELECT min(event_id) FROM webhook_waiting WHERE endpoint_id = w.endpoint_id AND lane = w.lane AND is_manual = 0), ?, NULL)
      WHERE endpoint_id = ? AND is_manual = 0`)
    .run(now.getTime(), endpointId);
}

/** Returns the id of the newest event of any account; 0 if there has been none. */
export function lastEventId(client: Database): number {
  // The highest stored id would be too low if the newest event was removed: its id is never used again.
  return Number(
    client.prepare("SELECT ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'webhook_events'), 0)").pluck().get(),
  );
}

/** Returns the prefix of all event ids of this installation, so that two installations never use the same id. */
export function eventIdPrefix(client: Database): string {
  return `evt_${findNamedValue(client, PREFIX_NAME)}_`;
}

/** Unseals the secret of an endpoint. Returns null if it was sealed for another endpoint or installation, or was tampered with. */
export function openSecret(client: Database, sealed: string, endpointId: number): string | null {
  return openText(client, sealed, purposeOf(endpointId));
}

/** Returns the text to which a sealed secret is bound, so that it cannot be unsealed for another endpoint. */
function purposeOf(endpointId: number): string {
  return `webhook ${endpointId}`;
}

/** Updates the list of the events that the enabled endpoints of an account ask for. No other events are stored. */
function renewWants(client: Database, accountId: number): void {
  client.prepare('DELETE FROM webhook_wants WHERE user_id = ?').run(accountId);
  client
    .prepare(`
      INSERT INTO webhook_wants (user_id, event)
      SELECT DISTINCT user_id, value FROM webhook_endpoints, json_each(events) WHERE user_id = ? AND state = 'enabled'`)
    .run(accountId);
}
