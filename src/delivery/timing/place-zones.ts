/** The time zone of a person: the one that is written down for them, or that of their country and state. */
import { readFileSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { customValuePath } from '../../audience/contacts/contact-fields.ts';
import { DATA } from '../../database/data-folder.ts';
import { prepared } from '../../database/prepared.ts';
import { readCountries } from '../../database/seed.ts';
import { isTimeZone } from '../../time/zones.ts';

/** The custom field that has the IANA name of a person's zone. */
const ZONE_FIELD = 'time_zone';
/** Of a custom value, what is compared with names of zones, none of which is that long. */
const MAX_ZONE_LENGTH = 65;

/** What is known of where a person lives. */
export interface Place {
  country_id: number | null;
  state: string | null;
  /** As it was given; it may be no zone. */
  time_zone: string | null;
}

/**
 * data/time-zones.json: by ISO 3166-1 code the zone of a country, or the states that have each of its zones. A state is written as
 * data/places has it, with other ways to write it after `|`; `*` is the rest of the country. A place counts as the zone in which at least
 * nine in ten of its people live; one without such a zone is not there.
 */
type ZonesByCountry = Record<string, string | Record<string, string[]>>;

interface CountryZones {
  byState: ReadonlyMap<string, string>;
  /** Where the state is not known or has no zone of its own; null: that says nothing. */
  elsewhere: string | null;
}

let countries: Map<number, CountryZones> | undefined;

/** The zone of a person; null if their place is not known, or does not say which of several zones it is. */
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

/** The form in which names of states are compared: São Paulo is sao paulo. */
function stateKey(name: string): string {
  return name.normalize('NFKD').replace(/\p{M}/gu, '').trim().toLowerCase();
}

/** The columns of the `Place` of a contact with this alias, as SQL, for contacts of an account. */
export function placeColumns(client: Database, accountId: number, contact: string): string {
  const field = prepared<[number, string], { id: number }>(
    client,
    'SELECT id FROM custom_fields WHERE user_id = ? AND lower(field_name) = ?',
  ).get(accountId, ZONE_FIELD);
  const zone =
    field === undefined
      ? 'NULL'
      : `trim(substr(${contact}.custom_values ->> '${customValuePath(field.id)}', 1, ${MAX_ZONE_LENGTH}))`;
  return `${contact}.country_id AS country_id, coalesce(nullif(${contact}.state, ''), ${contact}.state_province_region) AS state, ${zone} AS time_zone`;
}
