/** Answers with a mail as a file. */
import type { FastifyReply } from 'fastify';
import Type from 'typebox';

/** The schema of the answer for the API reference. */
export const mailFile = {
  200: {
    description: 'The e-mail',
    content: { 'message/rfc822': { schema: Type.Unsafe<string>({ type: 'string' }) } },
  },
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
