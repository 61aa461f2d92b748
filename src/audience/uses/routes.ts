/** The API of what segments, contact types and fields are used for. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operationRoutes } from '../../http/operation-routes.ts';
import type { Deps } from '../../operations/deps.ts';
import { countUsesOfContactType, countUsesOfField, countUsesOfSegment } from './operations.ts';

export const useRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  operationRoutes(app, deps, 'Segments').read('GET /segment/uses', countUsesOfSegment);
  operationRoutes(app, deps, 'Contact types').read('GET /contacts-type/uses', countUsesOfContactType);
  operationRoutes(app, deps, 'Fields').read('GET /custom-fields/uses', countUsesOfField);
};
