/** The person who calls (addition): their settings of the dashboard. A pair of keys belongs to no person, so it is answered 404. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { eq, sql } from 'drizzle-orm';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { readRecord, recordObject } from '../database/record-json.ts';
import { COLOUR_SCHEMES, users } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import { sendRecord } from '../http/list-response.ts';
import { LANGUAGE_CODES } from '../http/pages/languages.ts';
import { choice, done, flag, integer, line, successWith, zeroOrOne } from '../http/requests/schemas.ts';
import { changeOwnSettings } from '../users/own-settings.ts';
import { findUser, type User } from '../users/users.ts';

const Me = Type.Object({
  id: integer(),
  email: Type.String(),
  name: Type.String(),
  role: choice('owner', 'editor', 'viewer'),
  language: choice('browser', ...LANGUAGE_CODES),
  shortcuts: zeroOrOne(),
  colour_scheme: choice(...COLOUR_SCHEMES),
});

const SettingsBody = Type.Object({
  name: Type.Optional(line()),
  language: Type.Optional(choice('browser', ...LANGUAGE_CODES)),
  shortcuts: Type.Optional(flag('Whether single keys such as / do something in the dashboard.')),
  colour_scheme: Type.Optional(choice(...COLOUR_SCHEMES)),
});

const tags = ['Users and sessions'];

export const meRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock }) => {
  const requireMe = ({ accountId, actor }: FastifyRequest): User => {
    const me = findUser(db, accountId, actor.userId ?? 0);
    if (me === undefined) throw notFound();
    return me;
  };
  const record = recordObject(Me, users, {
    language: sql`CASE ${users.language} WHEN '' THEN 'browser' ELSE ${users.language} END`,
  });

  app.get(
    '/me/details',
    {
      schema: {
        tags,
        summary: 'Read who calls, and what they have set for themselves (addition)',
        description: 'Only for a person who is signed in: a pair of keys is answered 404.',
        response: successWith({ user: Me }),
      },
    },
    (request, reply) => {
      const json = readRecord(db, record, sql`${users}`, eq(users.id, requireMe(request).id));
      sendRecord(reply, 'user', json ?? '');
    },
  );

  app.post(
    '/me/update',
    {
      schema: {
        tags,
        summary: 'Change what the caller has set for themselves (addition)',
        description: 'Only for a person who is signed in: a pair of keys is answered 404.',
        body: SettingsBody,
        response: done,
      },
      // Everybody may do this for themselves.
      config: { role: 'viewer' },
    },
    async (request) => {
      db.transaction(() => changeOwnSettings(db, requireMe(request), request.body, request.actor, clock.now()), {
        behavior: 'immediate',
      });
      return { status: 'success' as const, message: 'Updated Successfully' };
    },
  );
};
