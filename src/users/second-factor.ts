/** Two-factor authentication of a user: codes of an authenticator app, and recovery codes for a lost phone. */
import { randomBytes } from 'node:crypto';
import { and, eq, lt } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { users } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { sentence } from '../errors/sentences.ts';
import { isoTimestamp } from '../time/clock.ts';
import { type Actor, type AuditAction, audit } from './audit.ts';
import { hashSecret } from './secrets.ts';
import { base32, matchTotp } from './totp.ts';
import type { User } from './users.ts';

/** The number of recovery codes of a user. */
const RECOVERY_CODES = 10;
/** A code of 80 random bits cannot be guessed, even by somebody who has the stored hashes. */
const RECOVERY_BYTES = 10;

/**
 * Switches two-factor authentication on if `code` is a right code for `secret`. Returns the recovery codes, which are shown once;
 * null if the code is wrong.
 */
export function switchOnSecondFactor(
  db: Db,
  user: User,
  secret: string,
  code: string,
  actor: Actor,
  now: Date,
): string[] | null {
  const step = matchTotp(secret, code, 0, now);
  if (step === null) return null;
  const codes = newRecoveryCodes();
  const changes = { totp_secret: secret, totp_last_step: step, recovery_hashes: codes.map(hashCode) };
  changeUser(db, user, changes, 'second_factor_on', actor, now);
  return codes;
}

/** Switches two-factor authentication off. */
export function switchOffSecondFactor(db: Db, user: User, actor: Actor, now: Date): void {
  changeUser(db, user, { totp_secret: null, recovery_hashes: [] }, 'second_factor_off', actor, now);
}

/** Returns new recovery codes, which are shown once. The earlier codes stop working. */
export function renewRecoveryCodes(db: Db, user: User, actor: Actor, now: Date): string[] {
  const codes = newRecoveryCodes();
  changeUser(db, user, { recovery_hashes: codes.map(hashCode) }, 'recovery_codes_made', actor, now);
  return codes;
}

/** Returns true if `code` is a right code of the app or a recovery code. A right code is used up, so that no code is accepted twice. */
export function useCode(db: Db, user: User, code: string, actor: Actor, now: Date): boolean {
  const step = user.totp_secret === null ? null : matchTotp(user.totp_secret, code, user.totp_last_step, now);
  if (step !== null) {
    const { changes } = db
      .update(users)
      .set({ totp_last_step: step })
      .where(and(eq(users.id, user.id), lt(users.totp_last_step, step)))
      .run();
    return changes > 0;
  }
  const hash = hashCode(code);
  return inTransaction(db, (tx) => {
    const row = tx.select({ hashes: users.recovery_hashes }).from(users).where(eq(users.id, user.id)).get();
    if (!row?.hashes.includes(hash)) return false;
    const left = row.hashes.filter((stored) => stored !== hash);
    tx.update(users).set({ recovery_hashes: left }).where(eq(users.id, user.id)).run();
    const subject = sentence('subject_codes_left', { count: left.length });
    audit(db, { accountId: user.account_id, actor, action: 'recovery_code_used', subject }, now);
    return true;
  });
}

function changeUser(db: Db, user: User, changes: Partial<User>, action: AuditAction, actor: Actor, now: Date): void {
  inTransaction(db, (tx) => {
    tx.update(users)
      .set({ ...changes, updated_at: isoTimestamp(now) })
      .where(eq(users.id, user.id))
      .run();
    audit(db, { accountId: user.account_id, actor, action }, now);
  });
}

/** Returns sixteen letters and digits in four groups. */
function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const code = base32(randomBytes(RECOVERY_BYTES)).toLowerCase();
    return code.match(/.{4}/g)?.join('-') ?? code;
  });
}

/** Returns the hash of a code. Ignores spaces, hyphens and case. */
function hashCode(code: string): string {
  return hashSecret(code.toLowerCase().replace(/[^a-z2-7]/g, ''));
}
