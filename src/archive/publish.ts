/** Publishes mails of the archive once all of them was sent. */
import type { Database } from 'better-sqlite3';
import { mergeLine } from '../delivery/content/merge.ts';

interface Sent {
  id: number;
  subject: string;
  finished_at: string;
}

/**
 * Lets everybody read those of these single sends that are in an archive and were sent to the end; one that was cancelled stays hidden.
 * Those that are published already stay as they are. Of an A/B test it is the winner. To be called within a transaction.
 */
export function publishSent(client: Database, singleSendIds: readonly number[]): void {
  const sent = client
    .prepare<[string], Sent>(`
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
