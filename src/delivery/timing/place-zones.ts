/** The time zone of a contact: the one stored for the contact, or else the zone of their place. */
import { readFileSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { customValuePath, ZONE_FIELD } from '../../audience/fields/custom-fields.ts';
import { DATA } from '../../database/data-folder.ts';
import { readCountries } from '../../database/place-data.ts';
import { isTimeZone } from '../../time/zones.ts';

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
