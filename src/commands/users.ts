/** `sendlark users`: manages the users of the dashboard from scripts, because no key pair may add or change users. */
import { asc } from 'drizzle-orm';
import { parseAddress } from '../audience/contacts/addresses.ts';
import type { Db } from '../database/open.ts';
import { ROLES, type Role, users as usersTable } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { systemClock } from '../time/clock.ts';
import { COMMAND_LINE } from '../users/audit.ts';
import { addUser, changeUser, findUserByEmail, removeUser, type User } from '../users/users.ts';
import { type Call, type Command, choose, requireNumber, requireWords, UsageError } from './command.ts';
import { requireAccount, withDatabase } from './database.ts';

export const users: Command = {
  forms: ['users add EMAIL ROLE [--account N]', 'users list', 'users role EMAIL ROLE', 'users remove EMAIL'],
  about: 'Add, list, change or remove the people who sign in.',
  help: `A role is owner, editor or viewer. A user belongs to one account (1 unless --account says otherwise) and has no password until they
follow a link: sendlark login-link --user EMAIL, which also resets a lost second factor (--without-second-factor). A new role and a removal
work at once, also while the service runs. The last owner of an account who can sign in cannot be removed.`,
  options: { account: { type: 'string' } },
  run: (call) => choose(call, { add, list, role: changeRole, remove }),
};

async function add(call: Call): Promise<void> {
  const [email = '', word = ''] = requireWords(call, 'EMAIL', 'ROLE');
  const role = requireRole(word);
  const accountId = requireNumber(call.option('account') ?? '1', '--account');
  const address = parseAddress(email);
  if (address === null) throw new UsageError(`${email} is no e-mail address`);
  const user = await write((db) => {
    requireAccount(db, accountId);
    if (findUserByEmail(db, address) !== undefined) throw new Error(`There is a user ${email} already`);
    return addUser(db, { accountId, address, name: '', role, passwordHash: null }, COMMAND_LINE, systemClock.now());
  });
  call.answer(userRecord(user), [
    `Added: ${lineOf(user)}`,
    `A link to sign in: sendlark login-link --user ${user.email}`,
  ]);
}

async function list(call: Call): Promise<void> {
  requireWords(call);
  const rows = await withDatabase((db) =>
    db.select().from(usersTable).orderBy(asc(usersTable.account_id), asc(usersTable.id)).all(),
  );
  call.answer(
    rows.map(userRecord),
    rows.map(lineOf),
    'There are no users; for a link to the first: sendlark login-link',
  );
}

async function changeRole(call: Call): Promise<void> {
  const [email = '', word = ''] = requireWords(call, 'EMAIL', 'ROLE');
  const role = requireRole(word);
  const user = await write((db) => {
    const found = requireUser(db, email);
    changeUser(db, found, { name: found.name, role }, COMMAND_LINE, systemClock.now());
    return { ...found, role };
  });
  call.answer(userRecord(user), [`Changed: ${lineOf(user)}`]);
}

async function remove(call: Call): Promise<void> {
  const [email = ''] = requireWords(call, 'EMAIL');
  const user = await write((db) => {
    const found = requireUser(db, email);
    removeUser(db, found, COMMAND_LINE, systemClock.now());
    return found;
  });
  call.answer({ removed: user.email }, [`Removed: ${user.email}`]);
}

function write(work: (db: Db) => User): Promise<User> {
  return withDatabase((db) => inTransaction(db, () => work(db)));
}

function requireRole(word: string): Role {
  const role = ROLES.find((known) => known === word);
  if (role === undefined) throw new UsageError(`${word} is no role: ${ROLES.join(', ')}`);
  return role;
}

function requireUser(db: Db, email: string): User {
  const address = parseAddress(email);
  const user = address === null ? undefined : findUserByEmail(db, address);
  if (user === undefined) throw new Error(`There is no user ${email}; see: sendlark users list`);
  return user;
}

function userRecord({ id, account_id: account, email, role }: User) {
  return { id, account, email, role };
}

function lineOf({ account_id, email, role }: User): string {
  return `${email}  ${role}  account ${account_id}`;
}
