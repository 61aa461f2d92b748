/** Reads and writes the files of data/places, whose formats data/places/README.md describes. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from 'node:zlib';
import { type City, type Places, type State, stateKey } from './merge.ts';

/** How the content of a file is stored. */
interface Coding {
  pack: (content: Buffer) => Buffer;
  unpack: (stored: Buffer) => Buffer;
}

const plain: Coding = { pack: (content) => content, unpack: (stored) => stored };
const gzip: Coding = { pack: (content) => gzipSync(content, { level: 9 }), unpack: gunzipSync };
const brotli: Coding = {
  pack: (content) => brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } }),
  unpack: brotliDecompressSync,
};

/** A line of cities.ndjson: the id of the first city, the ids of the country and the division, and the names of the cities. */
type CityGroup = [firstId: number, countryId: number, stateId: number | null, names: string[]];

/** The places released so far; empty lists if the folder is empty. */
export function readReleased(folder: URL): Places {
  if (!existsSync(new URL('countries.json', folder))) return { countries: [], states: [], cities: [] };
  const countries: Places['countries'] = JSON.parse(load(folder, 'countries.json', plain));
  const stateRows: [number, number, string, string][] = JSON.parse(load(folder, 'states.json.br', brotli));
  const states = stateRows.map(
    ([, countryId, name, code]): State => ({ country: rowOf(countries, countryId).iso2, code, name }),
  );
  const cities = load(folder, 'cities.ndjson.br', brotli)
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line): City[] => {
      const [, countryId, stateId, names]: CityGroup = JSON.parse(line);
      const country = rowOf(countries, countryId).iso2;
      const state = stateId === null ? null : rowOf(states, stateId).code;
      return names.map((name) => ({ country, state, name }));
    });
  return {
    countries: countries.map(({ iso2, iso3, name, aliases }) => ({ iso2, iso3, name, aliases })),
    states,
    cities,
  };
}

/** Writes each file whose content has changed. The other files keep their bytes, even if zlib would now compress them differently. */
export function writeFiles(folder: URL, { countries, states, cities }: Places): void {
  const countryIds = new Map(countries.map(({ iso2 }, index) => [iso2, index + 1]));
  const stateIds = new Map(states.map(({ country, code }, index) => [stateKey(country, code), index + 1]));
  const countryRows = countries.map((country, index) => ({ id: index + 1, ...country }));
  const stateRows = states.map(({ country, code, name }, index) => ({
    id: index + 1,
    country_id: idOf(countryIds, country),
    name,
    code,
  }));
  const cityRows = cities.map(({ country, state, name }, index) => ({
    id: index + 1,
    country_id: idOf(countryIds, country),
    state_id: state === null ? null : idOf(stateIds, stateKey(country, state)),
    name,
  }));
  // The body ends with a line feed, as all answers of the API do.
  const body = `${JSON.stringify({
    status: 'success',
    message: {
      countries: countryRows.map(({ id, name, iso2 }) => ({ id, name, iso2 })),
      states: stateRows,
      cities: cityRows,
    },
  })}\n`;
  const index = {
    cities: cities.length,
    body: { length: Buffer.byteLength(body), hash: createHash('sha256').update(body).digest('hex').slice(0, 32) },
  };

  store(folder, 'countries.json', `[\n${countryRows.map((row) => JSON.stringify(row)).join(',\n')}\n]\n`, plain);
  store(
    folder,
    'states.json.br',
    JSON.stringify(stateRows.map(({ id, country_id, name, code }) => [id, country_id, name, code])),
    brotli,
  );
  store(
    folder,
    'cities.ndjson.br',
    cityGroups(cityRows)
      .map((group) => `${JSON.stringify(group)}\n`)
      .join(''),
    brotli,
  );
  store(folder, 'body.json.br', body, brotli);
  store(folder, 'body.json.gz', body, gzip);
  store(folder, 'index.json', `${JSON.stringify(index)}\n`, plain);
}

/** Groups the cities for the lines of cities.ndjson: successive cities of the same division share a line. */
function cityGroups(cities: { id: number; country_id: number; state_id: number | null; name: string }[]): CityGroup[] {
  const groups: CityGroup[] = [];
  for (const { id, country_id, state_id, name } of cities) {
    const last = groups.at(-1);
    if (last?.[1] === country_id && last[2] === state_id) last[3].push(name);
    else groups.push([id, country_id, state_id, [name]]);
  }
  return groups;
}

function load(folder: URL, name: string, { unpack }: Coding): string {
  return unpack(readFileSync(new URL(name, folder))).toString();
}

/** Writes a file, unless it already has this content. */
function store(folder: URL, name: string, content: string, coding: Coding): void {
  const path = new URL(name, folder);
  if (existsSync(path) && load(folder, name, coding) === content) return;
  writeFileSync(path, coding.pack(Buffer.from(content)));
}

function idOf(ids: Map<string, number>, key: string): number {
  const id = ids.get(key);
  if (id === undefined) throw new Error(`A place refers to ${key}, which does not exist`);
  return id;
}

/** Returns the row with this id: ids are positions counted from 1. */
function rowOf<Row>(rows: Row[], id: number): Row {
  const row = rows[id - 1];
  if (row === undefined) throw new Error(`The released data refers to id ${id}, which does not exist`);
  return row;
}
