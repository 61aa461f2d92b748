/** Removes reported events older than the setting EVENTS_DAYS. The counters of contacts and names stay. */
import type { Database } from 'better-sqlite3';
import { findNamedValue, writeNamedValue } from '../../database/named-values.ts';

/** The named value with the time of `contactEventsRemovedTime`. */
const REMOVED = 'contact_events_removed_before';

/** Returns the time before which reported events have been removed, epoch milliseconds; null if none have been. */
export function contactEventsRemovedTime(client: Database): number | null {
  const value = findNamedValue(client, REMOVED);
  return value === null ? null : Number(value);
}

/**
 * Removes at most `rows` events that happened before `horizon`, epoch milliseconds. Returns true if there may be more.
 * Also removes events that segments have not followed yet, because a rule about a time before `horizon` is true of
 * nobody.
 */
export function removeOldContactEvents(client: Database, horizon: number, rows: number): boolean {
  const { changes } = client
    .prepare<[number, number]>(`DELETE FROM contact_events WHERE id IN (
      SELECT id FROM contact_events INDEXED BY contact_events_time WHERE happened_at < ? ORDER BY happened_at LIMIT ?)`)
    .run(horizon, rows);
  if (changes === 0) return false;
  writeNamedValue(client, REMOVED, String(Math.max(horizon, contactEventsRemovedTime(client) ?? 0)));
  return changes === rows;
}
