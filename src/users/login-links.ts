/** One-time links by which a person chooses a password: the first owner of an account, somebody invited, or who forgot theirs. */
import { and, eq, gt, isNull, lte, or } from 'drizzle-orm';
import type { Address } from '../audience/contacts/addresses.ts';
import type { Db } from '../database/open.ts';
import { loginLinks, passkeys, users } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { sentence } from '../errors/sentences.ts';
import { isoTimestamp } from '../time/clock.ts';
import { type Actor, audit } from './audit.ts';
import { switchOffSecondFactor } from './second-factor.ts';
import { hashSecret, newSecret } from './secrets.ts';
import { endSessionsOf } from './sessions.ts';
import { addUser, hasOwner, type User } from './users.ts';

const LINK_MS = 30 * 60_000;

export interface NewLink {
  accountId: number;
  /** Null: the link makes the first owner of the account. */
  user: User | null;
  /** Whether following the link also switches the person's second factor off and removes their passkeys. */
  resetsSecondFactor?: boolean;
}

/** What a usable link is for. */
export interface LoginLink {
  id: number;
  accountId: number;
  user: User | null;
  resetsSecondFactor: boolean;
}

/** Makes a link that can be used once within 30 minutes and gives its secret. Earlier links for the same person stop working. */
export function createLoginLink(
  db: Db,
  { accountId, user, resetsSecondFactor = false }: NewLink,
  actor: Actor,
  now: Date,
): { secret: string; expiresAt: Date } {
  const secret = newSecret();
  const expiresAt = new Date(now.getTime() + LINK_MS);
  const samePerson = user === null ? isNull(loginLinks.user_id) : eq(loginLinks.user_id, user.id);
  inTransaction(db, (tx) => {
    tx.delete(loginLinks)
      .where(or(and(eq(loginLinks.account_id, accountId), samePerson), lte(loginLinks.expires_at, isoTimestamp(now))))
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

/** The path of the page for a link. The secret is in the fragment, which browsers do not send, so that no log can hold it. */
export function loginLinkPath(secret: string): string {
  return `/welcome#${secret}`;
}

/**
 * What a link is for, or null when it is unknown, used or too old. A link for the first owner also ends when somebody became owner in
 * another way.
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

/** What a person chose on the page of a link. An invited person keeps the address they were invited with. */
export interface Choice {
  address: Address;
  name: string;
  passwordHash: string;
}

/**
 * Uses a link, once: makes the first owner, or gives the user a new password and ends their sessions. Gives the user, or null when the
 * link was used up in the meantime. `address` is the network address of the caller.
 */
export function useLoginLink(db: Db, secret: string, choice: Choice, address: string, now: Date): User | null {
  return inTransaction(db, (tx) => {
    const link = findLoginLink(db, secret, now);
    if (link === null) return null;
    const stamp = isoTimestamp(now);
    tx.update(loginLinks).set({ used_at: stamp }).where(eq(loginLinks.id, link.id)).run();
    const actor = (user: User): Actor => ({ userId: user.id, name: user.email, address });
    const { accountId, resetsSecondFactor } = link;
    if (link.user === null) {
      const nobody: Actor = { userId: null, name: choice.address.address, address };
      const user = addUser(db, { accountId, ...choice, role: 'owner' }, nobody, now);
      audit(db, { accountId, actor: actor(user), action: 'login_link_used' }, now);
      return user;
    }
    endSessionsOf(db, link.user.id);
    if (resetsSecondFactor) takeOffSecondFactor(db, link.user, actor(link.user), now);
    const user = tx
      .update(users)
      .set({ name: choice.name, password_hash: choice.passwordHash, updated_at: stamp })
      .where(eq(users.id, link.user.id))
      .returning()
      .get();
    audit(db, { accountId, actor: actor(user), action: 'login_link_used' }, now);
    return user;
  });
}

/** Switches the second factor of a user off and removes their passkeys. To be called within a transaction. */
function takeOffSecondFactor(db: Db, user: User, actor: Actor, now: Date): void {
  const accountId = user.account_id;
  if (user.totp_secret !== null) switchOffSecondFactor(db, user, actor, now);
  const removed = db.delete(passkeys).where(eq(passkeys.user_id, user.id)).returning({ name: passkeys.name }).all();
  for (const { name } of removed)
    audit(db, { accountId, actor, action: 'passkey_removed', subject: `${user.email}: ${name}` }, now);
}
