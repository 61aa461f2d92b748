/**
 * One-time links for choosing a password: for the first owner of an account, for an invited user, or for a user who forgot the password.
 */
import { and, eq, gt, isNull, lte, or } from 'drizzle-orm';
import type { Address } from '../audience/contacts/addresses.ts';
import type { Db } from '../database/open.ts';
import { loginLinks, passkeys, users } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { sentence } from '../errors/sentences.ts';
import { isoTimestamp } from '../time/clock.ts';
import { MINUTE_MS } from '../units.ts';
import { type Actor, audit } from './audit.ts';
import { switchOffSecondFactor } from './second-factor.ts';
import { hashSecret, newSecret } from './secrets.ts';
import { endSessionsOf } from './sessions.ts';
import { addUser, hasOwner, type User } from './users.ts';

const DEFAULT_LINK_MS = 30 * MINUTE_MS;

export interface NewLink {
  accountId: number;
  /** Null: the link creates the first owner of the account. */
  user: User | null;
  /** True if using the link also switches two-factor authentication off and removes the user's passkeys. */
  resetsSecondFactor?: boolean;
  /** How long the link works, in milliseconds; 30 minutes by default. */
  lastsMs?: number;
}

/** The account and user of a valid link. */
export interface LoginLink {
  id: number;
  accountId: number;
  user: User | null;
  resetsSecondFactor: boolean;
}

/** Creates a link that can be used once, and returns its secret and expiry. Earlier links for the same user stop working. */
export function createLoginLink(
  db: Db,
  { accountId, user, resetsSecondFactor = false, lastsMs = DEFAULT_LINK_MS }: NewLink,
  actor: Actor,
  now: Date,
): { secret: string; expiresAt: Date } {
  const secret = newSecret();
  const expiresAt = new Date(now.getTime() + lastsMs);
  const isForSameUser = user === null ? isNull(loginLinks.user_id) : eq(loginLinks.user_id, user.id);
  inTransaction(db, (tx) => {
    tx.delete(loginLinks)
      .where(
        or(and(eq(loginLinks.account_id, accountId), isForSameUser), lte(loginLinks.expires_at, isoTimestamp(now))),
      )
      .run();
    tx.insert(loginLinks)
      .values({
        account_id: accountId,
        user_id: user?.id ?? null,
        token_hash: hashSecret(secret),
        resets_second_factor: resetsSecondFactor ? 1 : 0,
        created_at: isoTimestamp(now),
        expires_at: isoTimestamp(expiresAt),
      })
      .run();
    const subject = user?.email ?? sentence('subject_first_owner');
    audit(db, { accountId, actor, action: 'login_link_made', subject }, now);
  });
  return { secret, expiresAt };
}

/** Returns the path of the page for a link. The secret is in the fragment, which browsers do not send, so that no log can contain it. */
export function loginLinkPath(secret: string): string {
  return `/welcome#${secret}`;
}

/**
 * Returns the account and user of a link; null if the link is unknown, used or expired. A link for the first owner also stops
 * working when the account gets an owner in another way.
 */
export function findLoginLink(db: Db, secret: string, now: Date): LoginLink | null {
  const row = db
    .select({ link: loginLinks, user: users })
    .from(loginLinks)
    .leftJoin(users, eq(users.id, loginLinks.user_id))
    .where(
      and(
        eq(loginLinks.token_hash, hashSecret(secret)),
        isNull(loginLinks.used_at),
        gt(loginLinks.expires_at, isoTimestamp(now)),
      ),
    )
    .get();
  if (row === undefined) return null;
  const { link, user } = row;
  if (link.user_id === null && hasOwner(db, link.account_id)) return null;
  return { id: link.id, accountId: link.account_id, user, resetsSecondFactor: link.resets_second_factor === 1 };
}

/** What the user of a link typed on its page. */
interface Choice {
  /** The e-mail address of the first owner. Other users keep their address. */
  address: Address;
  name: string;
  passwordHash: string;
}

/**
 * Uses a link once: creates the first owner, or sets the user's new password and ends the user's sessions. Returns the user, or
 * null if the link was used meanwhile. `address` is the network address of the caller.
 */
export function useLoginLink(db: Db, secret: string, choice: Choice, address: string, now: Date): User | null {
  return inTransaction(db, (tx) => {
    const link = findLoginLink(db, secret, now);
    if (link === null) return null;
    const stamp = isoTimestamp(now);
    tx.update(loginLinks).set({ used_at: stamp }).where(eq(loginLinks.id, link.id)).run();
    const asActor = (user: User): Actor => ({ userId: user.id, name: user.email, address });
    const { accountId, resetsSecondFactor } = link;
    if (link.user === null) {
      const newcomer: Actor = { userId: null, name: choice.address.address, address };
      const user = addUser(db, { accountId, ...choice, role: 'owner' }, newcomer, now);
      audit(db, { accountId, actor: asActor(user), action: 'login_link_used' }, now);
      return user;
    }
    endSessionsOf(db, link.user.id);
    if (resetsSecondFactor) resetSecondFactor(db, link.user, asActor(link.user), now);
    const user = tx
      .update(users)
      .set({ name: choice.name, password_hash: choice.passwordHash, updated_at: stamp })
      .where(eq(users.id, link.user.id))
      .returning()
      .get();
    audit(db, { accountId, actor: asActor(user), action: 'login_link_used' }, now);
    return user;
  });
}

/** Switches a user's two-factor authentication off and removes the user's passkeys. Call inside a transaction. */
function resetSecondFactor(db: Db, user: User, actor: Actor, now: Date): void {
  const accountId = user.account_id;
  if (user.totp_secret !== null) switchOffSecondFactor(db, user, actor, now);
  const removed = db.delete(passkeys).where(eq(passkeys.user_id, user.id)).returning({ name: passkeys.name }).all();
  for (const { name } of removed)
    audit(db, { accountId, actor, action: 'passkey_removed', subject: `${user.email}: ${name}` }, now);
}
