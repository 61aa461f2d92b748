/** What anybody can read of an archive: its list and its mails. */
import type { Database } from 'better-sqlite3';
import type { FrozenContent } from '../delivery/queue/ready-mailing.ts';

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
