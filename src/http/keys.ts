/** The key headers of every API request (interface "Authentication"; decisions §1). */
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

/** How long a pair that was right is taken for right without a look: a revocation counts within this time. */
const TRUSTED_MS = 1000;
const MOST_TRUSTED = 1000;

/**
 * Installs the key check, which sets `request.userId` or answers 401. It runs before the body is read, so that a caller without
 * keys costs no more than the headers, and as preHandler once more: a pair may be revoked while a long body arrives.
 */
export function installKeys(
  app: FastifyInstance,
  { db, config, clock }: { db: Db; config: Config; clock: Clock },
): void {
  const always = { publicKey: config.PUBLIC_KEY, secretKey: config.SECRET_KEY };
  const trusted = new Map<string, { userId: number; until: number }>();

  /**
   * The account of a pair, or null. Only right pairs are remembered. A look into the map tells nothing by its time: it compares
   * texts only where their hashes, seeded anew by each process, are equal.
   */
  function accountOfPair(publicKey: string, secretKey: string): number | null {
    const pair = `${publicKey}\n${secretKey}`;
    const known = trusted.get(pair);
    const now = clock.monotonic();
    if (known !== undefined && now < known.until) return known.userId;
    const userId = findAccount(db, { publicKey, secretKey }, always);
    if (trusted.size >= MOST_TRUSTED) trusted.clear();
    if (userId === null) trusted.delete(pair);
    else trusted.set(pair, { userId, until: now + TRUSTED_MS });
    return userId;
  }

  /** The account of the two headers; throws the 401. */
  function accountOfRequest({ headers }: FastifyRequest): number {
    const { publickey: publicKey, secretkey: secretKey } = headers;
    const missing: FieldErrors = {};
    if (!publicKey) missing.PublicKey = [messages.required('PublicKey')];
    if (!secretKey) missing.SecretKey = [messages.required('SecretKey')];
    if (!publicKey || !secretKey) throw new Failure(401, missing);
    const userId = accountOfPair(String(publicKey), String(secretKey));
    if (userId === null) throw new Failure(401, 'Invalid public key or secret key');
    return userId;
  }

  app.decorateRequest('userId', 0);
  for (const hook of ['onRequest', 'preHandler'] as const) {
    app.addHook(hook, (request: FastifyRequest, _reply: FastifyReply, next: () => void) => {
      request.userId = accountOfRequest(request);
      next();
    });
  }
}
