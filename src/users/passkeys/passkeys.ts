/**
 * The passkeys of users: keys that a device stores and uses only for a person whom it has recognized, so that a passkey counts
 * as both factors.
 */
import { and, eq, lt, or } from 'drizzle-orm';
import type { Db } from '../../database/open.ts';
import { passkeys, users } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { type Actor, audit } from '../audit.ts';
import type { User } from '../users.ts';

/** The maximum number of passkeys of one user. */
const MAX_PASSKEYS = 20;

export type Passkey = typeof passkeys.$inferSelect;

/** What is stored of a new passkey. */
export interface NewPasskey {
  credentialId: string;
  publicKey: Uint8Array;
  /** The number of uses that the device has counted; 0 if the device does not count. */
  counter: number;
  /** How browsers reach the device, such as `usb` or `internal`. */
  transports: string[];
}

/** Returns the passkeys of a user, in the order in which they were added. */
export function passkeysOf(db: Db, userId: number): Passkey[] {
  return db.select().from(passkeys).where(eq(passkeys.user_id, userId)).orderBy(passkeys.id).all();
}

/** Returns the passkey with this identifier, and its user; undefined if none has the identifier. */
export function findPasskey(db: Db, credentialId: string): { passkey: Passkey; user: User } | undefined {
  return db
    .select({ passkey: passkeys, user: users })
    .from(passkeys)
    .innerJoin(users, eq(users.id, passkeys.user_id))
    .where(eq(passkeys.credential_id, credentialId))
    .get();
}

/** Adds a passkey to a user. Returns false if the user has too many, or if the passkey exists already. */
export function addPasskey(db: Db, user: User, name: string, added: NewPasskey, actor: Actor, now: Date): boolean {
  return inTransaction(db, (tx) => {
    const isKnown = findPasskey(db, added.credentialId) !== undefined;
    if (isKnown || passkeysOf(db, user.id).length >= MAX_PASSKEYS) return false;
    tx.insert(passkeys)
      .values({
        user_id: user.id,
        credential_id: added.credentialId,
        public_key: Buffer.from(added.publicKey),
        counter: added.counter,
        transports: added.transports,
        name,
        created_at: isoTimestamp(now),
      })
      .run();
    audit(db, { accountId: user.account_id, actor, action: 'passkey_added', subject: name }, now);
    return true;
  });
}

/**
 * Records the use of a passkey. Returns false if the passkey was removed, or if `counter` is not above the stored counter, which
 * means that the passkey was copied.
 */
export function recordUse(db: Db, { id }: Passkey, counter: number, now: Date): boolean {
  // Passkeys that are synchronized between devices have no counter and always send 0 (W3C Web Authentication 6.1.1).
  const isAbove = or(lt(passkeys.counter, counter), counter === 0 ? eq(passkeys.counter, 0) : undefined);
  const { changes } = db
    .update(passkeys)
    .set({ counter, last_used_at: isoTimestamp(now) })
    .where(and(eq(passkeys.id, id), isAbove))
    .run();
  return changes > 0;
}
