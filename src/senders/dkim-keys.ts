/** The DKIM keys of sender domains: creating, activating and deleting them. All accounts with a sender of a domain share its keys. */
import { and, asc, eq, inArray } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { dkimKeys } from '../database/schema/index.ts';
import { isoTimestamp } from '../time/clock.ts';

/** signing: mail is signed with the key; waiting: the key signs once its DNS record has been seen; former: the key no longer signs. */
export const DKIM_KEY_STATES = ['signing', 'waiting', 'former'] as const;
export type DkimKeyState = (typeof DKIM_KEY_STATES)[number];

export type DkimKey = typeof dkimKeys.$inferSelect & { state: DkimKeyState };

/** Returns the keys of a domain, or of all domains, oldest first. */
export function listDkimKeys(db: Db, domain?: string): DkimKey[] {
  const where = domain === undefined ? undefined : eq(dkimKeys.domain, domain);
  const rows = db.select().from(dkimKeys).where(where).orderBy(asc(dkimKeys.id)).all();
  const signing = new Map(rows.filter((key) => key.awaits_record === 0).map((key) => [key.domain, key.id]));
  const stateOf = (key: (typeof rows)[number]): DkimKeyState => {
    if (key.awaits_record === 1) return 'waiting';
    return signing.get(key.domain) === key.id ? 'signing' : 'former';
  };
  return rows.map((key) => ({ ...key, state: stateOf(key) }));
}

/** Returns a selector that the domain has not used, because resolvers may cache the record of an earlier key. */
export function newSelector(keys: readonly DkimKey[], now: Date): string {
  const selector = `s${now.toISOString().replaceAll(/\D/g, '').slice(0, 14)}`;
  return keys.some((key) => key.selector === selector) ? `${selector}b` : selector;
}

/** Stores a new key. With `awaitsRecord` it signs only once its DNS record has been seen. */
export function insertDkimKey(
  db: Db,
  key: { domain: string; selector: string; privateKey: string; awaitsRecord: boolean },
  now: Date,
): void {
  db.insert(dkimKeys)
    .values({
      domain: key.domain,
      selector: key.selector,
      private_key: key.privateKey,
      awaits_record: key.awaitsRecord ? 1 : 0,
      created_at: isoTimestamp(now),
    })
    .run();
}

/** Activates the keys with these ids, which waited for their DNS records. */
export function activateDkimKeys(db: Db, ids: readonly number[]): void {
  if (ids.length === 0) return;
  db.update(dkimKeys)
    .set({ awaits_record: 0 })
    .where(and(inArray(dkimKeys.id, [...ids]), eq(dkimKeys.awaits_record, 1)))
    .run();
}

/**
 * Deletes a key permanently. If only waiting keys remain, the newest is activated, because otherwise mail of the domain would not be signed.
 * Returns the activated key.
 */
export function deleteDkimKey(db: Db, { id, domain }: Pick<DkimKey, 'id' | 'domain'>): DkimKey | undefined {
  db.delete(dkimKeys).where(eq(dkimKeys.id, id)).run();
  const remaining = listDkimKeys(db, domain);
  const next = remaining.at(-1);
  if (next === undefined || remaining.some(({ state }) => state !== 'waiting')) return undefined;
  activateDkimKeys(db, [next.id]);
  return next;
}
