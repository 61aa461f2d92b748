/** Countries, states and cities: one prepared answer, compressed in advance. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { and, asc, eq, isNull, sql } from 'drizzle-orm';
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { fold } from '../database/fold.ts';
import { cities, states } from '../database/schema/index.ts';
import { readCountries } from '../database/seed/places.ts';
import type { Deps } from '../deps.ts';
import { chooseEncoding } from '../http/content-encoding.ts';
import { integer, line, nullable, optionalReference, successWith } from '../http/requests/schemas.ts';
import { placesBody, placesEtag } from './places-body.ts';

const tags = ['Places'];

/** The most cities that a search by name gives: more than there are of one name in a country. */
const MOST_FOUND = 50;

const Country = Type.Object({ id: integer(), name: Type.String(), iso2: Type.String() });
const State = Type.Object({ id: integer(), country_id: integer(), name: Type.String(), code: Type.String() });
const City = Type.Object({ id: integer(), country_id: integer(), state_id: nullable(integer()), name: Type.String() });

export const placeRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db }) => {
  const countries = readCountries().map(({ id, name, iso2 }) => ({ id, name, iso2 }));
  app.get(
    '/get/countries',
    {
      schema: {
        tags,
        summary: 'List the countries alone (addition)',
        response: successWith({ countries: Type.Array(Country) }),
      },
    },
    async () => ({ status: 'success' as const, message: { countries } }),
  );

  app.get(
    '/get/country-state-city',
    {
      schema: {
        tags,
        summary: 'List countries, states and cities',
        response: successWith({ countries: Type.Array(Country), states: Type.Array(State), cities: Type.Array(City) }),
      },
    },
    (request, reply: FastifyReply) => {
      const coding = chooseEncoding(request.headers['accept-encoding']);
      const etag = placesEtag(coding);
      reply.headers({ etag, vary: 'Accept-Encoding', 'cache-control': 'private, max-age=86400' });
      if (matchesEtag(request.headers['if-none-match'], etag)) {
        reply.code(304).send();
        return;
      }
      const { content, length } = placesBody(coding);
      if (coding !== 'identity') reply.header('content-encoding', coding);
      reply.type('application/json; charset=utf-8').header('content-length', length).send(content);
    },
  );

  app.get(
    '/get/states-cities',
    {
      schema: {
        tags,
        summary: 'List the states of a country, and the cities of one of them (addition)',
        description: `Without a state: the cities that belong to none. With \`city\`: the first ${MOST_FOUND} of the country whose name begins so, whatever their state. Without a country there is nothing.`,
        querystring: Type.Object({
          country_id: optionalReference(),
          state_id: optionalReference(),
          city: Type.Optional(line({ description: 'The beginning of the name of a city, in any case.' })),
        }),
        response: successWith({ states: Type.Array(State), cities: Type.Array(City) }),
      },
      config: { role: 'viewer' },
    },
    async ({ query: { country_id: country = 0, state_id: state = 0, city = '' } }) => {
      const start = fold(city.trim());
      const ofState = state === 0 ? isNull(cities.state_id) : eq(cities.state_id, state);
      const isAsked = start === '' ? ofState : sql`substr(fold(${cities.name}), 1, length(${start})) = ${start}`;
      const found = db
        .select()
        .from(cities)
        .where(and(eq(cities.country_id, country), isAsked));
      const message = {
        states: db.select().from(states).where(eq(states.country_id, country)).orderBy(asc(states.name)).all(),
        cities:
          country === 0
            ? []
            : start === ''
              ? found.orderBy(asc(cities.name)).all()
              : // The shortest first, so that the name itself is among them.
                found.orderBy(sql`length(${cities.name})`, asc(cities.name)).limit(MOST_FOUND).all(),
      };
      return { status: 'success' as const, message };
    },
  );
};

/** Whether If-None-Match lists the ETag, by weak comparison (RFC 9110, 13.1.2). */
function matchesEtag(given: string | undefined, etag: string): boolean {
  return (given ?? '').split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
}
