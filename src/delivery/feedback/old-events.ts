/**
 * Removes opens, clicks, reported events and lines of the log of enrolments that are older than EVENTS_DAYS. Reports do not change, because
 * their counters are updated in the transaction that adds an event. Bounces, complaints and unsubscribes are kept, because they are few.
 */
import type { Database } from 'better-sqlite3';
import { removeOldContactEvents } from '../../audience/events/old-events.ts';
import { inChunks } from '../../database/bulk.ts';
import { findNamedValue, writeNamedValue } from '../../database/named-values.ts';
import { continueShrinking } from '../../database/shrink.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../units.ts';

/** The working time of one call of `continueRemoval`, in milliseconds. */
const BACKGROUND_MS = 10;
/** The delay before the next search, once nothing is left to remove, in milliseconds. */
const IDLE_MS = MINUTE_MS;
const REMOVED = 'events_removed';

/** The progress of the removal: opens and clicks up to this id are removed, except those at or after `before`, in epoch milliseconds. */
interface Removed {
  id: number;
  before: number;
}

/** The time before which opens and clicks have been removed, or are about to be, as an ISO timestamp; null if none have been. */
export function eventsRemovedTime(client: Database): string | null {
  const removed = readRemoved(client);
  return removed === null ? null : isoTimestamp(new Date(removed.before));
}

function readRemoved(client: Database): Removed | null {
  const value = findNamedValue(client, REMOVED);
  return value === null ? null : JSON.parse(value);
}

/** Removes old events as a task of the background thread. */
export class OldEvents {
  readonly #client: Database;
  readonly #days: number;
  #restsUntil = Number.NEGATIVE_INFINITY;

  /** `days` is the number of whole days for which opens and clicks are kept; 0 keeps all. */
  constructor(client: Database, days: number) {
    this.#client = client;
    this.#days = days;
  }

  /**
   * Removes old events for a short time, in transactions of a few milliseconds, and then shrinks the file by the freed space. Returns
   * true if there is more to do at once. `now` is in epoch milliseconds, `monotonic` in milliseconds of a monotonic clock.
   */
  async continueRemoval(now: number, monotonic: number): Promise<boolean> {
    if (this.#days === 0 || monotonic < this.#restsUntil) return false;
    const horizon = now - (now % DAY_MS) - this.#days * DAY_MS;
    const until = performance.now() + BACKGROUND_MS;
    let hasMore = true;
    await inChunks(this.#client, (rows) => {
      // Each turn removes some of every kind, so that no kind waits for another.
      const hasMoreLog = removeOldEnrolmentLog(this.#client, horizon, rows);
      const hasMoreReported = removeOldContactEvents(this.#client, horizon, rows);
      hasMore = removeSome(this.#client, horizon, rows) || hasMoreReported || hasMoreLog;
      return hasMore && performance.now() < until;
    });
    if (hasMore || (await continueShrinking(this.#client, until))) return true;
    this.#restsUntil = monotonic + IDLE_MS;
    return false;
  }
}

/** The result of looking at the next rows of events. */
interface Window {
  /** The id of the last event among these rows; null if there are no rows. */
  end: number | null;
  /** The id of the last event to remove; null if there is none. */
  last: number | null;
  /** The id of the first event that is recent enough to keep; null if there is none. */
  recent: number | null;
}

/**
 * Removes the old events among the next `rows` events. Returns false if there are none to remove. Events are ordered by time, with two
 * exceptions: events that waited until their mail was recorded as accepted, and events recorded while the clock was wrong. If such events
 * are kept, the next call looks at them again.
 */
function removeSome(client: Database, horizon: number, rows: number): boolean {
  const removed = readRemoved(client) ?? { id: 0, before: 0 };
  const parameters = { after: removed.id, rows, horizon };
  const { end, last, recent } = client
    .prepare<[typeof parameters], Window>(`
      SELECT max(id) AS end, max(id) FILTER (WHERE happened_at < @horizon AND kind IN ('open', 'click')) AS last,
        min(id) FILTER (WHERE happened_at >= @horizon) AS recent
      FROM (SELECT id, kind, happened_at FROM events WHERE id > @after ORDER BY id LIMIT @rows)`)
    .get(parameters) ?? { end: null, last: null, recent: null };
  if (end === null || (last === null && recent !== null)) return false;
  client
    .prepare("DELETE FROM events WHERE id > ? AND id <= ? AND happened_at < ? AND kind IN ('open', 'click')")
    .run(removed.id, end, horizon);
  const value: Removed = { id: recent === null ? end : recent - 1, before: Math.max(horizon, removed.before) };
  writeNamedValue(client, REMOVED, JSON.stringify(value));
  return true;
}

/**
 * Removes the lines of the log of enrolments before `horizon` (epoch milliseconds) among the oldest `rows` lines. Returns true if there may
 * be more. Lines are ordered by time, except those recorded while the clock was wrong, which stay until the lines before them are removed.
 */
function removeOldEnrolmentLog(client: Database, horizon: number, rows: number): boolean {
  const { changes } = client
    .prepare<[number, number]>(
      `DELETE FROM enrolment_log WHERE happened_at < ? AND id IN (SELECT id FROM enrolment_log ORDER BY id LIMIT ?)`,
    )
    .run(horizon, rows);
  return changes > 0;
}
