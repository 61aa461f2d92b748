/** The API for webhooks and their logs. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operationRoutes } from '../http/operation-routes.ts';
import type { Deps } from '../operations/deps.ts';
import {
  deleteWebhook,
  listWebhooks,
  readWebhookLog,
  replayWebhookEvent,
  rotateWebhookSecret,
  saveWebhook,
  switchWebhook,
  testWebhook,
} from './operations/webhooks.ts';

export const webhookRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const webhooks = operationRoutes(app, deps, 'Webhooks');
  webhooks.read('GET /webhooks', listWebhooks);
  webhooks.read('POST /webhooks/save', saveWebhook);
  webhooks.change('POST /webhooks/delete', deleteWebhook, 'Deleted Successfully');
  webhooks.change('POST /webhooks/switch', switchWebhook, 'Updated Successfully');
  webhooks.read('POST /webhooks/rotate-secret', rotateWebhookSecret);
  webhooks.read('GET /webhooks/log', readWebhookLog);
  webhooks.read('POST /webhooks/test', testWebhook);
  webhooks.read('POST /webhooks/replay', replayWebhookEvent);
};
