/** Identifies the caller of the API: a program with a pair of keys, or a user in the dashboard with a session. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { useKeys } from '../database/accounts.ts';
import type { Db } from '../database/open.ts';
import { Failure, type FieldErrors } from '../errors/failure.ts';
import { messages } from '../errors/field-errors.ts';
import { type Caller, callerWithSession, type RouteRule, requireAccess, requireScope } from '../operations/callers.ts';
import type { Clock } from '../time/clock.ts';
import { keyLabel } from '../users/audit.ts';
import { findSession, type Session } from '../users/sessions.ts';
import { hasBody } from './connections.ts';
import { sessionSecret } from './cookies.ts';
import { isSameOrigin } from './same-origin.ts';

declare module 'fastify' {
  interface FastifyRequest extends Caller {
    /**
     * Checks the caller again during long answers and after uploads: throws 401 or 403 if the keys or session are no longer valid. In the API,
     * this check does not count as activity of the session.
     */
    requireCaller(): void;
  }
  /** Who may call a route of the API (src/api.ts). */
  interface FastifyContextConfig extends Partial<RouteRule> {}
}

/** How long a correct pair is accepted without another database query. A revoked pair stops working within this time. */
const CACHE_MS = 1000;
const MAX_CACHED = 1000;

/**
 * Installs the check of the caller, which sets `request.accountId`, `actor` and `role`, or answers 401 or 403. It runs before the body is
 * read, so that a request without keys costs only its headers, and again before the handler, because a pair may be revoked or a session
 * ended while a long body arrives.
 */
export function installCallers(
  app: FastifyInstance,
  { db, config, clock }: { db: Db; config: Config; clock: Clock },
): void {
  const pairInSettings = { publicKey: config.PUBLIC_KEY, secretKey: config.SECRET_KEY };
  const cached = new Map<string, { keys: NonNullable<ReturnType<typeof useKeys>>; until: number }>();

  /**
   * Finds the account, name and scopes of a pair; null if the pair is wrong. Only correct pairs are cached. A Map lookup does not leak
   * characters of keys by timing, because it compares texts only after a randomly seeded hash matches.
   */
  function findKeys(publicKey: string, secretKey: string) {
    const pair = `${publicKey}\n${secretKey}`;
    const known = cached.get(pair);
    const now = clock.monotonic();
    if (known !== undefined && now < known.until) return known.keys;
    const keys = useKeys(db, clock, { publicKey, secretKey }, pairInSettings);
    if (cached.size >= MAX_CACHED) cached.clear();
    if (keys === null) cached.delete(pair);
    else cached.set(pair, { keys, until: now + CACHE_MS });
    return keys;
  }

  /**
   * The caller identified by the request's two key headers. Throws 401 if they are missing or wrong, and 403 if their
   * scopes do not suffice.
   */
  function callerWithKeys(request: FastifyRequest): Caller {
    const { headers, ip } = request;
    const { publickey: publicKey, secretkey: secretKey } = headers;
    const missing: FieldErrors = {};
    if (!publicKey) missing.PublicKey = [messages.required('PublicKey')];
    if (!secretKey) missing.SecretKey = [messages.required('SecretKey')];
    if (!publicKey || !secretKey) throw new Failure(401, missing);
    const keys = findKeys(String(publicKey), String(secretKey));
    if (keys === null) throw new Failure(401, 'Invalid public key or secret key');
    const { accountId, name, scopes } = keys;
    // A URL without a route is answered 404, whatever the scopes.
    const role = request.is404 ? 'viewer' : requireScope(ruleOf(request), scopes);
    const actor = { userId: null, name: keyLabel(name, String(publicKey)), address: ip };
    return { accountId, actor, role, sessionId: null, scopes };
  }

  /**
   * The session with which a request may call the API, or null. A cookie alone is not enough, because browsers also send it with requests
   * caused by other sites; the header X-Sendlark can be set only by our own pages. If the request has a key header, only the keys count.
   */
  function findApiSession(request: FastifyRequest, isInUse: boolean): Session | null {
    const { publickey, secretkey, 'x-sendlark': ours } = request.headers;
    if (publickey !== undefined || secretkey !== undefined || ours === undefined || !isSameOrigin(request)) return null;
    const secret = sessionSecret(request);
    return secret === null ? null : findSession(db, secret, clock.now(), isInUse);
  }

  /**
   * The caller of a request. Throws 401 or 403 if the keys or the session do not allow the request. With `isInUse` the request counts as
   * activity of the session.
   */
  function requireCaller(request: FastifyRequest, isInUse = true): Caller {
    const session = findApiSession(request, isInUse);
    if (session === null) return callerWithKeys(request);
    const caller = callerWithSession(session, request.ip);
    // The session is set before the role is checked, so that the 403 keeps its status for the dashboard (see `installErrors`).
    request.sessionId = caller.sessionId;
    requireAccess(ruleOf(request), caller);
    return caller;
  }

  app.decorateRequest('accountId', 0);
  app.decorateRequest('role', 'viewer');
  app.decorateRequest('actor');
  app.decorateRequest('sessionId', null);
  app.decorateRequest('scopes', null);
  app.decorateRequest('requireCaller', function () {
    requireCaller(this, false);
  });
  const setCaller = (request: FastifyRequest, _reply: FastifyReply, next: () => void) => {
    Object.assign(request, requireCaller(request));
    next();
  };
  app.addHook('onRequest', setCaller);
  app.addHook('preHandler', (request, reply, next) => (hasBody(request) ? setCaller(request, reply, next) : next()));
}

/** The access rule of a route. A URL without a route needs only a session, and is answered 404. */
function ruleOf({ is404, routeOptions: { config } }: FastifyRequest): RouteRule {
  const { role = is404 ? 'viewer' : 'owner', scope = 'everything', ...rule } = config;
  return { ...rule, role, scope };
}
