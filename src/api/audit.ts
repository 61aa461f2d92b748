/** The audit log of an account (addition): who signed in, who failed to, who changed users, keys and settings, and who erased people. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { eq, sql } from 'drizzle-orm';
import Type from 'typebox';
import { recordObject } from '../database/record-json.ts';
import { auditLog } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { sendList } from '../http/list-response.ts';
import {
  choice,
  eitherOrderQuery,
  integer,
  isoTimestampSchema,
  nullable,
  successWith,
} from '../http/requests/schemas.ts';
import { AUDIT_ACTIONS } from '../users/audit.ts';

const Entry = Type.Object({
  id: integer(),
  user_id: nullable(integer()),
  actor: Type.String(),
  action: choice(...AUDIT_ACTIONS),
  subject: Type.String(),
  address: Type.String(),
  times: integer(),
  created_at: isoTimestampSchema(),
});

const tags = ['Audit log'];

export const auditRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db }) => {
  const record = recordObject(Entry, auditLog);
  const from = sql`${auditLog}`;

  app.get(
    '/audit/list',
    {
      schema: {
        tags,
        summary: 'List who signed in, who changed users, keys, settings and senders, and who erased people (addition)',
        querystring: eitherOrderQuery,
        response: successWith({ audit: Type.Array(Entry) }),
      },
      config: { role: 'owner' },
    },
    (request, reply) => {
      const where = eq(auditLog.account_id, request.accountId);
      sendList(reply, db, 'audit', { record, from, where, id: auditLog.id }, request.query);
    },
  );
};
