/** Records bounces of and complaints about transactional mail, each at most once. */
import type { Database } from 'better-sqlite3';
import { suppressAddress } from '../../audience/suppressions.ts';
import { DELIVERY_STATE } from '../../database/schema/index.ts';
import type { Said } from '../../errors/sentences.ts';
import { stored } from '../../errors/stored.ts';
import { isoTimestamp } from '../../time/clock.ts';

/** A transactional mail that may have bounced or caused a complaint. */
export interface ReturnedMail {
  id: number;
  user_id: number;
  address_id: number;
  message_key: string;
  normalized_email: string;
}

/** Returns the mail with this id; undefined if there is none. */
export function findTransactionalMail(client: Database, id: number): ReturnedMail | undefined {
  return client
    .prepare<[number], ReturnedMail>(`SELECT t.id, t.user_id, t.address_id, t.message_key, a.normalized_email
     FROM transactional_mails t JOIN addresses a ON a.id = t.address_id WHERE t.id = ?`)
    .get(id);
}

/**
 * Records a bounce or complaint in one transaction, and suppresses the address if `suppress` is true. A bounce proves that the mail was
 * sent, because only a server that received the mail knows its return path. So a mail that a crash left queued is not sent again.
 */
export function recordReturned(
  client: Database,
  { id, kind, suppress, diagnostic }: { id: number; kind: 'bounce' | 'complaint'; suppress: boolean; diagnostic: Said },
  now: Date,
): void {
  client
    .transaction(() => {
      const mail = findTransactionalMail(client, id);
      if (mail === undefined) return;
      const at = now.getTime();
      if (kind === 'complaint') {
        client
          .prepare('UPDATE transactional_mails SET complained_at = ifnull(complained_at, ?) WHERE id = ?')
          .run(at, id);
      } else {
        const { queued, sending, accepted, bounced } = DELIVERY_STATE;
        const { changes } = client
          .prepare(`UPDATE transactional_mails SET state = ${bounced}, reply = ?, updated_at = ?, content = NULL
           WHERE id = ? AND state IN (${queued}, ${sending}, ${accepted})`)
          .run(stored(diagnostic), at, id);
        if (changes > 0)
          client
            .prepare('DELETE FROM transactional_pieces WHERE utr = (SELECT utr FROM transactional_mails WHERE id = ?)')
            .run(id);
      }
      const { user_id, address_id } = mail;
      if (suppress) suppressAddress(client, { user_id, address_id, kind, diagnostic, created_at: isoTimestamp(now) });
    })
    .immediate();
}
