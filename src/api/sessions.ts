/** The sessions of the people who signed in (addition). Owners and programs see those of the whole account, others their own. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { recordId } from '../database/ownership.ts';
import { recordObject } from '../database/record-json.ts';
import { sessions, users } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import { sendList } from '../http/list-response.ts';
import {
  done,
  identifier,
  integer,
  isoTimestampSchema,
  listQuery,
  successWith,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import { audit } from '../users/audit.ts';
import { endSession, isAlive } from '../users/sessions.ts';

const SessionRecord = Type.Object({
  id: integer(),
  user_id: integer(),
  email: Type.String(),
  address: Type.String(),
  user_agent: Type.String(),
  is_current: zeroOrOne(),
  created_at: isoTimestampSchema(),
  last_seen_at: isoTimestampSchema(),
});

const tags = ['Users and sessions'];

export const sessionRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock }) => {
  // Everybody may end their own sessions.
  const config = { role: 'viewer' } as const;
  const visibleTo = ({ accountId, role, actor }: FastifyRequest): SQL | undefined =>
    and(
      eq(users.account_id, accountId),
      isAlive(clock.now()),
      role === 'owner' ? undefined : eq(users.id, actor.userId ?? 0),
    );

  app.get(
    '/sessions/list',
    {
      schema: {
        tags,
        summary: 'List the sessions (addition)',
        description: 'Owners and key pairs see the sessions of the whole account, others their own.',
        querystring: listQuery,
        response: successWith({ sessions: Type.Array(SessionRecord) }),
      },
      config,
    },
    (request, reply) => {
      const record = recordObject(SessionRecord, sessions, {
        email: sql`${users.email}`,
        is_current: sql`${sessions.id} = ${request.sessionId ?? 0}`,
      });
      const from = sql`${sessions} CROSS JOIN ${users} ON ${users.id} = ${sessions.user_id}`;
      sendList(reply, db, 'sessions', { record, from, where: visibleTo(request), id: sessions.id }, request.query);
    },
  );

  app.delete(
    '/sessions/delete',
    {
      schema: {
        tags,
        summary: 'End a session (addition)',
        querystring: Type.Object({ id: identifier('The session.') }),
        response: done,
      },
      config: { ...config, isForPeople: true },
    },
    async (request) => {
      const { accountId, actor, query } = request;
      db.transaction(
        (tx) => {
          const found = tx
            .select({ id: sessions.id, email: users.email })
            .from(sessions)
            .innerJoin(users, eq(users.id, sessions.user_id))
            .where(and(eq(sessions.id, recordId(query.id)), visibleTo(request)))
            .get();
          if (found === undefined) throw notFound();
          endSession(db, found.id);
          audit(db, { accountId, actor, action: 'session_ended', subject: found.email }, clock.now());
        },
        { behavior: 'immediate' },
      );
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );
};
