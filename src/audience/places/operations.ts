/** Operations that look up countries, states and cities. */

import { and, asc, eq, inArray, isNull, or, sql } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { fold } from '../../database/functions/fold.ts';
import { readCountries } from '../../database/place-data.ts';
import { cities, states } from '../../database/schema/index.ts';
import { integer, line, nullable, optionalReference } from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { citiesWithOtherName } from './other-names.ts';

/**
 * The maximum number of cities that a search by name returns. No country has more cities of the same name, so an exact name
 * is always found completely.
 */
const MAX_FOUND = 50;

export const Country = Type.Object({
  id: integer(),
  name: Type.String(),
  iso2: Type.String({ description: 'ISO 3166-1 alpha-2 code.' }),
});
export const State = Type.Object({
  id: integer(),
  country_id: integer(),
  name: Type.String(),
  code: Type.String({ description: 'Code of the subdivision: ISO 3166-2 without the country.' }),
});
export const City = Type.Object({
  id: integer(),
  country_id: integer(),
  state_id: nullable(integer()),
  name: Type.String(),
});
const Places = Type.Object({ states: Type.Array(State), cities: Type.Array(City) });

export type Country = Static<typeof Country>;
export type City = Static<typeof City>;
export type Places = Static<typeof Places>;

/** All countries, ordered by id. */
export const COUNTRIES: readonly Country[] = readCountries().map(({ id, name, iso2 }) => ({ id, name, iso2 }));

export const listCountries = operation({
  name: 'List the countries (addition)',
  role: 'viewer',
  input: Type.Object({}),
  output: Type.Object({ countries: Type.Array(Country) }),
  run: () => ({ countries: [...COUNTRIES] }),
});

export const findPlaces = operation({
  name: 'List the states of a country, and the cities of one of them (addition)',
  description: `Without \`state_id\`: the cities that belong to no state. With \`city\`: the first ${MAX_FOUND} cities of the country with a name that begins with this text, in any state. Without a country both lists are empty.`,
  role: 'viewer',
  input: Type.Object({
    country_id: optionalReference(),
    state_id: optionalReference(),
    city: Type.Optional(
      line({
        description:
          'The beginning of a name of a city, in any case. Large cities are also found by their German, local or English name.',
      }),
    ),
  }),
  output: Places,
  run({ db }, { country_id: country = 0, state_id: state = 0, city = '' }) {
    if (country === 0) return { states: [], cities: [] };
    const start = fold(city.trim());
    const ofState = state === 0 ? isNull(cities.state_id) : eq(cities.state_id, state);
    const isNamed = or(
      sql`substr(fold(${cities.name}), 1, length(${start})) = ${start}`,
      inArray(cities.name, citiesWithOtherName(country, start)),
    );
    const isMatching = start === '' ? ofState : isNamed;
    const matching = db
      .select()
      .from(cities)
      .where(and(eq(cities.country_id, country), isMatching));
    return {
      states: db.select().from(states).where(eq(states.country_id, country)).orderBy(asc(states.name)).all(),
      cities:
        start === ''
          ? matching.orderBy(asc(cities.name)).all()
          : // The shortest names come first, so that a city of exactly this name is found.
            matching.orderBy(sql`length(${cities.name})`, asc(cities.name)).limit(MAX_FOUND).all(),
    };
  },
});
