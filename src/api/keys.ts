/** The key pairs by which programs call the API (addition). A secret is shown once, when it is made. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { sql } from 'drizzle-orm';
import Type from 'typebox';
import { createKeys, revokeKeys } from '../database/accounts.ts';
import { ownedBy, ownedRecord } from '../database/ownership.ts';
import { recordObject } from '../database/record-json.ts';
import { apiKeys } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import { sendList } from '../http/list-response.ts';
import {
  done,
  identifier,
  integer,
  isoTimestampSchema,
  listQuery,
  nullable,
  successWith,
} from '../http/requests/schemas.ts';
import { audit } from '../users/audit.ts';

const Key = Type.Object({
  id: integer(),
  public_key: Type.String(),
  created_at: isoTimestampSchema(),
  revoked_at: nullable(isoTimestampSchema()),
});
const NewKey = Type.Object({ public_key: Type.String(), secret_key: Type.String() });

const tags = ['Keys'];

export const keyRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock }) => {
  const config = { role: 'owner' } as const;
  const forPeople = { ...config, isForPeople: true } as const;

  app.get(
    '/keys/list',
    {
      schema: {
        tags,
        summary: 'List the key pairs (addition)',
        querystring: listQuery,
        response: successWith({ keys: Type.Array(Key) }),
      },
      config,
    },
    (request, reply) => {
      const record = recordObject(Key, apiKeys);
      const where = ownedBy(apiKeys, request.accountId);
      sendList(reply, db, 'keys', { record, from: sql`${apiKeys}`, where, id: apiKeys.id }, request.query);
    },
  );

  app.post(
    '/keys/create',
    {
      schema: {
        tags,
        summary: 'Make a key pair (addition)',
        description: 'The secret is in this answer only.',
        response: successWith({ key: NewKey }),
      },
      config: forPeople,
    },
    async (request) => {
      const { accountId, actor } = request;
      const pair = db.transaction(
        () => {
          const made = createKeys(db, clock, accountId);
          audit(db, { accountId, actor, action: 'key_made', subject: made.publicKey }, clock.now());
          return made;
        },
        { behavior: 'immediate' },
      );
      const key = { public_key: pair.publicKey, secret_key: pair.secretKey };
      return { status: 'success' as const, message: { key } };
    },
  );

  app.delete(
    '/keys/delete',
    {
      schema: {
        tags,
        summary: 'Revoke a key pair (addition)',
        description: 'It stops working within a second.',
        querystring: Type.Object({ id: identifier('The key pair.') }),
        response: done,
      },
      config: forPeople,
    },
    async ({ query, accountId, actor }) => {
      db.transaction(
        (tx) => {
          const key = tx
            .select()
            .from(apiKeys)
            .where(ownedRecord(apiKeys, query.id, accountId))
            .get();
          if (key === undefined) throw notFound();
          if (revokeKeys(db, clock, key.public_key))
            audit(db, { accountId, actor, action: 'key_revoked', subject: key.public_key }, clock.now());
        },
        { behavior: 'immediate' },
      );
      return { status: 'success' as const, message: 'Revoked Successfully' };
    },
  );
};
