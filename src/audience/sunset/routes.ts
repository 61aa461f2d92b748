/** The API of the rule about inactive contacts. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operationRoutes } from '../../http/operation-routes.ts';
import type { Deps } from '../../operations/deps.ts';
import { liftAllInactive, liftInactive, listInactive, previewSunset, readSunset, saveSunset } from './operations.ts';

export const sunsetRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const contacts = operationRoutes(app, deps, 'Contacts');
  contacts.read('GET /sunset', readSunset);
  contacts.change('POST /sunset/save', saveSunset, 'Updated Successfully');
  contacts.read('GET /sunset/preview', previewSunset);
  contacts.list('GET /sunset/people', listInactive);
  contacts.change('POST /sunset/lift', liftInactive, 'Updated Successfully');
  contacts.change('POST /sunset/lift-all', liftAllInactive, 'Updated Successfully');
};
