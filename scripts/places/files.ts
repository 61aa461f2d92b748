/** The files of data/places: reads what is released, writes what is next. data/places/README.md describes their formats. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from 'node:zlib';
import { type City, type Places, type State, stateKey } from './merge.ts';

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

type CityGroup = [first: number, country: number, state: number | null, names: string[]];

/** The places released so far; none when the folder is empty. */
export function readReleased(folder: URL): Places {
  if (!existsSync(new URL('countries.json', folder))) return { countries: [], states: [], cities: [] };
  const countries: Places['countries'] = JSON.parse(load(folder, 'countries.json', plain));
  const stateRows: [number, number, string, string][] = JSON.parse(load(folder, 'states.json.br', brotli));
  const states = stateRows.map(
    ([, country, name, code]): State => ({ country: at(countries, country).iso2, code, name }),
  );
  const cities = load(folder, 'cities.ndjson.br', brotli)
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line): City[] => {
      const [, country, state, names]: CityGroup = JSON.parse(line);
      const place = { country: at(countries, country).iso2, state: state === null ? null : at(states, state).code };
      return names.map((name) => ({ ...place, name }));
    });
  return {
    countries: countries.map(({ iso2, iso3, name, aliases }) => ({ iso2, iso3, name, aliases })),
    states,
    cities,
  };
}

/** Writes every file whose content changed. An unchanged file keeps its bytes, whatever the version of zlib. */
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
  // Ends with a line feed as every answer does.
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

/** Neighbours of one division share a line. */
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

function store(folder: URL, name: string, content: string, coding: Coding): void {
  const path = new URL(name, folder);
  if (existsSync(path) && load(folder, name, coding) === content) return;
  writeFileSync(path, coding.pack(Buffer.from(content)));
}

function idOf(ids: Map<string, number>, key: string): number {
  const id = ids.get(key);
  if (id === undefined) throw new Error(`A place refers to ${key}, which is nowhere`);
  return id;
}

function at<Row>(rows: Row[], id: number): Row {
  const row = rows[id - 1];
  if (row === undefined) throw new Error(`The released data refers to id ${id}, which is nowhere`);
  return row;
}
