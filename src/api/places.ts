/** Countries, states and cities: one prepared answer, compressed in advance. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { readCountries } from '../database/places.ts';
import { chooseEncoding } from '../http/content-encoding.ts';
import { integer, nullable, successWith } from '../http/requests/schemas.ts';
import { placesBody, placesEtag } from './places-body.ts';

const tags = ['Places'];

const Country = Type.Object({ id: integer(), name: Type.String(), iso2: Type.String() });
const State = Type.Object({ id: integer(), country_id: integer(), name: Type.String(), code: Type.String() });
const City = Type.Object({ id: integer(), country_id: integer(), state_id: nullable(integer()), name: Type.String() });

export const placeRoutes: FastifyPluginAsyncTypebox = async (app) => {
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
};

/** Whether If-None-Match lists the ETag, by weak comparison (RFC 9110, 13.1.2). */
function matchesEtag(given: string | undefined, etag: string): boolean {
  return (given ?? '').split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
}
