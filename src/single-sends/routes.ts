/** The API of composing single sends, and of their mails as they are seen. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { Deps } from '../deps.ts';
import { operationRoutes } from '../http/operation-routes.ts';
import { countAudience, createDraft, readDraft, saveDraft } from './operations/drafts.ts';
import {
  checkSingleSendMail,
  readSingleSendCode,
  showSingleSendHtml,
  showSingleSendMail,
} from './operations/shown-mails.ts';

export const singleSendDraftRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const routes = operationRoutes(app, deps, 'Single sends');
  routes.record('GET /single-send/mail', showSingleSendMail);
  routes.code('GET /single-send/mail/html', showSingleSendHtml);
  routes.read('GET /single-send/check', checkSingleSendMail);
  routes.read('POST /single/send/draft', createDraft);
  routes.read('POST /single/send/save', saveDraft);
  routes.read('GET /single-send/draft', readDraft);
  routes.code('GET /single-send/html', readSingleSendCode);
  routes.read('GET /single-send/audience', countAudience);
};
