/** Takes mails out of the ledger whose recipients never wanted to be known: those that asked for the confirmation of a form. */
import type { Database } from 'better-sqlite3';

/** Gives a function that removes the mailing of a form's request, if it is finished or held, with its delivery and events. Call it inside a transaction. */
export function formMailRemover(client: Database): (requestId: number) => void {
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
  return (requestId) => {
    for (const mailing of find.all(requestId)) for (const removal of removals) removal.run(mailing);
  };
}
