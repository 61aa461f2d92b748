/** Takes out of the ledger what names a person. */
import type { Database } from 'better-sqlite3';
import { type ReasonChange, reasonCounter } from './reasons.ts';

/** A person of an account in the mailings `after` an id up to another. */
interface PersonInMailings {
  account: number;
  address: number;
  after: number;
  to: number;
}

/**
 * Gives a function that removes their contact and the replies about them from the deliveries of a person. The deliveries stay, for the
 * counts of their mailings. Call it inside a transaction.
 */
export function deliveryEraser(client: Database): (person: PersonInMailings) => void {
  const theirs = `FROM mailings m CROSS JOIN deliveries d INDEXED BY deliveries_person ON d.mailing_id = m.id AND d.address_id = @address
    WHERE m.id > @after AND m.id <= @to AND m.user_id = @account`;
  const replies = client.prepare<[PersonInMailings], Omit<ReasonChange, 'by'>>(
    `SELECT d.mailing_id, d.state, d.reply ${theirs} AND d.reply IS NOT NULL`,
  );
  const erase = client.prepare<[PersonInMailings]>(
    `UPDATE deliveries SET contact_id = NULL, segment_recipient_id = NULL, reply = NULL WHERE id IN (SELECT d.id ${theirs})`,
  );
  const countReasons = reasonCounter(client);
  return (person) => {
    countReasons(replies.all(person).map((delivery) => ({ ...delivery, by: -1 })));
    erase.run(person);
  };
}
