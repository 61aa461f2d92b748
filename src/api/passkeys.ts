/** The passkeys by which people sign in (addition). They are added on the page of one's own settings, which a browser has to open. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { recordId } from '../database/ownership.ts';
import { recordObject } from '../database/record-json.ts';
import { passkeys, users } from '../database/schema/index.ts';
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

const PasskeyRecord = Type.Object({
  id: integer(),
  user_id: integer(),
  email: Type.String(),
  name: Type.String(),
  created_at: isoTimestampSchema(),
  last_used_at: nullable(isoTimestampSchema()),
});

const tags = ['Users and sessions'];

export const passkeyRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock }) => {
  // Everybody may remove their own passkeys.
  const config = { role: 'viewer' } as const;
  const visibleTo = ({ accountId, role, actor }: FastifyRequest): SQL | undefined =>
    and(eq(users.account_id, accountId), role === 'owner' ? undefined : eq(users.id, actor.userId ?? 0));

  app.get(
    '/passkeys/list',
    {
      schema: {
        tags,
        summary: 'List the passkeys (addition)',
        description: 'Owners and key pairs see the passkeys of the whole account, others their own.',
        querystring: listQuery,
        response: successWith({ passkeys: Type.Array(PasskeyRecord) }),
      },
      config,
    },
    (request, reply) => {
      const record = recordObject(PasskeyRecord, passkeys, { email: sql`${users.email}` });
      const from = sql`${passkeys} CROSS JOIN ${users} ON ${users.id} = ${passkeys.user_id}`;
      sendList(reply, db, 'passkeys', { record, from, where: visibleTo(request), id: passkeys.id }, request.query);
    },
  );

  app.delete(
    '/passkeys/delete',
    {
      schema: {
        tags,
        summary: 'Remove a passkey (addition)',
        querystring: Type.Object({ id: identifier('The passkey.') }),
        response: done,
      },
      config: { ...config, isForPeople: true },
    },
    async (request) => {
      const { accountId, actor, query } = request;
      db.transaction(
        (tx) => {
          const found = tx
            .select({ id: passkeys.id, name: passkeys.name, email: users.email })
            .from(passkeys)
            .innerJoin(users, eq(users.id, passkeys.user_id))
            .where(and(eq(passkeys.id, recordId(query.id)), visibleTo(request)))
            .get();
          if (found === undefined) throw notFound();
          tx.delete(passkeys).where(eq(passkeys.id, found.id)).run();
          const subject = `${found.email}: ${found.name}`;
          audit(db, { accountId, actor, action: 'passkey_removed', subject }, clock.now());
        },
        { behavior: 'immediate' },
      );
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );
};
