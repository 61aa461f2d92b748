/** The API for SMTP relays and their tests, and for the public URL, which the settings show next to them. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operationRoutes } from '../../http/operation-routes.ts';
import type { Deps } from '../../operations/deps.ts';
import { changePublicUrl, readPublicUrl } from './operations/public-url.ts';
import { deleteRelay, orderRelays, readRelays, saveRelay } from './operations/relays.ts';
import { testRelay } from './operations/test-relay.ts';

export const relayRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const installation = operationRoutes(app, deps, 'Installation');
  installation.read('GET /public-address', readPublicUrl);
  installation.change('POST /public-address/save', changePublicUrl, 'Updated Successfully');
  installation.read('GET /relays', readRelays);
  installation.read('POST /relays/save', saveRelay);
  installation.change('POST /relays/order', orderRelays, 'Updated Successfully');
  installation.change('POST /relays/delete', deleteRelay, 'Deleted Successfully');
  installation.read('POST /relays/test', testRelay);
};
