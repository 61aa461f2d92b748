/** The reads and writes of the dispatcher: endpoints, events, events that wait for a retry, and the log. */
import type { Database } from 'better-sqlite3';
import type { webhookEvents, webhookLog, webhookWaiting } from '../database/schema/index.ts';
import { stored } from '../errors/stored.ts';
import { type DisabledCode, disableEndpoint, type Endpoint } from './endpoints.ts';

/** An event as it is stored, without its account. */
export type StoredEvent = Omit<typeof webhookEvents.$inferSelect, 'user_id'>;

/** An event that waits for a retry, or a test or replay that waits to be sent. */
export type WaitingEvent = StoredEvent &
  Pick<typeof webhookWaiting.$inferSelect, 'attempts' | 'failed_since' | 'is_manual'>;

/** One attempt, for the log. */
export type Attempt = Omit<typeof webhookLog.$inferSelect, 'id' | 'endpoint_id'>;

/** What the attempts of an endpoint have changed since the last record. Each event id is in `waits` or `ended` at most once. */
export interface Progress {
  endpointId: number;
  /** The id of the last event before the first one that is not done. */
  position: number;
  /** The number of failures in a row. */
  failures: number;
  /** When an attempt last succeeded, in epoch milliseconds; null if no attempt has succeeded since the last record. */
  succeededAt: number | null;
  /** When an attempt last failed, in epoch milliseconds; null if no attempt has failed since the last record. */
  failedAt: number | null;
  /** The attempts to add to the log. */
  attempts: readonly Attempt[];
  /** Events that must wait. `due_at` is null if they wait for an earlier event of their lane. */
  waits: readonly Omit<typeof webhookWaiting.$inferSelect, 'endpoint_id' | 'is_manual'>[];
  /** Waiting events that succeeded or were given up. The next event of the lane becomes due. */
  ended: readonly Pick<typeof webhookWaiting.$inferSelect, 'event_id' | 'lane' | 'is_manual'>[];
  /** True if an attempt succeeded after earlier attempts had failed. Then all events that wait for a retry are due at once. */
  recovered: boolean;
  /** Why the endpoint must be disabled; null if it stays enabled. */
  disable: DisabledCode | null;
}

/** The maximum number of successful attempts, and also of failed attempts, that are stored for each endpoint. */
export const KEPT_ATTEMPTS = 1000;

const READ_EVENTS = `
  SELECT id, type, lane, data, created_at FROM webhook_events INDEXED BY webhook_events_user
  WHERE user_id = ? AND id > ? ORDER BY id LIMIT ?`;
const DUE_EVENTS = `
  SELECT e.id, e.type, e.lane, e.data, e.created_at, w.attempts, w.failed_since, w.is_manual
  FROM webhook_waiting w INDEXED BY webhook_waiting_due CROSS JOIN webhook_events e ON e.id = w.event_id
  WHERE w.endpoint_id = ? AND w.due_at <= ? ORDER BY w.due_at, w.event_id LIMIT ?`;
// The query uses the index of the primary key, which has `is_manual`, so that it does not read the rows of retries. The index of due
// events does not have this column.
const DUE_MANUAL_EVENTS = `
  SELECT e.id, e.type, e.lane, e.data, e.created_at, w.attempts, w.failed_since, w.is_manual
  FROM webhook_waiting w INDEXED BY sqlite_autoindex_webhook_waiting_1 CROSS JOIN webhook_events e ON e.id = w.event_id
  WHERE w.endpoint_id = ? AND w.is_manual = 1 AND w.due_at <= ? ORDER BY w.due_at, w.event_id LIMIT ?`;

/** Returns all endpoints of the installation. */
export function allEndpoints(client: Database): Endpoint[] {
  const rows = client
    .prepare<[], Omit<Endpoint, 'events'> & { events: string }>('SELECT * FROM webhook_endpoints ORDER BY id')
    .all();
  return rows.map((row) => ({ ...row, events: JSON.parse(row.events) }));
}

/** Returns the account's events with ids above `after`, in their order. */
export function readEvents(client: Database, accountId: number, after: number, limit: number): StoredEvent[] {
  return client.prepare<[number, number, number], StoredEvent>(READ_EVENTS).all(accountId, after, limit);
}

/** Returns the waiting events of an endpoint that are due, including tests and replays. `now` is epoch milliseconds. */
export function dueEvents(client: Database, endpointId: number, now: number, limit: number): WaitingEvent[] {
  return client.prepare<[number, number, number], WaitingEvent>(DUE_EVENTS).all(endpointId, now, limit);
}

/** Returns the due tests and replays of an endpoint, even if many other events are due. `now` is epoch milliseconds. */
export function dueManualEvents(client: Database, endpointId: number, now: number, limit: number): WaitingEvent[] {
  return client.prepare<[number, number, number], WaitingEvent>(DUE_MANUAL_EVENTS).all(endpointId, now, limit);
}

/** Returns the lanes in which an event of the endpoint waits, because later events of these lanes must wait, too. */
export function blockedLanes(client: Database, endpointId: number): number[] {
  return client
    .prepare<[number], { lane: number }>(
      'SELECT DISTINCT lane FROM webhook_waiting WHERE endpoint_id = ? AND is_manual = 0',
    )
    .all(endpointId)
    .map(({ lane }) => lane);
}

/** Writes the progress of endpoints in one transaction. Returns the lanes without waiting events, by the id of the endpoint. */
export function recordProgress(client: Database, all: readonly Progress[], now: Date): Map<number, number[]> {
  const record = client.transaction(
    () => new Map(all.map((progress) => [progress.endpointId, recordOne(client, progress, now)])),
  );
  return record.immediate();
}

/** Writes the progress of an endpoint. Returns the lanes in which no event waits any more. */
function recordOne(client: Database, progress: Progress, now: Date): number[] {
  const {
    endpointId: endpoint,
    position,
    failures,
    succeededAt,
    failedAt,
    attempts,
    waits,
    ended,
    recovered,
    disable,
  } = progress;
  const { changes } = client
    .prepare(`UPDATE webhook_endpoints SET position = max(position, @position), failures = @failures,
      succeeded_at = ifnull(@succeeded, succeeded_at), failed_at = ifnull(@failed, failed_at)
    WHERE id = @endpoint`)
    .run({ endpoint, position, failures, succeeded: succeededAt, failed: failedAt });
  // The endpoint was deleted after its attempts began.
  if (changes === 0) return [];
  if (waits.length > 0)
    client
      .prepare(`INSERT INTO webhook_waiting (endpoint_id, event_id, lane, attempts, due_at, failed_since)
      SELECT ?, value ->> 'event_id', value ->> 'lane', value ->> 'attempts', value ->> 'due_at', value ->> 'failed_since' FROM json_each(?)
      WHERE EXISTS (SELECT 1 FROM webhook_events WHERE id = value ->> 'event_id')
      ON CONFLICT DO UPDATE SET attempts = excluded.attempts, due_at = excluded.due_at, failed_since = excluded.failed_since`)
      .run(endpoint, JSON.stringify(waits));
  startLanes(client, endpoint, waits, now.getTime());
  const free = ended.filter((event) => endWaiting(client, endpoint, event, now.getTime())).map(({ lane }) => lane);
  if (recovered)
    client
      .prepare('UPDATE webhook_waiting SET due_at = min(due_at, ?) WHERE endpoint_id = ? AND due_at IS NOT NULL')
      .run(now.getTime(), endpoint);
  writeLog(client, endpoint, attempts);
  if (disable !== null) disableEndpoint(client, endpoint, disable, now);
  return free;
}

/**
 * Makes an event due if the earlier event of its lane for which it waits was removed, because the contact was erased. Otherwise the event
 * would wait for ever.
 */
function startLanes(client: Database, endpoint: number, waits: Progress['waits'], now: number): void {
  const behind = waits.filter(({ due_at }) => due_at === null).map(({ event_id }) => event_id);
  if (behind.length === 0) return;
  client
    .prepare(`UPDATE webhook_waiting AS w SET due_at = @now
    WHERE endpoint_id = @endpoint AND is_manual = 0 AND due_at IS NULL AND event_id IN (SELECT value FROM json_each(@behind))
      AND event_id = (SELECT min(event_id) FROM webhook_waiting WHERE endpoint_id = w.endpoint_id AND lane = w.lane AND is_manual = 0)`)
    .run({ endpoint, now, behind: JSON.stringify(behind) });
}

/** Removes a waiting event and makes the next one of its lane due. Returns true if no event of the lane waits any more. */
function endWaiting(
  client: Database,
  endpoint: number,
  { event_id, lane, is_manual }: Progress['ended'][number],
  now: number,
): boolean {
  client
    .prepare('DELETE FROM webhook_waiting WHERE endpoint_id = ? AND event_id = ? AND is_manual = ?')
    .run(endpoint, event_id, is_manual);
  if (is_manual === 1) return false;
  const next = client
    .prepare<[number, number], { event_id: number | null }>(
      'SELECT min(event_id) AS event_id FROM webhook_waiting WHERE endpoint_id = ? AND lane = ? AND is_manual = 0',
    )
    .get(endpoint, lane);
  if (next?.event_id == null) return true;
  client
    .prepare(
      'UPDATE webhook_waiting SET due_at = ? WHERE endpoint_id = ? AND event_id = ? AND is_manual = 0 AND due_at IS NULL',
    )
    .run(now, endpoint, next.event_id);
  return false;
}

/**
 * Adds attempts to the log. Responses to events of a contact that was erased in the meantime are not stored, because they may contain
 * personal data.
 */
function writeLog(client: Database, endpoint: number, attempts: readonly Attempt[]): void {
  if (attempts.length === 0) return;
  const kept = [0, 1].flatMap((kind) => attempts.filter(({ is_success }) => is_success === kind).slice(-KEPT_ATTEMPTS));
  client
    .prepare(`INSERT INTO webhook_log (endpoint_id, event_id, type, attempt, is_success, status, reply, took_ms, at)
    SELECT ?, value ->> 'event_id', value ->> 'type', value ->> 'attempt', value ->> 'is_success', value ->> 'status',
      iif(value ->> 'is_success' = 1 OR EXISTS (SELECT 1 FROM webhook_events e WHERE e.id = value ->> 'event_id' AND e.data ->> 'erased' IS NULL),
        value ->> 'reply', ''),
      value ->> 'took_ms', value ->> 'at' FROM json_each(?)`)
    .run(endpoint, JSON.stringify(kept.map((attempt) => ({ ...attempt, reply: stored(attempt.reply) }))));
  for (const kind of new Set(kept.map(({ is_success }) => is_success)))
    client
      .prepare(`DELETE FROM webhook_log WHERE endpoint_id = @endpoint AND is_success = @kind AND id <= (
        SELECT id FROM webhook_log WHERE endpoint_id = @endpoint AND is_success = @kind ORDER BY id DESC LIMIT 1 OFFSET ${KEPT_ATTEMPTS})`)
      .run({ endpoint, kind });
}
