/** The reference data: countries, states and cities. */
import { and, asc, eq, isNull, sql } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { fold } from '../../database/functions/fold.ts';
import { cities, states } from '../../database/schema/index.ts';
import { readCountries } from '../../database/seed.ts';
import { integer, line, nullable, optionalReference } from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';

/** The most cities that a search by name gives: more than there are of one name in a country. */
const MOST_FOUND = 50;

export const Country = Type.Object({ id: integer(), name: Type.String(), iso2: Type.String() });
export const State = Type.Object({
  id: integer(),
  country_id: integer(),
  name: Type.String(),
  code: Type.String(),
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

/** All countries, by id. */
export const COUNTRIES: readonly Country[] = readCountries().map(({ id, name, iso2 }) => ({ id, name, iso2 }));

export const listCountries = operation({
  name: 'List the countries alone (addition)',
  role: 'viewer',
  input: Type.Object({}),
  output: Type.Object({ countries: Type.Array(Country) }),
  run: () => ({ countries: [...COUNTRIES] }),
});

export const findPlaces = operation({
  name: 'List the states of a country, and the cities of one of them (addition)',
  description: `Without a state: the cities that belong to none. With \`city\`: the first ${MOST_FOUND} of the country whose name begins so, whatever their state. Without a country there is nothing.`,
  role: 'viewer',
  input: Type.Object({
    country_id: optionalReference(),
    state_id: optionalReference(),
    city: Type.Optional(line({ description: 'The beginning of the name of a city, in any case.' })),
  }),
  output: Places,
  run({ db }, { country_id: country = 0, state_id: state = 0, city = '' }) {
    const start = fold(city.trim());
    const ofState = state === 0 ? isNull(cities.state_id) : eq(cities.state_id, state);
    const isAsked = start === '' ? ofState : sql`substr(fold(${cities.name}), 1, length(${start})) = ${start}`;
    const found = db
      .select()
      .from(cities)
      .where(and(eq(cities.country_id, country), isAsked));
    return {
      states: db.select().from(states).where(eq(states.country_id, country)).orderBy(asc(states.name)).all(),
      cities:
        country === 0
          ? []
          : start === ''
            ? found.orderBy(asc(cities.name)).all()
            : // The shortest first, so that the name itself is among them.
              found.orderBy(sql`length(${cities.name})`, asc(cities.name)).limit(MOST_FOUND).all(),
    };
  },
});
