/** The API for the settings of mails: their check, their language, their links, and whether sent mails are kept. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operationRoutes } from '../../http/operation-routes.ts';
import type { Deps } from '../../operations/deps.ts';
import { changeMailSettings, readMailSettings } from './operations.ts';

export const mailSettingsRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const sends = operationRoutes(app, deps, 'Campaigns (single sends)');
  sends.read('GET /sending/mails', readMailSettings);
  sends.change('POST /sending/mails/save', changeMailSettings, 'Updated Successfully');
};
