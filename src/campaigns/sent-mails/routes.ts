/** The API of mails as sent. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { operationRoutes } from '../../http/operation-routes.ts';
import type { Deps } from '../../operations/deps.ts';
import { readSentMail } from './operations.ts';

const mailFile = {
  200: {
    description: 'The mail',
    content: { 'message/rfc822': { schema: Type.Unsafe<string>({ type: 'string' }) } },
  },
};

/** The API for mails as they were sent. */
export const sentMailRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const mails = operationRoutes(app, deps, 'Campaigns (single sends)');
  mails.send('GET /deliveries/mail', readSentMail, mailFile, (raw, reply) => sendMailFile(reply, raw));
};

/** Sends a mail as a file, so that no browser shows it as a page of ours. */
export function sendMailFile(reply: FastifyReply, raw: string): FastifyReply {
  return reply
    .headers({
      'cache-control': 'no-store',
      'content-disposition': 'attachment; filename="mail.eml"',
      'x-content-type-options': 'nosniff',
    })
    .type('message/rfc822')
    .send(Buffer.from(raw, 'latin1'));
}
