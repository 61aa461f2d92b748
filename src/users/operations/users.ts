/**
 * Operations for the users of an account (additions to the contract). No operation takes a password: users choose their passwords
 * themselves, on the page that a one-time link opens.
 */
import { eq, sql } from 'drizzle-orm';
import Type from 'typebox';
import { parseAddress } from '../../audience/contacts/addresses.ts';
import { recordObject } from '../../database/record-json.ts';
import { users } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { invalid, notFound } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import {
  choice,
  email as emailSchema,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  listQuery,
  nullable,
  said,
  stamps,
  zeroOrOne,
} from '../../http/requests/schemas.ts';
import { LANGUAGE_CODES } from '../../languages.ts';
import { type Context, listOperation, operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { DAY_MS } from '../../units.ts';
import { createLoginLink, loginLinkPath } from '../login-links.ts';
import { addUser, changeUser, findUser, findUserByEmail, removeUser, type User } from '../users.ts';
import { INVITATION_DAYS, mailInvitation } from './invitation.ts';

const Role = choice('owner', 'editor', 'viewer');
const ListedUser = Type.Object({
  id: integer(),
  email: Type.String(),
  name: Type.String(),
  role: Role,
  has_password: zeroOrOne('1: the user has chosen a password; 0: the user is invited.'),
  has_second_factor: zeroOrOne('1: the user signs in with a code in addition to the password.'),
  passkeys: integer({ description: 'Number of passkeys.' }),
  last_seen_at: nullable(
    isoTimestampSchema(),
    'When the user last made a request, UTC, accurate to five minutes; null: the user has no session.',
  ),
  ...stamps,
});
const ById = { id: identifier('The user.') };
const Link = {
  link: Type.String({ description: 'URL of the page on which the user chooses a password. The link works once.' }),
  expires_at: isoTimestampSchema('When the link stops working, UTC.'),
};

const record = recordObject(ListedUser, users, {
  has_password: sql`${users.password_hash} IS NOT NULL`,
  has_second_factor: sql`${users.totp_secret} IS NOT NULL`,
  passkeys: sql`(SELECT count(*) FROM passkeys WHERE user_id = ${users.id})`,
  last_seen_at: sql`(SELECT max(last_seen_at) FROM sessions WHERE user_id = ${users.id})`,
});

export const listUsers = listOperation({
  name: 'List the users (addition)',
  role: 'owner',
  isReading: true,
  input: listQuery,
  as: 'users',
  record: ListedUser,
  select: ({ accountId }, part) => ({
    record,
    from: sql`${users}`,
    where: eq(users.account_id, accountId),
    id: users.id,
    part,
  }),
});

export const inviteUser = operation({
  name: 'Add a user and mail them the link by which they choose a password (addition)',
  description: `The link works for ${INVITATION_DAYS} days. The e-mail is sent at once, from the first sender that may send, over its SMTP server.`,
  role: 'owner',
  isForUsers: true,
  input: Type.Object({
    email: emailSchema(),
    name: Type.Optional(line()),
    role: Role,
    language: Type.Optional({
      ...choice(...LANGUAGE_CODES),
      description: 'The language of the e-mail; en by default.',
    }),
  }),
  output: Type.Object({
    id: integer(),
    ...Link,
    not_mailed: nullable(
      said(),
      'Why the link could not be mailed and has to be passed on by hand; null: the SMTP server accepted the e-mail.',
    ),
  }),
  async run(context, { email, name = '', role, language = 'en' }) {
    const { db, clock, accountId, actor } = context;
    const address = parseAddress(email);
    if (address === null) throw new Error('an invalid address passed the schema');
    const invited = inTransaction(db, () => {
      if (findUserByEmail(db, address) !== undefined) throw invalid('email', messages.taken('email'));
      const user = addUser(db, { accountId, address, name, role, passwordHash: null }, actor, clock.now());
      return { id: user.id, ...makeLink(context, user, INVITATION_DAYS * DAY_MS) };
    });
    return { ...invited, not_mailed: await mailInvitation(context, { address, link: invited.link, language }) };
  },
});

export const makeLoginLink = operation({
  name: 'Make a link by which a user chooses a new password (addition)',
  description: "Earlier links for the same user stop working. Choosing the password ends the user's sessions.",
  role: 'owner',
  isForUsers: true,
  input: Type.Object(ById),
  output: Type.Object(Link),
  run: (context, { id }) => makeLink(context, requireUser(context, id)),
});

export const updateUser = operation({
  name: 'Change the name or role of a user (addition)',
  role: 'owner',
  isForUsers: true,
  input: Type.Object({ ...ById, name: Type.Optional(line()), role: Type.Optional(Role) }),
  run(context, { id, ...fields }) {
    const { db, clock, actor } = context;
    inTransaction(db, () => {
      const user = requireUser(context, id);
      const { name = user.name, role = user.role } = fields;
      changeUser(db, user, { name, role }, actor, clock.now());
    });
  },
});

export const deleteUser = operation({
  name: 'Remove a user (addition)',
  role: 'owner',
  isForUsers: true,
  input: Type.Object(ById),
  run(context, { id }) {
    const { db, clock, actor } = context;
    inTransaction(db, () => removeUser(db, requireUser(context, id), actor, clock.now()));
  },
});

function requireUser({ db, accountId }: Context, id: unknown): User {
  const user = findUser(db, accountId, id);
  if (user === undefined) throw notFound();
  return user;
}

/** Makes a login link for a user. The link works for `lastsMs` milliseconds, 30 minutes by default. */
function makeLink({ db, clock, accountId, actor, publicUrl }: Context, user: User, lastsMs?: number) {
  const options = { accountId, user, ...(lastsMs !== undefined && { lastsMs }) };
  const { secret, expiresAt } = createLoginLink(db, options, actor, clock.now());
  return { link: `${publicUrl()}${loginLinkPath(secret)}`, expires_at: isoTimestamp(expiresAt) };
}
