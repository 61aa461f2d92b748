/** Puts new places behind the released ones: a place's position in its list, counted from 1, is its id for ever. */

export interface Country {
  iso2: string;
  iso3: string;
  name: string;
  /** Other names an import understands. */
  aliases: readonly string[];
}

export interface State {
  /** The country's ISO 3166-1 alpha-2 code. */
  country: string;
  /** GeoNames' code, unique within the country. */
  code: string;
  name: string;
}

export interface City {
  country: string;
  /** The code of its first-level division; null: in none. */
  state: string | null;
  name: string;
}

export interface Places {
  countries: Country[];
  states: State[];
  cities: City[];
}

export const stateKey = (country: string, code: string) => `${country}.${code}`;

/**
 * The released places with today's names, each at its old position, then those that are new, sorted: countries by name, divisions by
 * country and name, cities by country, division and name (those without a division last). A place the source has dropped
 * stays: records may name its id.
 */
export function mergePlaces(released: Places, fresh: Places): Places {
  const countries = keepPositions(released.countries, fresh.countries, (country) => country.iso2, [
    ({ name }) => sortable(name),
    ({ iso2 }) => iso2,
  ]);
  const countryAt = positions(countries.map(({ iso2 }) => iso2));

  const keyOfState = ({ country, code }: State) => stateKey(country, code);
  const states = keepPositions(released.states, fresh.states, keyOfState, [
    ({ country }) => countryAt(country),
    ({ name }) => sortable(name),
    ({ code }) => code,
  ]);
  const stateAt = positions(states.map(keyOfState));

  const cities = keepPositions(
    released.cities,
    fresh.cities,
    (city) => JSON.stringify([city.country, city.state, city.name]),
    [
      ({ country }) => countryAt(country),
      ({ country, state }) => (state === null ? Number.POSITIVE_INFINITY : stateAt(stateKey(country, state))),
      ({ name }) => sortable(name),
      ({ name }) => name,
    ],
  );
  return { countries, states, cities };
}

type Rank<Row> = (row: Row) => string | number;

function keepPositions<Row>(released: Row[], fresh: Row[], keyOf: (row: Row) => string, ranks: Rank<Row>[]): Row[] {
  const today = new Map(fresh.map((row) => [keyOf(row), row]));
  const kept = released.map((row) => today.get(keyOf(row)) ?? row);
  for (const row of released) today.delete(keyOf(row));
  const added = [...today.values()].map((row) => ({ row, ranked: ranks.map((rank) => rank(row)) }));
  added.sort((one, other) => compare(one.ranked, other.ranked));
  return [...kept, ...added.map(({ row }) => row)];
}

function compare(one: (string | number)[], other: (string | number)[]): number {
  for (const [at, value] of one.entries()) {
    const against = other[at] ?? '';
    if (value !== against) return value < against ? -1 : 1;
  }
  return 0;
}

/** Accents and case do not count in the order. Not `Intl.Collator`: its order changes with the version of ICU. */
function sortable(name: string): string {
  return name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

function positions(keys: string[]): (key: string) => number {
  const found = new Map(keys.map((key, at) => [key, at]));
  return (key) => {
    const at = found.get(key);
    if (at === undefined) throw new Error(`A place refers to ${key}, which is nowhere`);
    return at;
  };
}
