/** The public archive of an account: its address and title, and which single sends are in it. */
import { randomBytes } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { eq } from 'drizzle-orm';
import { isoTimestamp } from '../clock.ts';
import type { Db } from '../database/open.ts';
import { archivedMails, archives } from '../database/schema/index.ts';
import { conflict } from '../failure.ts';
import { sentence } from '../sentences.ts';
import { publishSent } from './publish.ts';

/** The most mails in the archive of one account. */
export const MAX_ARCHIVED = 5000;
const SLUG_BYTES = 10;
const TOKEN_BYTES = 10;

export type Archive = Pick<typeof archives.$inferSelect, 'slug' | 'title'>;

/** The archive of an account; null before a mail was put into it or its address was chosen. */
export function findArchive(db: Db, accountId: number): Archive | null {
  const columns = { slug: archives.slug, title: archives.title };
  return db.select(columns).from(archives).where(eq(archives.user_id, accountId)).get() ?? null;
}

/** Whether another account has this address. */
export function isSlugTaken(db: Db, accountId: number, slug: string): boolean {
  const holder = db.select({ user_id: archives.user_id }).from(archives).where(eq(archives.slug, slug)).get();
  return holder !== undefined && holder.user_id !== accountId;
}

/** Stores the address and the title of an account's archive. To be called within a transaction. */
export function saveArchive(db: Db, accountId: number, { slug, title }: Archive, now: Date): void {
  const updated_at = isoTimestamp(now);
  db.insert(archives)
    .values({ user_id: accountId, slug, title, created_at: updated_at, updated_at })
    .onConflictDoUpdate({ target: archives.user_id, set: { slug, title, updated_at } })
    .run();
}

/** How many mails of an account anybody can read. */
export function countPublished(client: Database, accountId: number): number {
  return Number(
    client
      .prepare('SELECT count(*) FROM archived_mails WHERE user_id = ? AND published_at IS NOT NULL')
      .pluck()
      .get(accountId),
  );
}

/** Where a single send stands in the archive; null: it is not in it. */
export function findArchivedMail(
  db: Db,
  singleSendId: number,
): Pick<typeof archivedMails.$inferSelect, 'token' | 'published_at'> | null {
  const columns = { token: archivedMails.token, published_at: archivedMails.published_at };
  return db.select(columns).from(archivedMails).where(eq(archivedMails.single_send_id, singleSendId)).get() ?? null;
}

/**
 * Puts a single send into the archive of its account; one that was sent can be read at once. Throws 409 when the archive is full. To be
 * called within a transaction.
 */
export function addToArchive(db: Db, accountId: number, singleSendId: number, now: Date): void {
  if (findArchivedMail(db, singleSendId) !== null) return;
  const count = db.$count(archivedMails, eq(archivedMails.user_id, accountId));
  if (Number(count) >= MAX_ARCHIVED) throw conflict(sentence('archive_full', { count: MAX_ARCHIVED }));
  if (findArchive(db, accountId) === null)
    saveArchive(db, accountId, { slug: randomBytes(SLUG_BYTES).toString('hex'), title: '' }, now);
  db.insert(archivedMails)
    .values({
      user_id: accountId,
      single_send_id: singleSendId,
      token: randomBytes(TOKEN_BYTES).toString('hex'),
      created_at: isoTimestamp(now),
    })
    .run();
  publishSent(db.$client, [singleSendId]);
}

/** Takes a single send out of the archive; its address is not known from then on. */
export function removeFromArchive(db: Db, singleSendId: number): void {
  db.delete(archivedMails).where(eq(archivedMails.single_send_id, singleSendId)).run();
}
