/** Reads and writes cookies, and finds the session of a request by its cookie. */
import fastifyCookie from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Db } from '../database/open.ts';
import type { Clock } from '../time/clock.ts';
import { newSecret } from '../users/secrets.ts';
import { findSession, SESSION_MS, type Session } from '../users/sessions.ts';
import { isEncrypted, isLoopback } from './same-origin.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The session of the cookie with its user; null without a valid session. */
    session: Session | null;
  }
}

/** Browsers accept a cookie with this prefix only over https and only for this host (RFC 6265bis, 4.1.3.2). */
const ENCRYPTED_PREFIX = '__Host-';
/**
 * The session cookie's name. A cookie without the prefix is used only if the browser is on this machine, because any sibling subdomain could
 * set such a cookie.
 */
const SESSION = 'sendlark';
/** The name of the cookie that distinguishes browsers before sign-in. */
const VISIT = 'sendlark-visit';
/** How long a visit lasts, in seconds: as long as the sign-in page may stay open. */
const VISIT_SECONDS = 24 * 3600;
/** A session's secret: 256 bits in base64url. */
const SECRET = /^[\w-]{43}$/;

/** Our values need no encoding, and trying to decode a malformed header takes 4 ms, 40 times as long as parsing it. */
const NO_ENCODING = { encode: (value: string) => value, decode: (value: string) => value };

/**
 * Registers the cookie plugin for the routes of `app`. Cookies are parsed only when one is read, because requests for pixels and links have
 * none that are needed. Requests have no session before `installSessions` sets it.
 */
export async function installCookies(app: FastifyInstance): Promise<void> {
  await app.register(fastifyCookie, { hook: false, parseOptions: NO_ENCODING });
  app.decorateRequest('session', null);
}

/** Sets `request.session` of every request to routes registered after this call. */
export function installSessions(app: FastifyInstance, deps: { db: Db; clock: Clock }): void {
  app.addHook('onRequest', (request, _reply, next) => {
    request.session = readSession(request, deps);
    next();
  });
}

/** Returns the current session of a request; null without a valid one. */
export function readSession(request: FastifyRequest, { db, clock }: { db: Db; clock: Clock }): Session | null {
  const secret = sessionSecret(request);
  return secret === null ? null : findSession(db, secret, clock.now());
}

/** Returns the secret in a request's session cookie; null without a valid one. */
export function sessionSecret(request: FastifyRequest): string | null {
  return secretIn(request, SESSION);
}

/** Returns the secret that identifies a browser before sign-in; null without a valid one. */
export function visitSecret(request: FastifyRequest): string | null {
  return secretIn(request, VISIT);
}

function secretIn(request: FastifyRequest, name: string): string | null {
  if (request.headers.cookie === undefined) return null;
  // Browsers send the prefixed cookie over https only, so it can be trusted whatever connection this request seems to use.
  const value = readCookie(request, ENCRYPTED_PREFIX + name) ?? (isLoopback(request) && readCookie(request, name));
  return value && SECRET.test(value) ? value : null;
}

/** Returns true if a password or cookie may be sent over this connection: it is encrypted, or does not leave the browser's machine. */
export function isSecureChannel(request: FastifyRequest, publicUrl: string): boolean {
  return isEncrypted(request, publicUrl) || isLoopback(request);
}

/** Sets the session cookie to the secret of a new session. Call it only if `isSecureChannel`. */
export function setSessionCookie(reply: FastifyReply, publicUrl: string, secret: string): void {
  writeSecret(reply, publicUrl, SESSION, secret, SESSION_MS / 1000);
}

/** Removes the session cookie. */
export function clearSessionCookie(reply: FastifyReply, publicUrl: string): void {
  writeSecret(reply, publicUrl, SESSION, '', 0);
}

/** Starts identifying a browser with a cookie. Returns the cookie's secret. Call it only if `isSecureChannel`. */
export function beginVisit(reply: FastifyReply, publicUrl: string): string {
  const secret = newSecret();
  writeSecret(reply, publicUrl, VISIT, secret, VISIT_SECONDS);
  return secret;
}

function writeSecret(reply: FastifyReply, publicUrl: string, name: string, value: string, maxAge: number): void {
  const secure = isEncrypted(reply.request, publicUrl);
  writeCookie(reply, secure ? ENCRYPTED_PREFIX + name : name, value, maxAge, secure);
}

/** Returns true if a request has the session cookie that browsers send over https only. */
export function hasEncryptedSession(request: FastifyRequest): boolean {
  return readCookie(request, ENCRYPTED_PREFIX + SESSION) !== undefined;
}

/**
 * Sets a cookie for `maxAge` seconds; 0 removes it. Scripts cannot read it, and browsers do not send it with forms posted by other sites.
 */
export function writeCookie(reply: FastifyReply, name: string, value: string, maxAge: number, secure: boolean): void {
  reply.setCookie(name, value, { path: '/', maxAge, httpOnly: true, sameSite: 'lax', secure });
}

/** Returns the value of a cookie as sent: the first one if there are several with the name (RFC 6265, 4.2.1); undefined if there is none. */
export function readCookie(request: FastifyRequest, name: string): string | undefined {
  const { cookie } = request.headers;
  return cookie === undefined ? undefined : request.server.parseCookie(cookie)[name];
}
