/**
 * Mailings that each recipient gets at the same time of day in their own time zone. When recipients are enqueued, the due time of each is
 * set to that time in their zone; restarts do not change it. A contact's zone is the one stored for the contact, or else the zone of their
 * place.
 */

import { readFileSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { customValuePath, ZONE_FIELD } from '../../audience/fields/custom-fields.ts';
import { DATA } from '../../database/data-folder.ts';
import { readCountries } from '../../database/reference-data.ts';
import { DELIVERY_STATE } from '../../database/schema/index.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { isTimeZone, toUtc } from '../../time/zones.ts';

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

/** The number of characters of a custom value that are compared with the names of zones. No zone has a longer name. */
const MAX_ZONE_LENGTH = 65;

/** The stored details of where a contact lives. */
export interface Place {
  country_id: number | null;
  state: string | null;
  /** The text in the contact's field for the time zone, which may not be a valid zone. */
  time_zone: string | null;
}

/**
 * The content of data/time-zones.json: for each ISO 3166-1 country code its zone, or the states in each of its zones. States are written as
 * in data/places, with alternative spellings after `|`; `*` is the rest of the country. A place counts as the zone in which at least nine
 * in ten of its people live; a place without such a zone is missing.
 */
type ZonesByCountry = Record<string, string | Record<string, string[]>>;

interface CountryZones {
  byState: ReadonlyMap<string, string>;
  /** The zone if the state is unknown or not listed; null if the country alone does not tell the zone. */
  elsewhere: string | null;
}

let countries: Map<number, CountryZones> | undefined;

/** Returns the zone of a contact; null if their place is unknown or has several zones. */
export function findZone({ country_id, state, time_zone }: Place): string | null {
  if (time_zone !== null && isTimeZone(time_zone)) return time_zone;
  countries ??= readZones();
  const zones = country_id === null ? undefined : countries.get(country_id);
  return zones?.byState.get(stateKey(state ?? '')) ?? zones?.elsewhere ?? null;
}

function readZones(): Map<number, CountryZones> {
  const zones: ZonesByCountry = JSON.parse(readFileSync(new URL('time-zones.json', DATA), 'utf8'));
  return new Map(
    readCountries().flatMap(({ id, iso2 }) => {
      const ofCountry = zones[iso2];
      return ofCountry === undefined ? [] : [[id, countryZones(ofCountry)]];
    }),
  );
}

function countryZones(zones: string | Record<string, string[]>): CountryZones {
  if (typeof zones === 'string') return { byState: new Map(), elsewhere: zones };
  const byState = new Map<string, string>();
  let elsewhere: string | null = null;
  for (const [zone, states] of Object.entries(zones))
    for (const name of states.flatMap((state) => state.split('|'))) {
      if (name === '*') elsewhere = zone;
      else byState.set(stateKey(name), zone);
    }
  return { byState, elsewhere };
}

/** Returns the form in which names of states are compared: São Paulo becomes sao paulo. */
function stateKey(name: string): string {
  return name.normalize('NFKD').replace(/\p{M}/gu, '').trim().toLowerCase();
}

/** Returns SQL for the columns of the `Place` of a contact of an account. `contact` is the alias of the contact's row. */
export function placeColumns(client: Database, accountId: number, contact: string): string {
  const field = client
    .prepare<[number, string], { id: number }>(
      'SELECT id FROM custom_fields WHERE user_id = ? AND lower(field_name) = ?',
    )
    .get(accountId, ZONE_FIELD);
  const zone =
    field === undefined
      ? 'NULL'
      : `trim(substr(${contact}.custom_values ->> '${customValuePath(field.id)}', 1, ${MAX_ZONE_LENGTH}))`;
  return `${contact}.country_id AS country_id, coalesce(nullif(${contact}.state, ''), ${contact}.state_province_region) AS state, ${zone} AS time_zone`;
}
