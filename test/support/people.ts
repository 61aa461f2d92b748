/** People who are signed in, for tests: made without the cost of hashing their password. */
import { parseAddress } from '../../src/audience/contacts/addresses.ts';
import type { Role } from '../../src/database/schema/index.ts';
import { COMMAND_LINE } from '../../src/users/audit.ts';
import { createSession } from '../../src/users/sessions.ts';
import { addUser, type User } from '../../src/users/users.ts';
import { type Caller, callerWith, type TestApp } from './app.ts';
import { cheapHash } from './cheap-passwords.ts';

/** What a page of the dashboard sends with a request to the API, beside the cookie. */
export const FROM_PAGE = { 'x-sendlark': 'dashboard', 'sec-fetch-site': 'same-origin' };

/** Everybody's password. */
export const PASSWORD = 'correct horse battery';
const PASSWORD_HASH = cheapHash(PASSWORD);

/** Adds a user whose password is `PASSWORD`. */
export function addPerson(app: TestApp, role: Role = 'owner', { name = '', email = '', accountId = 1 } = {}): User {
  const address = parseAddress(email || `${(name || role).toLowerCase()}@example.org`);
  if (address === null) throw new Error(`no address for ${name || role}`);
  const given = { accountId, address, name: name || role, role, passwordHash: PASSWORD_HASH };
  return addUser(app.drizzle, given, COMMAND_LINE, app.clock.now());
}

/** The Cookie header of a new session. */
export function cookieOf(app: TestApp, user: User, userAgent = 'Test'): string {
  return `sendlark=${createSession(app.drizzle, user.id, { address: '127.0.0.1', userAgent }, app.clock.now())}`;
}

/** Calls the API as a page of the dashboard does for this user. */
export function callerOf(app: TestApp, user: User): Caller {
  return callerWith(app.fastify, '/api', { ...FROM_PAGE, cookie: cookieOf(app, user) });
}
