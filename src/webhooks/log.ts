/** The log of an endpoint, the number of its waiting events, and the queueing of tests and replays. */
import type { Database } from 'better-sqlite3';
import { type Said, sentence } from '../errors/sentences.ts';
import { readStored } from '../errors/stored.ts';
import type { Endpoint } from './endpoints.ts';
import type { Attempt } from './store.ts';

/** An entry of the log as the API returns it. */
export interface LoggedAttempt extends Attempt {
  id: number;
  /** 1: the event is still stored and can be sent again. */
  is_kept: 0 | 1;
}

/** The type of a test event. Endpoints get tests without asking for this type. */
export const TEST_EVENT = 'webhook.test';
/** The number of waiting events above which the exact number is not counted. */
export const MAX_COUNTED_EVENTS = 1000;
/** The maximum number of tests and replays that may wait for one endpoint. */
export const MAX_MANUAL = 100;

/**
 * Returns how many events wait for an endpoint: those that wait for a retry, and those of its types among the next
 * `MAX_COUNTED_EVENTS` events of the account. That number means this many or more.
 */
export function countWaiting(client: Database, { id, user_id, position, events }: Endpoint): number {
  const waiting = client
    .prepare<[Record<string, unknown>], number>(`
      SELECT (SELECT count(*) FROM (SELECT 1 FROM webhook_waiting WHERE endpoint_id = @id LIMIT ${MAX_COUNTED_EVENTS}))
        + (SELECT count(*) FROM (SELECT type FROM webhook_events INDEXED BY webhook_events_user
          WHERE user_id = @user_id AND id > @position LIMIT ${MAX_COUNTED_EVENTS}) WHERE type IN (SELECT value FROM json_each(@events)))`)
    .pluck()
    .get({ id, user_id, position, events: JSON.stringify(events) });
  return Math.min(waiting ?? 0, MAX_COUNTED_EVENTS);
}

/**
 * Returns up to `limit` attempts of an endpoint with ids below `before`, the newest first: only those of `event` unless it is null,
 * and only failed ones if `onlyFailed` is true.
 */
export function listAttempts(
  client: Database,
  endpointId: number,
  { before, limit, onlyFailed, event }: { before: number; limit: number; onlyFailed: boolean; event: number | null },
): LoggedAttempt[] {
  const kinds = onlyFailed ? [0] : [0, 1];
  const newest = kinds.map(
    (kind) =>
      `SELECT * FROM (SELECT * FROM webhook_log WHERE endpoint_id = @endpointId AND is_success = ${kind} AND id < @before AND event_id = ifnull(@event, event_id) ORDER BY id DESC LIMIT @limit)`,
  );
  return client
    .prepare<[Record<string, number | null>], LoggedAttempt & { reply: string }>(`
      SELECT id, event_id, type, attempt, is_success, status, reply, took_ms, at,
        EXISTS (SELECT 1 FROM webhook_events e WHERE e.id = log.event_id) AS is_kept
      FROM (${newest.join(' UNION ALL ')}) log ORDER BY id DESC LIMIT @limit`)
    .all({ endpointId, before, limit, event })
    .map((attempt) => ({ ...attempt, reply: readStored(attempt.reply) }));
}

/** Returns why the last failed attempt failed: its status and response. Empty if the log has no failed attempt. */
export function lastFailure(client: Database, endpointId: number): Said {
  const last = client
    .prepare<[number], { status: number; reply: string }>(
      'SELECT status, reply FROM webhook_log WHERE endpoint_id = ? AND is_success = 0 ORDER BY id DESC LIMIT 1',
    )
    .get(endpointId);
  if (last === undefined) return '';
  const { status } = last;
  const reply = readStored(last.reply);
  if (status === 0) return reply;
  return reply === '' ? sentence('webhook_status', { status }) : sentence('webhook_answer', { status, reply });
}

/** Returns how many tests and replays wait for an endpoint. */
export function countManual(client: Database, endpointId: number): number {
  return Number(
    client
      .prepare('SELECT count(*) FROM webhook_waiting WHERE endpoint_id = ? AND is_manual = 1')
      .pluck()
      .get(endpointId),
  );
}

/**
 * Queues a stored event of the account to be sent to the endpoint once more. Returns false if the event is no longer stored.
 * Call inside a transaction. `now` is in epoch milliseconds.
 */
export function replayEvent(client: Database, { id, user_id }: Endpoint, eventId: number, now: number): boolean {
  const { changes } = client
    .prepare(`
      INSERT INTO webhook_waiting (endpoint_id, event_id, lane, due_at, is_manual)
      SELECT @id, e.id, e.lane, @now, 1 FROM webhook_events e WHERE e.id = @eventId AND e.user_id = @user_id
      ON CONFLICT DO UPDATE SET due_at = excluded.due_at`)
    .run({ id, user_id, eventId, now });
  return changes > 0;
}

/** Queues a test event for the endpoint. Returns the id of the event. Call inside a transaction. `now` is in epoch milliseconds. */
export function queueTest(client: Database, endpoint: Endpoint, now: number): number {
  const eventId = client
    .prepare<[number, string, string], number>(
      'INSERT INTO webhook_events (user_id, type, lane, data) VALUES (?, ?, 0, ?) RETURNING id',
    )
    .pluck()
    .get(endpoint.user_id, TEST_EVENT, JSON.stringify({ endpoint_id: endpoint.id, note: endpoint.note }));
  if (eventId === undefined) throw new Error('the event of a test was not written');
  replayEvent(client, endpoint, eventId, now);
  return eventId;
}
