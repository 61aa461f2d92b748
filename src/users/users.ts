/** Users: the people who sign in to an account. An account always keeps an owner who can sign in. */
import { and, eq, isNotNull, ne } from 'drizzle-orm';
import type { Address } from '../audience/contacts/addresses.ts';
import type { Db } from '../database/open.ts';
import { recordId } from '../database/ownership.ts';
import { type Role, users } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { conflict } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';
import { isoTimestamp } from '../time/clock.ts';
import { type Actor, audit } from './audit.ts';
import { hashPassword } from './passwords.ts';
import { endSessionsOf } from './sessions.ts';

export type User = typeof users.$inferSelect;

export interface NewUser {
  accountId: number;
  address: Address;
  name: string;
  role: Role;
  /** Null for an invited user who has not chosen a password yet. */
  passwordHash: string | null;
}

/** Adds a user. Call inside a transaction, after checking that no user has the address. */
export function addUser(db: Db, fields: NewUser, actor: Actor, now: Date): User {
  const stamp = isoTimestamp(now);
  const user = db
    .insert(users)
    .values({
      account_id: fields.accountId,
      email: fields.address.address,
      normalized_email: fields.address.normalized,
      name: fields.name,
      role: fields.role,
      password_hash: fields.passwordHash,
      created_at: stamp,
      updated_at: stamp,
    })
    .returning()
    .get();
  audit(db, { accountId: fields.accountId, actor, action: 'user_added', subject: `${user.email}: ${user.role}` }, now);
  return user;
}

/** Returns the user with this e-mail address in any spelling, or undefined. */
export function findUserByEmail(db: Db, address: Address): User | undefined {
  return db.select().from(users).where(eq(users.normalized_email, address.normalized)).get();
}

/** Returns the user with this identifier in an account, or undefined. */
export function findUser(db: Db, accountId: number, id: unknown): User | undefined {
  return db
    .select()
    .from(users)
    .where(and(eq(users.id, recordId(id)), eq(users.account_id, accountId)))
    .get();
}

/** Returns true if the account has an owner who can sign in, other than the user `exceptId`. */
export function hasOwner(db: Db, accountId: number, exceptId = 0): boolean {
  const isOwner = and(eq(users.account_id, accountId), eq(users.role, 'owner'), isNotNull(users.password_hash));
  return (
    db
      .select({ id: users.id })
      .from(users)
      .where(and(isOwner, ne(users.id, exceptId)))
      .limit(1)
      .get() !== undefined
  );
}

/** Changes a user's name and role. Call inside a transaction. Throws 409 if the account would lose its last owner. */
export function changeUser(db: Db, user: User, fields: { name: string; role: Role }, actor: Actor, now: Date): void {
  if (fields.role !== 'owner') requireOtherOwner(db, user);
  db.update(users)
    .set({ ...fields, updated_at: isoTimestamp(now) })
    .where(eq(users.id, user.id))
    .run();
  const subject = user.role === fields.role ? user.email : `${user.email}: ${user.role} → ${fields.role}`;
  audit(db, { accountId: user.account_id, actor, action: 'user_changed', subject }, now);
}

/**
 * Stores a new password and ends all sessions of the user. The caller has checked the old and the new password. Returns false, and changes
 * nothing, if `user` no longer has the stored password: a login link may have replaced it meanwhile.
 */
export async function changePassword(db: Db, user: User, password: string, actor: Actor, now: Date): Promise<boolean> {
  const passwordHash = await hashPassword(password);
  return inTransaction(db, (tx) => {
    const { changes } = tx
      .update(users)
      .set({ password_hash: passwordHash, updated_at: isoTimestamp(now) })
      .where(and(eq(users.id, user.id), eq(users.password_hash, user.password_hash ?? '')))
      .run();
    if (changes === 0) return false;
    endSessionsOf(db, user.id);
    audit(db, { accountId: user.account_id, actor, action: 'password_changed' }, now);
    return true;
  });
}

/**
 * Removes a user, with the user's sessions, login links and passkeys. The user's entries in the audit log stay. Call inside a
 * transaction. Throws 409 if the account would lose its last owner.
 */
export function removeUser(db: Db, user: User, actor: Actor, now: Date): void {
  requireOtherOwner(db, user);
  db.delete(users).where(eq(users.id, user.id)).run();
  audit(db, { accountId: user.account_id, actor, action: 'user_removed', subject: user.email }, now);
}

function requireOtherOwner(db: Db, user: User): void {
  const isLast = user.role === 'owner' && user.password_hash !== null && !hasOwner(db, user.account_id, user.id);
  if (isLast) throw conflict(sentence('last_owner'));
}
