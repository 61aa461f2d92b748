/** The API of what is learnt of opens and clicks. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operationRoutes } from '../../http/operation-routes.ts';
import type { Deps } from '../../operations/deps.ts';
import { changeTracking, keepPersonChoice, readPersonChoice, readTracking } from './operations.ts';

export const trackingRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const tracking = operationRoutes(app, deps, 'Opens and clicks');
  tracking.read('GET /tracking', readTracking);
  tracking.change('POST /tracking/save', changeTracking, 'Updated Successfully');
  tracking.read('GET /contacts/tracking', readPersonChoice);
  tracking.change('POST /contacts/tracking/save', keepPersonChoice, 'Updated Successfully');
};
