/** Takes out of the ledger what is not needed of finished mails that asked for the confirmation of a form. */
import type { Database } from 'better-sqlite3';

interface FormMails {
  /** Removes the mail of a request whose recipient never wanted to be known, if it is finished or held, with its delivery and events. */
  remove(requestId: number): void;
  /** Removes the text of a request's mail if it is finished: each has its own, because the link in it is for one person. */
  empty(requestId: number): void;
}

/** The mails of forms. Call its functions inside a transaction. */
export function formMails(client: Database): FormMails {
  const empty = client.prepare<[number]>(`
    UPDATE mailings SET content = json_set(content, '$.content.html', json('[]'), '$.content.text', json('[]'))
    WHERE owner_kind = 'form' AND owner_id = ? AND finished_at IS NOT NULL`);
  const find = client
    .prepare<[number], number>(
      "SELECT id FROM mailings WHERE owner_kind = 'form' AND owner_id = ? AND (finished_at IS NOT NULL OR state = 'held')",
    )
    .pluck();
  const removals = [
    'DELETE FROM events WHERE delivery_id IN (SELECT id FROM deliveries WHERE mailing_id = ?)',
    'DELETE FROM delivery_reasons WHERE mailing_id = ?',
    'DELETE FROM mailing_hours WHERE mailing_id = ?',
    'DELETE FROM deliveries WHERE mailing_id = ?',
    'DELETE FROM mailings WHERE id = ?',
  ].map((text) => client.prepare(text));
  return {
    remove(requestId) {
      for (const mailing of find.all(requestId)) for (const removal of removals) removal.run(mailing);
    },
    empty: (requestId) => void empty.run(requestId),
  };
}
