/** The API of countries, states and cities. All of them together are one prepared answer, compressed in advance. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { chooseEncoding } from '../../http/list-response.ts';
import { operationRoutes } from '../../http/operation-routes.ts';
import { successWith } from '../../http/requests/schemas.ts';
import type { Deps } from '../../operations/deps.ts';
import { City, Country, findPlaces, listCountries, State } from './operations.ts';
import { placesBody, placesEtag } from './prepared-answer.ts';

const TAG = 'Places';

export const placeRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const places = operationRoutes(app, deps, TAG);
  places.read('GET /get/countries', listCountries);
  app.get(
    '/get/country-state-city',
    {
      schema: {
        tags: [TAG],
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
  places.read('GET /get/states-cities', findPlaces);
};

/** Whether If-None-Match lists the ETag, by weak comparison (RFC 9110, 13.1.2). */
function matchesEtag(given: string | undefined, etag: string): boolean {
  return (given ?? '').split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
}
