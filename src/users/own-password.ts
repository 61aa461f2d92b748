/** Changes a user's own password. */
import { and, eq } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { users } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { isoTimestamp } from '../time/clock.ts';
import { type Actor, audit } from './audit.ts';
import { hashPassword } from './passwords.ts';
import { endSessionsOf } from './sessions.ts';
import type { User } from './users.ts';

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
