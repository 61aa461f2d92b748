/** The API for the installation: its health, the hold of all sending, and the sender nodes. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operationRoutes } from '../http/operation-routes.ts';
import type { Deps } from '../operations/deps.ts';
import { listNodes, lookAtPublicAddress, readHealth, readHold, releaseHold, testReturnedMail } from './operations.ts';

/** The API for the health of the installation. */
export const healthRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const installation = operationRoutes(app, deps, 'Installation');
  operationRoutes(app, deps, 'Overview').read('GET /health', readHealth);
  installation.change('POST /health/public-address', lookAtPublicAddress, 'Looked Successfully');
  installation.change('POST /health/returned-mail', testReturnedMail, 'Tested Successfully');
};

/** The API for the hold of all sending, and for the sender nodes. */
export const sendingHoldRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const installation = operationRoutes(app, deps, 'Installation');
  operationRoutes(app, deps, 'Overview').read('GET /sending/hold', readHold);
  installation.change('POST /sending/release', releaseHold, 'Released Successfully');
  installation.read('GET /nodes', listNodes);
};
