/** How close the rows of tables are, which each browser keeps in a cookie. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasEncryptedSession, readCookie, writeCookie } from '../http/cookies.ts';

/** comfortable: rows of 44 pixels; compact: of 34. */
export const DENSITIES = ['comfortable', 'compact'] as const;
export type Density = (typeof DENSITIES)[number];

const COOKIE = 'sendlark_density';
/** A year. */
const SECONDS = 31_536_000;

/** Returns the density that the browser keeps. */
export function densityOf(request: FastifyRequest): Density {
  return readCookie(request, COOKIE) === 'compact' ? 'compact' : 'comfortable';
}

/** Makes the browser keep a density; does nothing for any other text. */
export function keepDensity(reply: FastifyReply, text: string): void {
  const density = DENSITIES.find((name) => name === text);
  if (density !== undefined) writeCookie(reply, COOKIE, density, SECONDS, hasEncryptedSession(reply.request));
}
