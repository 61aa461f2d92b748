/**
 * Removes the opens and clicks that are older than EVENTS_DAYS. Nothing has to be summed up first: whatever a report tells is counted in
 * the transaction that adds an event. Returned mails, complaints and unsubscribes stay: they are few, and final.
 */
import type { Database } from 'better-sqlite3';
import { inChunks } from '../../database/bulk.ts';
import { findNamedValue, writeNamedValue } from '../../database/named-values.ts';
import { continueShrinking } from '../../database/shrink.ts';
import { isoTimestamp } from '../../time/clock.ts';

const DAY_MS = 86_400_000;
/** How long one call of `continueRemoval` works. */
const BACKGROUND_MS = 10;
/** Once nothing is left to remove, the next look is this much later. */
const IDLE_MS = 60_000;
const REMOVED = 'events_removed';

/** How far the removal came: opens and clicks up to this id are removed, and none at or after this time, epoch milliseconds. */
interface Removed {
  id: number;
  before: number;
}

/** The time before which opens and clicks were removed, or are about to be, as an ISO timestamp; null when none were. */
export function eventsRemovedTime(client: Database): string | null {
  const removed = readRemoved(client);
  return removed === null ? null : isoTimestamp(new Date(removed.before));
}

function readRemoved(client: Database): Removed | null {
  const value = findNamedValue(client, REMOVED);
  return value === null ? null : JSON.parse(value);
}

/** The removal of old events, as work for the background thread. */
export class OldEvents {
  readonly #client: Database;
  readonly #days: number;
  #restsUntil = Number.NEGATIVE_INFINITY;

  /** `days`: how many whole days of opens and clicks are kept; 0: all. */
  constructor(client: Database, days: number) {
    this.#client = client;
    this.#days = days;
  }

  /**
   * Removes old events for a short time, in transactions of a few milliseconds, and then cuts the space they took off the file; gives
   * whether there is more to do at once. `now` is epoch milliseconds, `monotonic` milliseconds of a clock that nobody sets.
   */
  async continueRemoval(now: number, monotonic: number): Promise<boolean> {
    if (this.#days === 0 || monotonic < this.#restsUntil) return false;
    const horizon = now - (now % DAY_MS) - this.#days * DAY_MS;
    const until = performance.now() + BACKGROUND_MS;
    let hasMore = true;
    await inChunks(this.#client, (rows) => {
      hasMore = removeSome(this.#client, horizon, rows);
      return hasMore && performance.now() < until;
    });
    if (hasMore || (await continueShrinking(this.#client, until))) return true;
    this.#restsUntil = monotonic + IDLE_MS;
    return false;
  }
}

/** What is among the next events. */
interface Window {
  end: number | null;
  /** The last one to remove. */
  last: number | null;
  /** The first that is not old. */
  recent: number | null;
}

/**
 * Removes what is old among the next `rows` events; false when nothing is. Events are in the order of their times, but for those that
 * waited for their mail to be recorded, or came while the clock was wrong. The next call looks at those of them that stay again.
 */
function removeSome(client: Database, horizon: number, rows: number): boolean {
  const removed = readRemoved(client) ?? { id: 0, before: 0 };
  const given = { after: removed.id, rows, horizon };
  const { end, last, recent } = client
    .prepare<[typeof given], Window>(`
      SELECT max(id) AS end, max(id) FILTER (WHERE happened_at < @horizon AND kind IN ('open', 'click')) AS last,
        min(id) FILTER (WHERE happened_at >= @horizon) AS recent
      FROM (SELECT id, kind, happened_at FROM events WHERE id > @after ORDER BY id LIMIT @rows)`)
    .get(given) ?? { end: null, last: null, recent: null };
  if (end === null || (last === null && recent !== null)) return false;
  client
    .prepare("DELETE FROM events WHERE id > ? AND id <= ? AND happened_at < ? AND kind IN ('open', 'click')")
    .run(removed.id, end, horizon);
  const value: Removed = { id: recent === null ? end : recent - 1, before: Math.max(horizon, removed.before) };
  writeNamedValue(client, REMOVED, JSON.stringify(value));
  return true;
}
