/** The API for frequency caps, sending hours and limits of results. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operationRoutes } from '../../http/operation-routes.ts';
import type { Deps } from '../../operations/deps.ts';
import { changeAutoHold, changeCaps, changeWindow, readCaps, readResultLimits, readWindow } from './operations.ts';

export const sendingTimeRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const sends = operationRoutes(app, deps, 'Campaigns (single sends)');
  sends.read('GET /sending/limits', readResultLimits);
  sends.change('POST /sending/limits/save', changeAutoHold, 'Updated Successfully');
  sends.read('GET /sending/caps', readCaps);
  sends.change('POST /sending/caps/save', changeCaps, 'Updated Successfully');
  sends.read('GET /sending/window', readWindow);
  sends.change('POST /sending/window/save', changeWindow, 'Updated Successfully');
};
