/** The public archive of an account: which mails are in it, what anybody can read of it, and a mail of it as a page. */
import { randomBytes } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { eq } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { archivedMails, archives } from '../database/schema/index.ts';
import {
  escapeHtml,
  mergeHtml,
  mergeLine,
  PREFERENCES,
  type Template,
  type Values,
  WEB_COPY,
} from '../delivery/content/merge.ts';
import { untracked, withoutPixel } from '../delivery/content/web-copy.ts';
import { MergedSize } from '../delivery/mime/merged-size.ts';
import type { FrozenContent } from '../delivery/queue/ready-mailing.ts';
import { conflict } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';
import { isoTimestamp } from '../time/clock.ts';

/** The most mails in the archive of one account. */
const MAX_ARCHIVED = 5000;
const SLUG_BYTES = 10;
const TOKEN_BYTES = 10;

type Archive = Pick<typeof archives.$inferSelect, 'slug' | 'title'>;

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

/**
 * Lets everybody read those of these single sends that are in an archive and were sent to the end; one that was cancelled stays hidden.
 * Those that are published already stay as they are. Of an A/B test it is the winner. To be called within a transaction.
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

/** An archive that somebody opens. */
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

/** The archive with this address, or null where there is none with a mail that can be read. */
export function findPublicArchive(client: Database, slug: string): PublicArchive | null {
  return (
    client
      .prepare<[string], PublicArchive>(`
        SELECT user_id, slug, title FROM archives
        WHERE slug = ? AND EXISTS (SELECT 1 FROM archived_mails a WHERE a.user_id = archives.user_id AND a.published_at IS NOT NULL)`)
      .get(slug) ?? null
  );
}

/** At most `limit` mails of an archive after the `offset` newest, newest first. */
export function listPublished(client: Database, accountId: number, limit: number, offset: number): PublishedMail[] {
  return client
    .prepare<[number, number, number], PublishedMail>(`
      SELECT token, title, published_at FROM archived_mails WHERE user_id = ? AND published_at IS NOT NULL
      ORDER BY published_at DESC, id DESC LIMIT ? OFFSET ?`)
    .all(accountId, limit, offset);
}

/** A mail of an account's archive, or null where there is none that can be read. */
export function findPublishedMail(client: Database, accountId: number, token: string): PublishedMail | null {
  return (
    client
      .prepare<[string, number], PublishedMail>(
        'SELECT token, title, published_at FROM archived_mails WHERE token = ? AND user_id = ? AND published_at IS NOT NULL',
      )
      .get(token, accountId) ?? null
  );
}

/** The content with which a published mail was sent, of an A/B test that of the winner; undefined where it is gone. */
export function findPublishedContent(client: Database, token: string): FrozenContent | undefined {
  const found = client
    .prepare<[string], { content: string; winner: number | null }>(`
      SELECT m.content, t.winner FROM archived_mails a
        CROSS JOIN mailings m ON m.owner_kind = 'single' AND m.owner_id = a.single_send_id
        LEFT JOIN ab_tests t ON t.mailing_id = m.id
      WHERE a.token = ?`)
    .get(token);
  if (found === undefined) return undefined;
  const frozen: FrozenContent = JSON.parse(found.content);
  const variant = frozen.variants?.[(found.winner ?? 0) - 1];
  if (variant === undefined) return frozen;
  return { ...frozen, content: variant.content, sender_name: variant.sender_name ?? frozen.sender_name };
}

/** What is put around the mail. All of it is text. */
export interface Surroundings {
  title: string;
  /** The address of this page, which is the one that search engines keep. */
  canonical: string;
  /** Where the link of the unsubscribe page leads, since nobody is unsubscribed from here. */
  preferences: string;
  /** The list of the archive, and the words of the link to it. */
  list: string;
  back: string;
}

// System colours follow the reader's scheme, whatever the mail does.
const BAR =
  'color-scheme:light dark;margin:0;padding:12px 16px;background:Canvas;color:CanvasText;font:16px/1.4 system-ui,sans-serif;text-align:left;border-bottom:1px solid GrayText';

/** The HTML of the page. Placeholders have their defaults or are empty. Throws MergedTooLarge. */
export function readersCopy({ content, sender_name, sender_address }: FrozenContent, around: Surroundings): string {
  const { title, canonical, preferences, list, back } = around;
  const template: Template = withoutPixel(untracked(content));
  const values: Values = { sender_name, sender_address, [PREFERENCES]: preferences, [WEB_COPY]: canonical };
  new MergedSize({ subject: '', html: template, text: [] }).require((name) => values[name]);
  const html = mergeHtml(template, values);
  const head = `<title>${escapeHtml(title)}</title><link rel="canonical" href="${escapeHtml(canonical)}"><meta name="viewport" content="width=device-width, initial-scale=1">`;
  const bar = `<nav style="${BAR}"><a style="color:LinkText" href="${escapeHtml(list)}">${escapeHtml(back)}</a></nav>`;
  const headAt =
    endOfTag(html, /<head[\s>]/i) ?? endOfTag(html, /<html[\s>]/i) ?? endOfTag(html, /<!doctype[\s>]/i) ?? 0;
  const bodyAt = endOfTag(html, /<body[\s>]/i) ?? endOfTag(html, /<\/head[\s>]/i) ?? headAt;
  // Both at the same place in a mail that is no whole document. Markup that is out of order gets no bar within its head.
  return (
    html.slice(0, headAt) +
    head +
    html.slice(headAt, Math.max(headAt, bodyAt)) +
    bar +
    html.slice(Math.max(headAt, bodyAt))
  );
}

/** Where the first tag that begins like this ends; undefined where there is none. Looks at each character once, whatever the markup. */
function endOfTag(html: string, begin: RegExp): number | undefined {
  const found = begin.exec(html);
  if (found === null) return undefined;
  let quote = '';
  for (let at = found.index + found[0].length - 1; at < html.length; at++) {
    const character = html.charAt(at);
    // A value in quotes may contain what ends a tag.
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '>') return at + 1;
    else if (character === '"' || character === "'") quote = character;
  }
  return undefined;
}
