/** Removes lines of the log of enrolments that are older than EVENTS_DAYS. */
import type { Database } from 'better-sqlite3';
import { prepared } from '../../database/prepared.ts';

/**
 * Removes the lines before `horizon`, epoch milliseconds, among the oldest `rows`. Returns true if there may be more. Lines are in the
 * order of their time, except those recorded while the clock was wrong, which stay until the lines before them are removed.
 */
export function removeOldEnrolmentLog(client: Database, horizon: number, rows: number): boolean {
  const { changes } = prepared<[number, number]>(
    client,
    `DELETE FROM enrolment_log WHERE happened_at < ? AND id IN (SELECT id FROM enrolment_log ORDER BY id LIMIT ?)`,
  ).run(horizon, rows);
  return changes > 0;
}
