/** The key headers of every API request (interface "Authentication"; decisions §1). */
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import { accountOf } from '../database/accounts.ts';
import type { Db } from '../database/open.ts';
import { Failure, type FieldErrors, texts } from '../failure.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The account the keys identify: the `user_id` of every record the request may see. */
    userId: number;
  }
}

/** Installs the preHandler that settles `request.userId` or answers 401. */
export function installKeys(app: FastifyInstance, { db, config }: { db: Db; config: Config }): void {
  const always = { publicKey: config.PUBLIC_KEY, secretKey: config.SECRET_KEY };
  app.decorateRequest('userId', 0);
  app.addHook('preHandler', async (request) => {
    const publicKey = request.headers.publickey;
    const secretKey = request.headers.secretkey;
    const missing: FieldErrors = {};
    if (!publicKey) missing.PublicKey = [texts.required('PublicKey')];
    if (!secretKey) missing.SecretKey = [texts.required('SecretKey')];
    if (!publicKey || !secretKey) throw new Failure(401, missing);
    const userId = accountOf(db, { publicKey: String(publicKey), secretKey: String(secretKey) }, always);
    if (userId === null) throw new Failure(401, 'Invalid public key or secret key');
    request.userId = userId;
  });
}
