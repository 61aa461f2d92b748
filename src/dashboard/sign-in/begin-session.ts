/** Signs a browser in. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config.ts';
import type { Db } from '../../database/open.ts';
import { setSessionCookie } from '../../http/session-cookie.ts';
import { endSession } from '../../users/sessions.ts';

/** Puts a new session into the cookie and opens `next`. Whoever was signed in with this browser before is signed out. */
export function beginSession(
  request: FastifyRequest,
  reply: FastifyReply,
  { db, config }: { db: Db; config: Config },
  { secret, next = '/' }: { secret: string; next?: string },
) {
  if (request.session !== null) endSession(db, request.session.id);
  setSessionCookie(reply, config, secret);
  return reply.redirect(next, 303);
}
