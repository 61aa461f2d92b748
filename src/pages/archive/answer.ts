/** How pages of the archive are answered: caches may keep them for some minutes, and ask whether they have changed. */
import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';

/** A mail that was withdrawn can be in caches for as long. */
const MAX_AGE_S = 300;

/** Sends a text with its tag, or only says that a client has it already (RFC 9110, 13.1.2). */
export function sendTagged(reply: FastifyReply, type: string, text: string | Buffer): FastifyReply {
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  reply.headers({ etag, 'cache-control': `public, max-age=${MAX_AGE_S}` });
  const known = reply.request.headers['if-none-match'] ?? '';
  if (known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag || tag.trim() === '*'))
    return reply.code(304).send();
  return reply.type(type).send(text);
}
