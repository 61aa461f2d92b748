/** Checks the key headers of every API request. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { findAccount } from '../database/accounts.ts';
import type { Db } from '../database/open.ts';
import { Failure, type FieldErrors, messages } from '../failure.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The account the keys identify: the `user_id` of every record the request may see. */
    userId: number;
  }
}

/** How long a correct pair is accepted without asking the database again. A revoked pair stops working within this time. */
const CACHE_MS = 1000;
const MAX_CACHED = 1000;

/**
 * Installs the key check, which sets `request.userId` or answers 401. It runs before the body is read, so that a caller without
 * keys costs only the headers, and again before the handler, because a pair may be revoked while a long body arrives.
 */
export function installKeys(
  app: FastifyInstance,
  { db, config, clock }: { db: Db; config: Config; clock: Clock },
): void {
  const always = { publicKey: config.PUBLIC_KEY, secretKey: config.SECRET_KEY };
  const cached = new Map<string, { userId: number; until: number }>();

  /**
   * The account of a pair, or null. Only correct pairs are cached. The time of a lookup in the map reveals nothing about a key: texts
   * are compared only when their hashes are equal, and each process seeds the hashes anew.
   */
  function findAccountByPair(publicKey: string, secretKey: string): number | null {
    const pair = `${publicKey}\n${secretKey}`;
    const known = cached.get(pair);
    const now = clock.monotonic();
    if (known !== undefined && now < known.until) return known.userId;
    const userId = findAccount(db, { publicKey, secretKey }, always);
    if (cached.size >= MAX_CACHED) cached.clear();
    if (userId === null) cached.delete(pair);
    else cached.set(pair, { userId, until: now + CACHE_MS });
    return userId;
  }

  /** The account of the request's two key headers; throws 401 when they are missing or wrong. */
  function requireAccount({ headers }: FastifyRequest): number {
    const { publickey: publicKey, secretkey: secretKey } = headers;
    const missing: FieldErrors = {};
    if (!publicKey) missing.PublicKey = [messages.required('PublicKey')];
    if (!secretKey) missing.SecretKey = [messages.required('SecretKey')];
    if (!publicKey || !secretKey) throw new Failure(401, missing);
    const userId = findAccountByPair(String(publicKey), String(secretKey));
    if (userId === null) throw new Failure(401, 'Invalid public key or secret key');
    return userId;
  }

  app.decorateRequest('userId', 0);
  for (const hook of ['onRequest', 'preHandler'] as const) {
    app.addHook(hook, (request: FastifyRequest, _reply: FastifyReply, next: () => void) => {
      request.userId = requireAccount(request);
      next();
    });
  }
}
