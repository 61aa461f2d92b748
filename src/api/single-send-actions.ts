/** Actions on single sends: duplicate and delete, and the additions cancel, pause and resume. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import type { Deps } from '../deps.ts';
import { done, identifier, identifiers } from '../http/schemas.ts';
import {
  cancelSingleSend,
  deleteSingleSends,
  duplicateSingleSend,
  pauseOrResume,
  requireSingleSend,
  requireSingleSends,
} from '../single-sends/actions.ts';

const ByUtr = Type.Object({ utr: identifier('The single send.') });

export const singleSendActionRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  app.route({
    method: ['GET', 'POST'],
    url: '/single/send/duplicate',
    schema: { querystring: ByUtr, response: done },
    handler: async (request) => {
      duplicateSingleSend(deps, request.userId, request.query.utr);
      return { status: 'success' as const, message: 'Duplicated Successfully' };
    },
  });

  app.delete('/single/send/delete', { schema: { querystring: ByUtr, response: done } }, async (request) => {
    await deleteSingleSends(deps, [requireSingleSend(deps.db, request.userId, request.query.utr)]);
    return { status: 'success' as const, message: 'Deleted Successfully' };
  });

  app.post(
    '/single/send/bulk-delete',
    { schema: { body: Type.Object({ strIds: identifiers('Ids or utrs of single sends.') }), response: done } },
    async (request) => {
      await deleteSingleSends(deps, requireSingleSends(deps.db, request.userId, request.body.strIds));
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );

  app.post('/single/send/cancel', { schema: { querystring: ByUtr, response: done } }, async (request) => {
    await cancelSingleSend(deps, request.userId, request.query.utr);
    return { status: 'success' as const, message: 'Cancelled Successfully' };
  });

  app.post('/single/send/pause', { schema: { querystring: ByUtr, response: done } }, async (request) => {
    await pauseOrResume(deps, request.userId, request.query.utr, 'pause');
    return { status: 'success' as const, message: 'Paused Successfully' };
  });

  app.post('/single/send/resume', { schema: { querystring: ByUtr, response: done } }, async (request) => {
    await pauseOrResume(deps, request.userId, request.query.utr, 'resume');
    return { status: 'success' as const, message: 'Resumed Successfully' };
  });
};
