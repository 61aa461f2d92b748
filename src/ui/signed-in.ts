/**
 * The checks before every page of the dashboard. Changes must come from our own pages, and all pages except those for signing in need a
 * session. The functions that take `app` apply to routes registered after the call.
 */
import { finished } from 'node:stream/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';
import { limitPerKey } from '../http/account-share.ts';
import { readSession } from '../http/cookies.ts';
import { messagePage, unknownPage } from '../http/pages/layout.ts';
import { isSameOrigin } from '../http/same-origin.ts';
import { callerWithSession, requireAccess } from '../operations/callers.ts';
import { isOperator } from '../users/operators.ts';
import { loginPath } from '../users/screens/sign-in/next-page.ts';
import type { Session } from '../users/sessions.ts';
import { answerError, sendErrorPage } from './error-pages.tsx';
import type { Viewer } from './viewer.ts';

/** Refuses every change that a page of another site requests, and answers errors with pages. */
export function guardPages(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, next) => {
    const isReading = request.method === 'GET' || request.method === 'HEAD';
    if (isReading || isSameOrigin(request)) next();
    else next(new Failure(403, sentence('other_site')));
  });
  app.setErrorHandler<Error & { statusCode?: number }>((error, request, reply) =>
    error instanceof Failure && error.status === 401
      ? askToSignIn(request, reply)
      : answerError(error, request, reply, findViewer(request)),
  );
}

/**
 * Redirects visitors who are not signed in to the sign-in page, which leads back to the requested page. Uploads check the session again once
 * the file has arrived, and the role that the route's config states, by default that of an editor.
 */
export function requireSignIn(app: FastifyInstance): void {
  app.decorateRequest('requireCaller', function () {
    this.session = readSession(this, app.deps);
    if (this.session === null) throw new Failure(401, 'The session has ended');
    requireAccess({ role: 'editor', ...this.routeOptions.config }, callerWithSession(this.session, this.ip));
  });
  app.addHook('onRequest', (request, reply, next) => {
    if (request.session !== null) next();
    else askToSignIn(request, reply);
  });
}

function askToSignIn(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.redirect(request.method === 'POST' ? '/login' : loginPath(request.url), 303);
}

/** The maximum number of a user's pages that are made at the same time. A browser opens as many connections. */
const MAX_AT_ONCE = 6;
/** The maximum number of a user's pages that are made or wait. Requests for further pages are answered with 503. */
const MAX_WAITING = 100;

/**
 * Limits how many pages of a user are made at the same time, so that a user who requests hundreds of pages takes neither the memory for
 * all of them nor the time of other users. A page counts until it is sent. A page is not made if the browser disconnects or the session
 * ends before its turn.
 */
export function limitPages(app: FastifyInstance): void {
  const inTurn = limitPerKey({ most: MAX_WAITING, atOnce: MAX_AT_ONCE });
  app.addHook('onRoute', (route) => {
    const { handler, config } = route;
    // File uploads are not limited, because an upload may take an hour and is processed while it arrives.
    if (config?.upload) return;
    route.handler = function (request, reply) {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const make = async () => {
        // The browser has disconnected while the page waited.
        if (request.method === 'GET' && reply.raw.closed) return resolve(reply.hijack());
        try {
          // The session is read again, because it may have ended, or the user may have got another role, while the page waited.
          request.session = readSession(request, app.deps);
          resolve(request.session === null ? askToSignIn(request, reply) : await handler.call(this, request, reply));
        } catch (error) {
          reject(error);
        }
        await finished(reply.raw).catch(() => undefined);
      };
      inTurn(sessionOf(request).user.id, make).catch(() => {
        resolve(messagePage(reply.code(503).header('retry-after', '1'), 'busy'));
      });
      return promise;
    };
  });
}

/** Answers a request for an unknown URL. A visitor who is not signed in gets a page that recipients of mails understand too. */
export function answerUnknown(request: FastifyRequest, reply: FastifyReply) {
  const viewer = findViewer(request);
  return viewer === null ? unknownPage(reply) : sendErrorPage(request, reply, viewer, 404);
}

/** Returns the session of a request to a page behind `requireSignIn`. */
export function sessionOf({ session }: FastifyRequest): Session {
  if (session === null) throw new Error('a page that needs a session was reached without one');
  return session;
}

/** Returns the signed-in user for whom a page behind `requireSignIn` is made. */
export function viewerOf(request: FastifyRequest): Viewer {
  return asViewer(sessionOf(request));
}

/** Throws 403 unless the user may change something. For pages that are of no use to users with the role `viewer`. */
export function requireEditor(request: FastifyRequest): void {
  if (sessionOf(request).user.role === 'viewer') throw new Failure(403, sentence('viewers_change_nothing'));
}

/** Throws 403 unless the user is an owner. */
export function requireOwner(request: FastifyRequest): void {
  const { role } = sessionOf(request).user;
  if (role !== 'owner') throw new Failure(403, sentence('role_too_low', { role, required: 'owner' }));
}

/** Throws 403 unless the user is an operator. For pages about the whole installation. */
export function requireOperator(request: FastifyRequest): void {
  requireOwner(request);
  if (!isOperator(sessionOf(request).user)) throw new Failure(403, sentence('operators_only'));
}

/** Returns the signed-in user for whom a page is made, or null if nobody is signed in. */
function findViewer({ session }: FastifyRequest): Viewer | null {
  return session === null ? null : asViewer(session);
}

function asViewer({ user }: Session): Viewer {
  const { name, email, role, accountId, language, shortcuts, colourScheme } = user;
  return {
    name: name || email,
    email,
    role,
    isOperator: isOperator(user),
    accountId,
    language: language || null,
    shortcuts,
    colourScheme,
  };
}
