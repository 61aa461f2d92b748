/** The density of tables: how close their rows are. Each browser keeps its density in a cookie. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasEncryptedSession, readCookie, writeCookie } from '../http/cookies.ts';

/** `comfortable` rows have 44 pixels, `compact` rows 34. */
export const DENSITIES = ['comfortable', 'compact'] as const;
export type Density = (typeof DENSITIES)[number];

const COOKIE = 'sendlark_density';
const YEAR_SECONDS = 31_536_000;

/** Returns the density that the browser keeps. */
export function densityOf(request: FastifyRequest): Density {
  return readCookie(request, COOKIE) === 'compact' ? 'compact' : 'comfortable';
}

/** Makes the browser keep a density. Does nothing if the text is no density. */
export function keepDensity(reply: FastifyReply, text: string): void {
  const density = DENSITIES.find((name) => name === text);
  if (density !== undefined) writeCookie(reply, COOKIE, density, YEAR_SECONDS, hasEncryptedSession(reply.request));
}
