/** `sendlark login-link`: creates a one-time link for choosing a password, without sending mail. */
import { asc, eq } from 'drizzle-orm';
import { parseAddress } from '../audience/contacts/addresses.ts';
import type { Db } from '../database/open.ts';
import { users } from '../database/schema/index.ts';
import { findPublicUrl } from '../delivery/links/public-url.ts';
import { localOrigin } from '../http/local-origin.ts';
import { isoTimestamp, systemClock } from '../time/clock.ts';
import { COMMAND_LINE } from '../users/audit.ts';
import { createLoginLink, loginLinkPath, type NewLink } from '../users/login-links.ts';
import { findUserByEmail } from '../users/users.ts';
import { type Command, requireNumber, requireWords, UsageError } from './command.ts';
import { requireAccount, withDatabase } from './database.ts';

export const loginLink: Command = {
  forms: ['login-link', 'login-link --user EMAIL [--without-second-factor]', 'login-link --account N'],
  about: 'Make a link to sign in to the dashboard.',
  help: `Whoever opens the link within 30 minutes chooses a name and a password; the link works once. Without --user it is for the only user of
account 1 (or of --account N), or makes the first owner if the account has no user. The new password of a user ends their sessions; a second factor
and passkeys stay, unless --without-second-factor removes them for somebody who has lost them. A new link ends earlier links for the same person.`,
  options: {
    user: { type: 'string' },
    account: { type: 'string' },
    'without-second-factor': { type: 'boolean' },
  },
  async run(call) {
    requireWords(call);
    const email = call.option('user');
    const account = call.option('account');
    if (email !== undefined && account !== undefined) throw new UsageError('Give either --user EMAIL or --account N');
    const accountId = requireNumber(account ?? '1', '--account');
    const resetsSecondFactor = call.flag('without-second-factor');
    if (resetsSecondFactor && email === undefined) throw new UsageError('--without-second-factor needs --user EMAIL');
    const { url, expiresAt, person } = await withDatabase((db, config) => {
      const target = email === undefined ? onlyUser(db, accountId) : requireUser(db, email);
      const link = createLoginLink(db, { ...target, resetsSecondFactor }, COMMAND_LINE, systemClock.now());
      const origin = findPublicUrl(db.$client, config).url || localOrigin(config.HOST, config.PORT);
      return {
        url: origin + loginLinkPath(link.secret),
        expiresAt: link.expiresAt,
        person: target.user?.email ?? null,
      };
    });
    call.answer({ link: url, user: person, expires_at: isoTimestamp(expiresAt) }, [
      `For ${person ?? 'the first owner'}, once, within 30 minutes:`,
      url,
    ]);
  },
};

function requireUser(db: Db, email: string): NewLink {
  const address = parseAddress(email);
  const user = address === null ? undefined : findUserByEmail(db, address);
  if (user === undefined) throw new Error(`There is no user ${email}`);
  return { accountId: user.account_id, user };
}

/**
 * Returns the account's only user. If the account has no user, `user` is null, and the link creates its first owner. Throws if the account
 * does not exist or has several users.
 */
function onlyUser(db: Db, accountId: number): NewLink {
  requireAccount(db, accountId);
  const [user, another] = db
    .select()
    .from(users)
    .where(eq(users.account_id, accountId))
    .orderBy(asc(users.id))
    .limit(2)
    .all();
  if (another !== undefined) throw new Error(`Account ${accountId} has several users: say which with --user EMAIL`);
  return { accountId, user: user ?? null };
}
