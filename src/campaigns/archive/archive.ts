/** The public archive of an account: the mails in the archive, and the mails that visitors can read. */
import { randomBytes } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { eq } from 'drizzle-orm';
import type { Db } from '../../database/open.ts';
import { archivedMails, archives } from '../../database/schema/index.ts';
import { mergeLine } from '../../delivery/content/merge.ts';
import type { FrozenContent } from '../../delivery/queue/ready-mailing.ts';
import { conflict } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { isoTimestamp } from '../../time/clock.ts';

/** The maximum number of mails in the archive of one account. */
const MAX_ARCHIVED = 5000;
const SLUG_BYTES = 10;
const TOKEN_BYTES = 10;

type Archive = Pick<typeof archives.$inferSelect, 'slug' | 'title'>;

/** Returns the archive of an account; null if no mail was ever added and no slug was chosen. */
export function findArchive(db: Db, accountId: number): Archive | null {
  const columns = { slug: archives.slug, title: archives.title };
  return db.select(columns).from(archives).where(eq(archives.user_id, accountId)).get() ?? null;
}

/** Returns true if another account has this slug. */
export function isSlugTaken(db: Db, accountId: number, slug: string): boolean {
  const holder = db.select({ user_id: archives.user_id }).from(archives).where(eq(archives.slug, slug)).get();
  return holder !== undefined && holder.user_id !== accountId;
}

/** Stores the slug and the title of an account's archive. Call inside a transaction. */
export function saveArchive(db: Db, accountId: number, { slug, title }: Archive, now: Date): void {
  const updated_at = isoTimestamp(now);
  db.insert(archives)
    .values({ user_id: accountId, slug, title, created_at: updated_at, updated_at })
    .onConflictDoUpdate({ target: archives.user_id, set: { slug, title, updated_at } })
    .run();
}

/** Returns how many mails of an account are published. */
export function countPublished(client: Database, accountId: number): number {
  return Number(
    client
      .prepare('SELECT count(*) FROM archived_mails WHERE user_id = ? AND published_at IS NOT NULL')
      .pluck()
      .get(accountId),
  );
}

/** Returns the state of a single send in the archive; null if it is not in the archive. */
export function findArchivedMail(
  db: Db,
  singleSendId: number,
): Pick<typeof archivedMails.$inferSelect, 'token' | 'published_at'> | null {
  const columns = { token: archivedMails.token, published_at: archivedMails.published_at };
  return db.select(columns).from(archivedMails).where(eq(archivedMails.single_send_id, singleSendId)).get() ?? null;
}

/**
 * Adds a single send to the archive of its account, and publishes it if it has been sent. Does nothing if it is in the archive. Throws
 * 409 if the archive is full. Call inside a transaction.
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

/** Removes a single send from the archive. From then on its URL no longer works. */
export function removeFromArchive(db: Db, singleSendId: number): void {
  db.delete(archivedMails).where(eq(archivedMails.single_send_id, singleSendId)).run();
}

/**
 * Publishes the single sends that are in an archive and have been sent completely. Cancelled single sends stay hidden, and published ones do
 * not change. Of an A/B test, the winner is published. Call inside a transaction.
 */
export function publishSent(client: Database, singleSendIds: readonly number[]): void {
  const sent = client
    .prepare<[string], { id: number; subject: string; finished_at: string }>(`
      SELECT a.id, ifnull(CASE WHEN t.winner > 0 THEN m.content ->> ('$.variants[' || (t.winner - 1) || '].content.subject') END, s.subject) AS subject, m.finished_at
      FROM json_each(?) j
        CROSS JOIN archived_mails a ON a.single_send_id = j.value
        CROSS JOIN single_sends s ON s.id = a.single_send_id
        CROSS JOIN mailings m ON m.owner_kind = 'single' AND m.owner_id = a.single_send_id
        LEFT JOIN ab_tests t ON t.mailing_id = m.id
      WHERE a.published_at IS NULL AND m.state = 'done' AND m.finished_at IS NOT NULL`)
    .all(JSON.stringify(singleSendIds));
  const publish = client.prepare('UPDATE archived_mails SET title = ?, published_at = ? WHERE id = ?');
  for (const { id, subject, finished_at } of sent) publish.run(mergeLine(subject, {}), finished_at, id);
}

/** An archive as visitors see it. */
export interface PublicArchive {
  user_id: number;
  slug: string;
  title: string;
}

/** A mail in the list of an archive. */
export interface PublishedMail {
  token: string;
  title: string;
  published_at: string;
}

/** Returns the archive with this slug; null if there is no such archive, or it has no published mail. */
export function findPublicArchive(client: Database, slug: string): PublicArchive | null {
  return (
    client
      .prepare<[string], PublicArchive>(`
        SELECT user_id, slug, title FROM archives
        WHERE slug = ? AND EXISTS (SELECT 1 FROM archived_mails a WHERE a.user_id = archives.user_id AND a.published_at IS NOT NULL)`)
      .get(slug) ?? null
  );
}

/** Returns up to `limit` published mails of an archive, newest first, after skipping `offset`. */
export function listPublished(client: Database, accountId: number, limit: number, offset: number): PublishedMail[] {
  return client
    .prepare<[number, number, number], PublishedMail>(`
      SELECT token, title, published_at FROM archived_mails WHERE user_id = ? AND published_at IS NOT NULL
      ORDER BY published_at DESC, id DESC LIMIT ? OFFSET ?`)
    .all(accountId, limit, offset);
}

/** Returns the published mail with this token in an account's archive; null if there is none. */
export function findPublishedMail(client: Database, accountId: number, token: string): PublishedMail | null {
  return (
    client
      .prepare<[string, number], PublishedMail>(
        'SELECT token, title, published_at FROM archived_mails WHERE token = ? AND user_id = ? AND published_at IS NOT NULL',
      )
      .get(token, accountId) ?? null
  );
}

/**
 * Returns the content with which a published mail was sent; of an A/B test, the content of the winner. Undefined if the mail is no longer in
 * the archive.
 */
export function findPublishedContent(client: Database, token: string): FrozenContent | undefined {
  const row = client
    .prepare<[string], { content: string; winner: number | null }>(`
      SELECT m.content, t.winner FROM archived_mails a
        CROSS JOIN mailings m ON m.owner_kind = 'single' AND m.owner_id = a.single_send_id
        LEFT JOIN ab_tests t ON t.mailing_id = m.id
      WHERE a.token = ?`)
    .get(token);
  if (row === undefined) return undefined;
  const frozen: FrozenContent = JSON.parse(row.content);
  const variant = frozen.variants?.[(row.winner ?? 0) - 1];
  if (variant === undefined) return frozen;
  return { ...frozen, content: variant.content, sender_name: variant.sender_name ?? frozen.sender_name };
}
