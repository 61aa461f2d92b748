/** The API for the figures on Home. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operationRoutes } from '../../http/operation-routes.ts';
import type { Deps } from '../../operations/deps.ts';
import { readOverview } from './operations.ts';

export const homeRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  operationRoutes(app, deps, 'Overview').read('GET /overview', readOverview);
};
