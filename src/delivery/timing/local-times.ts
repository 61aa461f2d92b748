/**
 * Mailings that each recipient gets at the same time of day by their own clock. When they are enqueued, each recipient is put off to the
 * moment of that time in their zone, which stays what it is when the service is restarted.
 */
import type { Database } from 'better-sqlite3';
import { prepared } from '../../database/prepared.ts';
import { DELIVERY_STATE } from '../../database/schema/index.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { toUtc } from '../../time/zones.ts';
import { findZone, type Place, placeColumns } from './place-zones.ts';

/** The zone whose clock is ahead of all others. */
export const FIRST_ZONE = 'Pacific/Kiritimati';

/** A local date (YYYY-MM-DD) and time (HH:MM:SS), and the zone of those whose own is not known. */
export interface LocalTime {
  date: string;
  time: string;
  zone: string;
}

/** The recipients of one place, by their deliveries, separated by commas. */
type PlaceGroup = Place & { ids: string; people: number };

/**
 * Gives a function that puts the recipients off who were enqueued after a delivery. Call that in the transaction that enqueues them. The
 * moment of each zone is computed once.
 */
export function localTimes(client: Database, mailingId: number): (after: number, local: LocalTime) => void {
  const moments = new Map<string, number>();
  const momentIn = (zone: string, { date, time }: LocalTime) => {
    const moment = moments.get(zone) ?? toUtc(date, time, zone).getTime();
    moments.set(zone, moment);
    return moment;
  };
  const account = client.prepare<[number], number>('SELECT user_id FROM mailings WHERE id = ?').pluck();
  const putOff = client.prepare<[number, string]>(
    'UPDATE deliveries SET due_at = ? WHERE id IN (SELECT value FROM json_each(?))',
  );
  const count = client.prepare<[number, number, number]>(`
    INSERT INTO local_waits (mailing_id, due_at, people) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET people = people + excluded.people`);
  return (after, local) => {
    const places = placeColumns(client, account.get(mailingId) ?? 0, 'c');
    const groups = prepared<[number, number], PlaceGroup>(
      client,
      `SELECT ${places}, group_concat(d.id) AS ids, count(*) AS people
        FROM deliveries d INDEXED BY deliveries_mailing LEFT JOIN contacts c ON c.id = d.contact_id
        WHERE d.mailing_id = ? AND d.id > ? AND d.state = ${DELIVERY_STATE.queued} GROUP BY 1, 2, 3`,
    ).all(mailingId, after);
    const byMoment = Map.groupBy(groups, (place) => momentIn(findZone(place) ?? local.zone, local));
    for (const [due, theirs] of byMoment) {
      putOff.run(due, `[${theirs.map(({ ids }) => ids).join()}]`);
      count.run(
        mailingId,
        due,
        theirs.reduce((sum, { people }) => sum + people, 0),
      );
    }
  };
}

/** Until when a mailing waits for the time of some of its recipients. */
export interface LocalWait {
  /** How many had not reached that time, those included who have left since. */
  people: number;
  /** When the next and the last of them reach it, ISO timestamps. */
  next_at: string;
  last_at: string;
}

/** Whom a mailing waits for at `now`; null when it waits for nobody, or goes by one clock. */
export function findLocalWait(client: Database, mailingId: number, now: Date): LocalWait | null {
  const row = prepared<[number, number], { people: number | null; next: number; last: number }>(
    client,
    'SELECT sum(people) AS people, min(due_at) AS next, max(due_at) AS last FROM local_waits WHERE mailing_id = ? AND due_at > ?',
  ).get(mailingId, now.getTime());
  if (!row?.people) return null;
  const { people, next, last } = row;
  return { people, next_at: isoTimestamp(new Date(next)), last_at: isoTimestamp(new Date(last)) };
}
