/** The API for the test outbox. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operationRoutes } from '../../http/operation-routes.ts';
import type { Deps } from '../../operations/deps.ts';
import { listMails, readMail } from './operations.ts';

export const outboxRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const outbox = operationRoutes(app, deps, 'Outbox');
  outbox.list('GET /outbox/list', listMails);
  outbox.record('GET /outbox/details', readMail);
};
