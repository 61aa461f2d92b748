/** Signs a browser in. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../../deps.ts';
import { setSessionCookie } from '../../http/session-cookie.ts';
import { signOut } from '../../users/sign-in.ts';

/** Puts a new session into the cookie and opens `next`. Whoever was signed in with this browser before is signed out. */
export function beginSession(
  request: FastifyRequest,
  reply: FastifyReply,
  { db, clock, publicUrl }: Pick<Deps, 'db' | 'clock' | 'publicUrl'>,
  { secret, next = '/' }: { secret: string; next?: string },
) {
  if (request.session !== null) signOut(db, request.session, request.ip, clock.now());
  setSessionCookie(reply, publicUrl(), secret);
  return reply.redirect(next, 303);
}
