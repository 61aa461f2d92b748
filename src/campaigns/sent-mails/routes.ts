/** The API for mails of campaigns and automations as they were sent. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { mailFile, sendMailFile } from '../../http/mail-file.ts';
import { operationRoutes } from '../../http/operation-routes.ts';
import type { Deps } from '../../operations/deps.ts';
import { readSentMail } from './operations.ts';

export const sentMailRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const mails = operationRoutes(app, deps, 'Campaigns (single sends)');
  mails.send('GET /deliveries/mail', readSentMail, mailFile, (raw, reply) => sendMailFile(reply, raw));
};
