/** The API of composing single sends. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { sendCode } from '../api/shown-mails.ts';
import type { Deps } from '../deps.ts';
import { operationRoutes } from '../http/operation-routes.ts';
import { identifier, plainText } from '../http/requests/schemas.ts';
import { requireSingleSend } from './actions.ts';
import { countAudience, createDraft, readDraft, saveDraft } from './operations/drafts.ts';

const TAG = 'Single sends';

export const singleSendDraftRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const routes = operationRoutes(app, deps, TAG);
  routes.read('POST /single/send/draft', createDraft);
  routes.read('POST /single/send/save', saveDraft);
  routes.read('GET /single-send/draft', readDraft);

  app.get(
    '/single-send/html',
    {
      schema: {
        tags: [TAG],
        summary: 'Read the HTML that a single send was given (addition)',
        description: 'The template_html alone, as it was written; empty without any.',
        querystring: Type.Object({ utr: identifier('The single send.') }),
        response: plainText,
      },
    },
    async (request, reply) =>
      sendCode(reply, requireSingleSend(deps.db, request.accountId, request.query.utr).template_html ?? ''),
  );

  routes.read('GET /single-send/audience', countAudience);
};
