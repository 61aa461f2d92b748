/** The countries, states and cities of data/places/, and the tables that are filled from them. */
import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import type { Database } from 'better-sqlite3';
import { DATA } from './data-folder.ts';

/** The folder of the place data; data/places/README.md describes the format of each file. */
export const PLACES = new URL('places/', DATA);

export interface PlacesIndex {
  /** The number of cities, which is also the highest id. */
  cities: number;
  /** The length in bytes and the content hash of the response that lists all places. */
  body: { length: number; hash: string };
}

interface Country {
  id: number;
  iso2: string;
  iso3: string;
  name: string;
  /** Other names that an import accepts. */
  aliases: string[];
}

/** Reads index.json, which summarizes the large files. */
export function readPlacesIndex(): PlacesIndex {
  return JSON.parse(readFileSync(new URL('index.json', PLACES), 'utf8'));
}

/** Returns every country, ordered by id. */
export function readCountries(): Country[] {
  return JSON.parse(readFileSync(new URL('countries.json', PLACES), 'utf8'));
}

/**
 * Updates the tables to this release's data in one transaction: adds new places and renames countries and states, but never changes an id.
 * SQLite parses the JSON itself with one statement for the cities of each state, which takes a third of the time of one statement per row.
 */
export function seedPlaces(client: Database): void {
  const update = client.transaction(() => {
    client
      .prepare(
        `INSERT INTO countries (id, name, iso2) SELECT value->>'id', value->>'name', value->>'iso2' FROM json_each(?) WHERE true
         ON CONFLICT (id) DO UPDATE SET name = excluded.name WHERE countries.name <> excluded.name`,
      )
      .run(readFileSync(new URL('countries.json', PLACES), 'utf8'));
    client
      .prepare(
        `INSERT INTO states (id, country_id, name, code)
         SELECT value->>0, value->>1, value->>2, value->>3 FROM json_each(?) WHERE true
         ON CONFLICT (id) DO UPDATE SET name = excluded.name WHERE states.name <> excluded.name`,
      )
      .run(unpack('states.json.br'));
    const lastId = Number(client.prepare('SELECT coalesce(max(id), 0) FROM cities').pluck().get());
    if (lastId < readPlacesIndex().cities) seedCities(client, lastId);
  });
  update.immediate();
}

function seedCities(client: Database, lastId: number): void {
  const insert = client.prepare(
    `INSERT INTO cities (id, country_id, state_id, name)
     SELECT (@group->>0) + key, @group->>1, @group->>2, value FROM json_each(@group, '$[3]') WHERE (@group->>0) + key > @lastId`,
  );
  for (const group of unpack('cities.ndjson.br').split('\n')) if (group !== '') insert.run({ group, lastId });
}

function unpack(file: string): string {
  return brotliDecompressSync(readFileSync(new URL(file, PLACES))).toString();
}
