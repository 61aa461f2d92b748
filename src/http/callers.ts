/** Who calls the API: a program with a pair of keys, or a person in the dashboard with a session. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { findAccount } from '../database/accounts.ts';
import type { Db } from '../database/open.ts';
import { ROLES, type Role } from '../database/schema/index.ts';
import { Failure, type FieldErrors } from '../failure.ts';
import { messages } from '../field-errors.ts';
import { SENTENCES, sentence } from '../sentences.ts';
import type { Actor } from '../users/audit.ts';
import { isOperator } from '../users/operators.ts';
import { findSession, type Session } from '../users/sessions.ts';
import { isSameOrigin } from './same-origin.ts';
import { sessionSecret } from './session-cookie.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The account of the caller: the `user_id` of every record the request may see. */
    accountId: number;
    /** Who acts, for the audit log. */
    actor: Actor;
    /** What the caller may do. A pair of keys has the role of an owner, except where only people may act (`isForPeople`). */
    role: Role;
    /** The session by which a person calls; null for a pair of keys. */
    sessionId: number | null;
    /** Checks the caller again, for long answers: throws 401 or 403 if the keys or session are no longer valid. The session counts as idle meanwhile. */
    requireCaller(): void;
  }
  interface FastifyContextConfig {
    /** The least role that a person needs for this endpoint. By default a GET needs viewer, everything else editor. */
    role?: Role;
    /** Whether the endpoint concerns the whole installation: then it takes a signed-in operator, and keys are not enough. */
    isForOperators?: true;
    /**
     * Whether only people who are signed in may do this, because it makes, changes or removes who has access: whoever has got hold of a
     * key pair must not be able to become an operator with it, or keep access after the pair is revoked.
     */
    isForPeople?: true;
  }
}

/** How long a correct pair is accepted without asking the database again. A revoked pair stops working within this time. */
const CACHE_MS = 1000;
const MAX_CACHED = 1000;
const FORBIDDEN = 403;

/** Who calls, for which account and with which rights. */
export interface Caller {
  /** The `user_id` of every record that the caller may see. */
  accountId: number;
  /** Who acts, for the audit log. */
  actor: Actor;
  role: Role;
  /** The session by which a person calls; null for a pair of keys. */
  sessionId: number | null;
}

/** Who may do something: the least role, and whether only people or only operators may (see the configuration of routes above). */
export interface Allowed {
  role: Role;
  isForPeople?: true | undefined;
  isForOperators?: true | undefined;
}

/** Throws 403 unless a caller is among those who may do something. */
export function requireAllowed({ role: least, isForPeople, isForOperators }: Allowed, caller: Caller): void {
  const { role, sessionId } = caller;
  const required = isForOperators ? 'owner' : least;
  if (sessionId === null && isForPeople && !isForOperators) throw new Failure(FORBIDDEN, SENTENCES.people_only);
  if (ROLES.indexOf(role) < ROLES.indexOf(required))
    throw new Failure(FORBIDDEN, sentence('role_too_low', { role, required }));
  if (isForOperators && !isOperatorsSession(caller)) throw new Failure(FORBIDDEN, SENTENCES.operators_only);
}

/**
 * Installs the check of the caller, which sets `request.accountId`, `actor` and `role`, or answers 401 or 403. It runs before the body is
 * read, so that a caller without keys costs only the headers, and again before the handler, because a pair may be revoked or a session
 * ended while a long body arrives.
 */
export function installCallers(
  app: FastifyInstance,
  { db, config, clock }: { db: Db; config: Config; clock: Clock },
): void {
  const always = { publicKey: config.PUBLIC_KEY, secretKey: config.SECRET_KEY };
  const cached = new Map<string, { accountId: number; until: number }>();

  /**
   * The account of a pair, or null. Only correct pairs are cached. A Map lookup does not leak key characters by timing: it compares texts
   * only after a randomly seeded hash matches.
   */
  function findAccountByPair(publicKey: string, secretKey: string): number | null {
    const pair = `${publicKey}\n${secretKey}`;
    const known = cached.get(pair);
    const now = clock.monotonic();
    if (known !== undefined && now < known.until) return known.accountId;
    const accountId = findAccount(db, { publicKey, secretKey }, always);
    if (cached.size >= MAX_CACHED) cached.clear();
    if (accountId === null) cached.delete(pair);
    else cached.set(pair, { accountId, until: now + CACHE_MS });
    return accountId;
  }

  /** The caller by the request's two key headers; throws 401 when they are missing or wrong. */
  function callerWithKeys({ headers, ip }: FastifyRequest): Caller {
    const { publickey: publicKey, secretkey: secretKey } = headers;
    const missing: FieldErrors = {};
    if (!publicKey) missing.PublicKey = [messages.required('PublicKey')];
    if (!secretKey) missing.SecretKey = [messages.required('SecretKey')];
    if (!publicKey || !secretKey) throw new Failure(401, missing);
    const accountId = findAccountByPair(String(publicKey), String(secretKey));
    if (accountId === null) throw new Failure(401, 'Invalid public key or secret key');
    return { accountId, actor: { userId: null, name: String(publicKey), address: ip }, role: 'owner', sessionId: null };
  }

  /**
   * The session by which a request may call the API, or null. A cookie alone is not enough, because browsers send it with requests that
   * other sites cause; the header X-Sendlark can be set by our own pages only. Whoever sends a key is judged by keys alone.
   */
  function findApiSession(request: FastifyRequest, isInUse: boolean): Session | null {
    const { publickey, secretkey, 'x-sendlark': ours } = request.headers;
    if (publickey !== undefined || secretkey !== undefined || ours === undefined || !isSameOrigin(request)) return null;
    const secret = sessionSecret(request);
    return secret === null ? null : findSession(db, secret, clock.now(), isInUse);
  }

  function requireCaller(request: FastifyRequest, isInUse = true): Caller {
    const session = findApiSession(request, isInUse);
    const caller = session === null ? callerWithKeys(request) : callerWithSession(session, request.ip);
    // Set before the role is checked, so that the 403 keeps its status for the dashboard (see `installErrors`).
    request.sessionId = caller.sessionId;
    requireAllowed(allowedBy(request), caller);
    return caller;
  }

  app.decorateRequest('accountId', 0);
  app.decorateRequest('role', 'viewer');
  app.decorateRequest('actor');
  app.decorateRequest('sessionId', null);
  app.decorateRequest('requireCaller', function () {
    requireCaller(this, false);
  });
  for (const hook of ['onRequest', 'preHandler'] as const) {
    app.addHook(hook, (request: FastifyRequest, _reply: FastifyReply, next: () => void) => {
      Object.assign(request, requireCaller(request));
      next();
    });
  }
}

/** Whether the caller is a person who may change nothing. They get no links that work without signing in, such as those to a design page. */
export function changesNothing({ role }: Pick<Caller, 'role'>): boolean {
  return role === 'viewer';
}

/** The caller of a request that has a session. */
export function callerWithSession({ id: sessionId, user }: Session, address: string): Caller {
  const { id: userId, accountId, email: name, role } = user;
  return { accountId, actor: { userId, name, address }, role, sessionId };
}

/** Who may call a route. An address without a route needs only a session, and is answered 404. */
function allowedBy({ method, routeOptions: { config } }: FastifyRequest): Allowed {
  const { role = method === 'GET' ? 'viewer' : 'editor', isForPeople, isForOperators } = config;
  return { role, isForPeople, isForOperators };
}

/** Whether a signed-in operator calls. */
export function isOperatorsSession({ sessionId, accountId, role }: Omit<Caller, 'actor'>): boolean {
  return sessionId !== null && isOperator({ accountId, role });
}
