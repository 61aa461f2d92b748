/** The API for the URLs at which mail providers report events, and for the mail to the feedback-loop, abuse and postmaster addresses. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operationRoutes } from '../../http/operation-routes.ts';
import type { Deps } from '../../operations/deps.ts';
import { addIntake, deleteIntake, deleteRoleMail, listIntakes, listRoleMails } from './operations.ts';

export const returnedMailRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const routes = operationRoutes(app, deps, 'Bounces and suppressions');
  routes.read('GET /provider-events', listIntakes);
  routes.read('POST /provider-events/create', addIntake);
  routes.change('DELETE /provider-events/delete', deleteIntake, 'Deleted Successfully');
  routes.read('GET /role-mails', listRoleMails);
  routes.change('DELETE /role-mails/delete', deleteRoleMail, 'Deleted Successfully');
};
