/** The people who sign in to an account (addition). Passwords are chosen by the person, by a one-time link; no endpoint takes one. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { eq, sql } from 'drizzle-orm';
import Type from 'typebox';
import { parseAddress } from '../audience/contacts/addresses.ts';
import { isoTimestamp } from '../clock.ts';
import { recordObject } from '../database/record-json.ts';
import { users } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { invalid, notFound } from '../failure.ts';
import { messages } from '../field-errors.ts';
import { sendList } from '../http/list-response.ts';
import {
  choice,
  done,
  email,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  listQuery,
  nullable,
  stamps,
  successWith,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import { createLoginLink, loginLinkPath } from '../users/login-links.ts';
import { addUser, changeUser, findUser, findUserByEmail, removeUser, type User } from '../users/users.ts';

const Role = choice('owner', 'editor', 'viewer');

const UserRecord = Type.Object({
  id: integer(),
  email: Type.String(),
  name: Type.String(),
  role: Role,
  has_password: zeroOrOne(),
  has_second_factor: zeroOrOne(),
  passkeys: integer(),
  last_seen_at: nullable(isoTimestampSchema()),
  ...stamps,
});

const InviteBody = Type.Object({ email: email(), name: Type.Optional(line()), role: Role });
const UpdateBody = Type.Object({ id: identifier('The user.'), name: Type.Optional(line()), role: Type.Optional(Role) });
const ById = Type.Object({ id: identifier('The user.') });
const Link = { link: Type.String(), expires_at: isoTimestampSchema() };

const tags = ['Users and sessions'];

export const userRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock, publicUrl }) => {
  const config = { role: 'owner' } as const;
  const forPeople = { ...config, isForPeople: true } as const;
  const record = recordObject(UserRecord, users, {
    has_password: sql`${users.password_hash} IS NOT NULL`,
    has_second_factor: sql`${users.totp_secret} IS NOT NULL`,
    passkeys: sql`(SELECT count(*) FROM passkeys WHERE user_id = ${users.id})`,
    last_seen_at: sql`(SELECT max(last_seen_at) FROM sessions WHERE user_id = ${users.id})`,
  });
  const requireUser = (accountId: number, id: unknown): User => {
    const user = findUser(db, accountId, id);
    if (user === undefined) throw notFound();
    return user;
  };
  const linkFor = (secret: string, expiresAt: Date) => ({
    link: `${publicUrl()}${loginLinkPath(secret)}`,
    expires_at: isoTimestamp(expiresAt),
  });

  app.get(
    '/users/list',
    {
      schema: {
        tags,
        summary: 'List the users (addition)',
        querystring: listQuery,
        response: successWith({ users: Type.Array(UserRecord) }),
      },
      config,
    },
    (request, reply) => {
      const where = eq(users.account_id, request.accountId);
      sendList(reply, db, 'users', { record, from: sql`${users}`, where, id: users.id }, request.query);
    },
  );

  app.post(
    '/users/invite',
    {
      schema: {
        tags,
        summary: 'Add a user and make the link by which they choose a password (addition)',
        body: InviteBody,
        response: successWith({ id: integer(), ...Link }),
      },
      config: forPeople,
    },
    async ({ body, accountId, actor }) => {
      const address = parseAddress(body.email);
      if (address === null) throw new Error('an invalid address passed the schema');
      const now = clock.now();
      const message = db.transaction(
        () => {
          if (findUserByEmail(db, address) !== undefined) throw invalid('email', messages.taken('email'));
          const { name = '', role } = body;
          const user = addUser(db, { accountId, address, name, role, passwordHash: null }, actor, now);
          const { secret, expiresAt } = createLoginLink(db, { accountId, user }, actor, now);
          return { id: user.id, ...linkFor(secret, expiresAt) };
        },
        { behavior: 'immediate' },
      );
      return { status: 'success' as const, message };
    },
  );

  app.post(
    '/users/link',
    {
      schema: {
        tags,
        summary: 'Make a link by which a user chooses a new password (addition)',
        description: 'Earlier links for the same person stop working. Following it ends their sessions.',
        body: ById,
        response: successWith(Link),
      },
      config: forPeople,
    },
    async ({ body, accountId, actor }) => {
      const user = requireUser(accountId, body.id);
      const { secret, expiresAt } = createLoginLink(db, { accountId, user }, actor, clock.now());
      return { status: 'success' as const, message: linkFor(secret, expiresAt) };
    },
  );

  app.post(
    '/users/update',
    {
      schema: { tags, summary: 'Change the name or role of a user (addition)', body: UpdateBody, response: done },
      config: forPeople,
    },
    async ({ body, accountId, actor }) => {
      db.transaction(
        () => {
          const user = requireUser(accountId, body.id);
          const { name = user.name, role = user.role } = body;
          changeUser(db, user, { name, role }, actor, clock.now());
        },
        { behavior: 'immediate' },
      );
      return { status: 'success' as const, message: 'Updated Successfully' };
    },
  );

  app.delete(
    '/users/delete',
    { schema: { tags, summary: 'Remove a user (addition)', querystring: ById, response: done }, config: forPeople },
    async ({ query, accountId, actor }) => {
      db.transaction(() => removeUser(db, requireUser(accountId, query.id), actor, clock.now()), {
        behavior: 'immediate',
      });
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );
};
