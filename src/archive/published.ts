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

/** A mail of an account's archive with the content it was sent with, of an A/B test that of the winner, or null where there is none that can be read. */
export function findPublishedMail(
  client: Database,
  accountId: number,
  token: string,
): (PublishedMail & { frozen: FrozenContent }) | null {
  const found = client
    .prepare<[string, number], PublishedMail & { content: string; winner: number | null }>(`
      SELECT a.token, a.title, a.published_at, m.content, t.winner FROM archived_mails a
        CROSS JOIN mailings m ON m.owner_kind = 'single' AND m.owner_id = a.single_send_id
        LEFT JOIN ab_tests t ON t.mailing_id = m.id
      WHERE a.token = ? AND a.user_id = ? AND a.published_at IS NOT NULL`)
    .get(token, accountId);
  if (found === undefined) return null;
  const { content, winner, ...mail } = found;
  const frozen: FrozenContent = JSON.parse(content);
  const variant = frozen.variants?.[(winner ?? 0) - 1];
  if (variant === undefined) return { ...mail, frozen };
  const sender_name = variant.sender_name ?? frozen.sender_name;
  return { ...mail, frozen: { ...frozen, content: variant.content, sender_name } };
}
