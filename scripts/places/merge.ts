/** Adds new places after the released ones. The position of a place in its list, counted from 1, is its permanent id. */

export interface Country {
  /** The ISO 3166-1 alpha-2 code. */
  iso2: string;
  /** The ISO 3166-1 alpha-3 code. */
  iso3: string;
  name: string;
  /** Other names that an import understands. */
  aliases: readonly string[];
}

/** A first-level division of a country. */
export interface State {
  /** The country's ISO 3166-1 alpha-2 code. */
  country: string;
  /** GeoNames' code, unique within the country. */
  code: string;
  name: string;
}

export interface City {
  /** The country's ISO 3166-1 alpha-2 code. */
  country: string;
  /** The code of the city's first-level division; null: the city is in no division. */
  state: string | null;
  name: string;
}

export interface Places {
  countries: Country[];
  states: State[];
  cities: City[];
}

/** The key that identifies a division among those of all countries. */
export const stateKey = (country: string, code: string) => `${country}.${code}`;

/**
 * Returns the released places with today's names, each at its old position, followed by the new places. The new ones are sorted: countries
 * by name, divisions by country and name, cities by country, division and name, with cities without a division last. A place that the
 * sources have dropped stays, because records may refer to its id.
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

type SortValue<Row> = (row: Row) => string | number;

/** Replaces released rows by fresh rows of the same key, and adds the other fresh rows, sorted by the first of `sortBy` that differs. */
function keepPositions<Row>(
  released: Row[],
  fresh: Row[],
  keyOf: (row: Row) => string,
  sortBy: SortValue<Row>[],
): Row[] {
  const unused = new Map(fresh.map((row) => [keyOf(row), row]));
  const kept = released.map((row) => unused.get(keyOf(row)) ?? row);
  for (const row of released) unused.delete(keyOf(row));
  const added = [...unused.values()].map((row) => ({ row, sortValues: sortBy.map((sortValue) => sortValue(row)) }));
  added.sort((a, b) => compare(a.sortValues, b.sortValues));
  return [...kept, ...added.map(({ row }) => row)];
}

function compare(a: (string | number)[], b: (string | number)[]): number {
  for (const [index, valueOfA] of a.entries()) {
    const valueOfB = b[index] ?? '';
    if (valueOfA !== valueOfB) return valueOfA < valueOfB ? -1 : 1;
  }
  return 0;
}

/**
 * The name without accents and in lower case, for sorting. `Intl.Collator` would change the order with the version of ICU.
 */
function sortable(name: string): string {
  return name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

/** Returns a function that finds the position of a key, counted from 0. */
function positions(keys: string[]): (key: string) => number {
  const positionByKey = new Map(keys.map((key, index) => [key, index]));
  return (key) => {
    const position = positionByKey.get(key);
    if (position === undefined) throw new Error(`A place refers to ${key}, which does not exist`);
    return position;
  };
}
