/** Actions on single sends: duplicate and delete, and the additions cancel, pause and resume. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import type { Deps } from '../deps.ts';
import { done, identifier, identifiers, integer, successWith } from '../http/requests/schemas.ts';
import {
  cancelSingleSend,
  deleteSingleSends,
  duplicateSingleSend,
  pauseOrResume,
  requireSingleSend,
  requireSingleSends,
} from '../single-sends/actions.ts';
import { retryFailed } from '../single-sends/retry-failed.ts';

const tags = ['Single sends'];

const ByUtr = Type.Object({ utr: identifier('The single send.') });

export const singleSendActionRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  app.route({
    method: ['GET', 'POST'],
    url: '/single/send/duplicate',
    schema: {
      tags,
      summary: 'Duplicate a single send',
      description: 'The copy is saved and not queued. The header Location of the answer names its details.',
      querystring: ByUtr,
      response: done,
    },
    config: { role: 'editor' },
    handler: async (request, reply) => {
      const utr = duplicateSingleSend(deps, request.accountId, request.query.utr);
      reply.header('location', `/api/single-send/details?utr=${utr}`);
      return { status: 'success' as const, message: 'Duplicated Successfully' };
    },
  });

  app.delete(
    '/single/send/delete',
    {
      schema: {
        tags,
        summary: 'Delete a single send',
        description: 'One that is being sent is stopped first.',
        querystring: ByUtr,
        response: done,
      },
    },
    async (request) => {
      await deleteSingleSends(deps, [requireSingleSend(deps.db, request.accountId, request.query.utr)]);
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );

  app.post(
    '/single/send/bulk-delete',
    {
      schema: {
        tags,
        summary: 'Delete several single sends',
        body: Type.Object({ strIds: identifiers('Ids or utrs of single sends.') }),
        response: done,
      },
    },
    async (request) => {
      await deleteSingleSends(deps, requireSingleSends(deps.db, request.accountId, request.body.strIds));
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );

  app.post(
    '/single/send/cancel',
    {
      schema: {
        tags,
        summary: 'Cancel a single send',
        description:
          'After the answer nothing more leaves. One that was not being sent yet is saved and can be queued again by a change.',
        querystring: ByUtr,
        response: done,
      },
    },
    async (request) => {
      await cancelSingleSend(deps, request.accountId, request.query.utr);
      return { status: 'success' as const, message: 'Cancelled Successfully' };
    },
  );

  app.post(
    '/single/send/pause',
    {
      schema: {
        tags,
        summary: 'Pause a single send',
        description: 'After the answer nothing more leaves until it is resumed.',
        querystring: ByUtr,
        response: done,
      },
    },
    async (request) => {
      await pauseOrResume(deps, request.accountId, request.query.utr, 'pause');
      return { status: 'success' as const, message: 'Paused Successfully' };
    },
  );

  app.post(
    '/single/send/resume',
    { schema: { tags, summary: 'Resume a single send', querystring: ByUtr, response: done } },
    async (request) => {
      await pauseOrResume(deps, request.accountId, request.query.utr, 'resume');
      return { status: 'success' as const, message: 'Resumed Successfully' };
    },
  );

  app.post(
    '/single/send/retry-failed',
    {
      schema: {
        tags,
        summary: 'Send a completed single send again to those for whom it failed (addition)',
        description:
          'The failed recipients go back into the queue of the same mailing, with the same Message-ID. Who bounced, unsubscribed, was suppressed or deleted gets nothing.',
        querystring: ByUtr,
        response: successWith({ queued: integer() }),
      },
    },
    async (request) => {
      const queued = await retryFailed(deps, request.accountId, request.query.utr);
      return { status: 'success' as const, message: { queued } };
    },
  );
};
