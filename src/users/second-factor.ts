/** Two-factor authentication of a user: codes of an authenticator app, and recovery codes for a lost phone. */
import { randomBytes } from 'node:crypto';
import { and, eq, lt } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { users } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { sentence } from '../errors/sentences.ts';
import { isoTimestamp } from '../time/clock.ts';
import { type Actor, audit } from './audit.ts';
import { hashSecret } from './secrets.ts';
import { base32, matchTotp } from './totp.ts';
import type { User } from './users.ts';

const RECOVERY_CODES = 10;
/** 80 bits are too many to guess, even with the stored hashes. */
const RECOVERY_BYTES = 10;

/**
 * Switches two-factor authentication on, with a secret for which the user has typed a right code. Returns the recovery codes,
 * which are shown once. Returns null if the code is wrong.
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
  write(db, user, { totp_secret: secret, totp_last_step: step, recovery_hashes: codes.map(hashCode) }, now, () =>
    audit(db, { accountId: user.account_id, actor, action: 'second_factor_on' }, now),
  );
  return codes;
}

/** Switches two-factor authentication off. */
export function switchOffSecondFactor(db: Db, user: User, actor: Actor, now: Date): void {
  write(db, user, { totp_secret: null, recovery_hashes: [] }, now, () =>
    audit(db, { accountId: user.account_id, actor, action: 'second_factor_off' }, now),
  );
}

/** Returns new recovery codes, which are shown once. The earlier ones stop working. */
export function renewRecoveryCodes(db: Db, user: User, actor: Actor, now: Date): string[] {
  const codes = newRecoveryCodes();
  write(db, user, { recovery_hashes: codes.map(hashCode) }, now, () =>
    audit(db, { accountId: user.account_id, actor, action: 'recovery_codes_made' }, now),
  );
  return codes;
}

/** Returns true if a code of the app or a recovery code is right. A right code is used up, so that no code is accepted twice. */
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
    const row = tx.select({ left: users.recovery_hashes }).from(users).where(eq(users.id, user.id)).get();
    if (!row?.left.includes(hash)) return false;
    const left = row.left.filter((code) => code !== hash);
    tx.update(users).set({ recovery_hashes: left }).where(eq(users.id, user.id)).run();
    const subject = sentence('subject_codes_left', { count: left.length });
    audit(db, { accountId: user.account_id, actor, action: 'recovery_code_used', subject }, now);
    return true;
  });
}

function write(db: Db, user: User, change: Partial<User>, now: Date, record: () => void): void {
  inTransaction(db, (tx) => {
    tx.update(users)
      .set({ ...change, updated_at: isoTimestamp(now) })
      .where(eq(users.id, user.id))
      .run();
    record();
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
