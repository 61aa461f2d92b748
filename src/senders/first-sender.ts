/** The sender that a new mail has by default. */
import { asc, desc } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { ownedBy } from '../database/ownership.ts';
import { senders } from '../database/schema/index.ts';

/** Returns the id of the first sender of an account, a verified one if there is any; 0 if the account has no sender. */
export function firstSenderId(db: Db, accountId: number): number {
  const sender = db
    .select({ id: senders.id })
    .from(senders)
    .where(ownedBy(senders, accountId))
    .orderBy(desc(senders.is_verified), asc(senders.id))
    .limit(1)
    .get();
  return sender?.id ?? 0;
}
