/** Reads and writes cookies, and finds the session of a request by its own. */
import fastifyCookie from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Db } from '../database/open.ts';
import type { Clock } from '../time/clock.ts';
import { newSecret } from '../users/secrets.ts';
import { findSession, SESSION_MS, type Session } from '../users/sessions.ts';
import { isEncrypted, isLoopback } from './same-origin.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The session of the cookie and its user; null for everybody who has not signed in. */
    session: Session | null;
  }
}

/** With this prefix, browsers take the cookie over https only, for this host only (RFC 6265bis, 4.1.3.2). */
const ENCRYPTED_PREFIX = '__Host-';
/** Without the prefix used where the browser is on this machine, and nowhere else: any neighbouring host could set it. */
const SESSION = 'sendlark';
/** What tells the browsers of those who are about to sign in apart. */
const VISIT = 'sendlark-visit';
/** How long a visit lasts, in seconds: as long as somebody may look at the page for signing in. */
const VISIT_SECONDS = 24 * 3600;
/** A session's secret: 256 bits in base64url. */
const SECRET = /^[\w-]{43}$/;

/** Our values need no encoding, and to try to decode a header full of what is none takes 4 ms, 40 times as long as to parse it. */
const AS_IT_IS = { encode: (value: string) => value, decode: (value: string) => value };

/** Makes cookies known to the routes of `app`. They are parsed for those who read one, because a pixel or a link of a mail has none to read. */
export async function installCookies(app: FastifyInstance): Promise<void> {
  await app.register(fastifyCookie, { hook: false, parseOptions: AS_IT_IS });
}

/** Sets `request.session` of every request to the routes registered after this call. */
export function installSessions(app: FastifyInstance, deps: { db: Db; clock: Clock }): void {
  app.decorateRequest('session', null);
  app.addHook('onRequest', (request, _reply, next) => {
    request.session = readSession(request, deps);
    next();
  });
}

/** The session of a request as it is at this moment; null for everybody who has not signed in. */
export function readSession(request: FastifyRequest, { db, clock }: { db: Db; clock: Clock }): Session | null {
  const secret = sessionSecret(request);
  return secret === null ? null : findSession(db, secret, clock.now());
}

/** The secret in a request's session cookie, or null. */
export function sessionSecret(request: FastifyRequest): string | null {
  return secretIn(request, SESSION);
}

/** What tells a browser apart in which nobody has signed in yet, or null. */
export function visitSecret(request: FastifyRequest): string | null {
  return secretIn(request, VISIT);
}

function secretIn(request: FastifyRequest, name: string): string | null {
  // Browsers send the first over https only, so there is no need to know how this request came.
  const value = readCookie(request, ENCRYPTED_PREFIX + name) ?? (isLoopback(request) && readCookie(request, name));
  return value && SECRET.test(value) ? value : null;
}

/** Whether a password and a cookie may travel the way of this request: encrypted, or without leaving the browser's machine. */
export function isSafeWay(request: FastifyRequest, publicUrl: string): boolean {
  return isEncrypted(request, publicUrl) || isLoopback(request);
}

/** Puts the secret of a new session into the cookie. Call it only where `isSafeWay`. */
export function setSessionCookie(reply: FastifyReply, publicUrl: string, secret: string): void {
  writeSecret(reply, publicUrl, SESSION, secret, SESSION_MS / 1000);
}

/** Removes the cookie. */
export function clearSessionCookie(reply: FastifyReply, publicUrl: string): void {
  writeSecret(reply, publicUrl, SESSION, '', 0);
}

/** Tells a browser apart from now on, and gives the secret by which it is. Call it only where `isSafeWay`. */
export function beginVisit(reply: FastifyReply, publicUrl: string): string {
  const secret = newSecret();
  writeSecret(reply, publicUrl, VISIT, secret, VISIT_SECONDS);
  return secret;
}

function writeSecret(reply: FastifyReply, publicUrl: string, name: string, value: string, maxAge: number): void {
  const secure = isEncrypted(reply.request, publicUrl);
  writeCookie(reply, secure ? ENCRYPTED_PREFIX + name : name, value, maxAge, secure);
}

/** Whether a request brings the cookie that browsers send over https only. */
export function hasEncryptedSession(request: FastifyRequest): boolean {
  return readCookie(request, ENCRYPTED_PREFIX + SESSION) !== undefined;
}

/** Sets a cookie for `maxAge` seconds, or removes it with 0. Scripts cannot read it, and other sites cannot have it sent with a form. */
export function writeCookie(reply: FastifyReply, name: string, value: string, maxAge: number, secure: boolean): void {
  reply.setCookie(name, value, { path: '/', maxAge, httpOnly: true, sameSite: 'lax', secure });
}

/** The value of a cookie, as it was sent: the first where there are several of the name (RFC 6265, 4.2.1). */
export function readCookie(request: FastifyRequest, name: string): string | undefined {
  const { cookie } = request.headers;
  return cookie === undefined ? undefined : request.server.parseCookie(cookie)[name];
}
