/**
 * Mailings that each recipient gets at the same time of day in their own time zone. When recipients are enqueued, the due time of each is
 * set to that time in their zone; restarts do not change it.
 */

import type { Database } from 'better-sqlite3';
import { DELIVERY_STATE } from '../../database/schema/index.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { toUtc } from '../../time/zones.ts';
import { findZone, type Place, placeColumns } from './place-zones.ts';

/** The time zone whose clock is ahead of all others. */
export const FIRST_ZONE = 'Pacific/Kiritimati';

/** A local date (YYYY-MM-DD) and time (HH:MM:SS), and the zone for recipients whose own zone is unknown. */
export interface LocalTime {
  date: string;
  time: string;
  zone: string;
}

/** The recipients in one place. `ids` are the ids of their deliveries, separated by commas. */
type PlaceGroup = Place & { ids: string; people: number };

/**
 * Returns a function that sets the due times of the recipients enqueued after the delivery with the id `after`. The due time in each zone
 * is computed once. Call the function in the transaction that enqueues them.
 */
export function localTimes(client: Database, mailingId: number): (after: number, local: LocalTime) => void {
  const moments = new Map<string, number>();
  const dueTimeIn = (zone: string, { date, time }: LocalTime) => {
    const moment = moments.get(zone) ?? toUtc(date, time, zone).getTime();
    moments.set(zone, moment);
    return moment;
  };
  const account = client.prepare<[number], number>('SELECT user_id FROM mailings WHERE id = ?').pluck();
  const setDueTime = client.prepare<[number, string]>(
    'UPDATE deliveries SET due_at = ? WHERE id IN (SELECT value FROM json_each(?))',
  );
  const count = waitCounter(client, mailingId);
  return (after, local) => {
    const places = placeColumns(client, account.get(mailingId) ?? 0, 'c');
    const groups = client
      .prepare<[number, number], PlaceGroup>(`SELECT ${places}, group_concat(d.id) AS ids, count(*) AS people
        FROM deliveries d INDEXED BY deliveries_mailing LEFT JOIN contacts c ON c.id = d.contact_id
        WHERE d.mailing_id = ? AND d.id > ? AND d.state = ${DELIVERY_STATE.queued} GROUP BY 1, 2, 3`)
      .all(mailingId, after);
    const byDueTime = Map.groupBy(groups, (place) => dueTimeIn(findZone(place) ?? local.zone, local));
    for (const [due, placesOfTime] of byDueTime) {
      setDueTime.run(due, `[${placesOfTime.map(({ ids }) => ids).join()}]`);
      count(
        due,
        placesOfTime.reduce((sum, { people }) => sum + people, 0),
      );
    }
  };
}

/** Returns a function that counts recipients of a mailing who wait until a moment, in epoch milliseconds. */
export function waitCounter(client: Database, mailingId: number): (due: number, people: number) => void {
  const count = client.prepare<[number, number, number]>(`
    INSERT INTO local_waits (mailing_id, due_at, people) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET people = people + excluded.people`);
  return (due, people) => count.run(mailingId, due, people);
}

/** The recipients of a mailing whose own time has not come yet. */
export interface LocalWait {
  /** The number of recipients still waiting, including those who have unsubscribed since. */
  people: number;
  /** When the next of these recipients is due, as an ISO timestamp. */
  next_at: string;
  /** When the last of these recipients is due, as an ISO timestamp. */
  last_at: string;
}

/**
 * Returns the recipients that a mailing still waits for at `now`; null if there are none, or if the mailing is sent to all at one moment.
 */
export function findLocalWait(client: Database, mailingId: number, now: Date): LocalWait | null {
  const row = client
    .prepare<[number, number], { people: number | null; next: number; last: number }>(
      'SELECT sum(people) AS people, min(due_at) AS next, max(due_at) AS last FROM local_waits WHERE mailing_id = ? AND due_at > ?',
    )
    .get(mailingId, now.getTime());
  if (!row?.people) return null;
  const { people, next, last } = row;
  return { people, next_at: isoTimestamp(new Date(next)), last_at: isoTimestamp(new Date(last)) };
}
