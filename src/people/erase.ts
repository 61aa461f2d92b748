/** Erases a person: nothing that names them stays, except a keyed hash of their address, so that they are not added again. */
import { deleteContacts } from '../audience/contacts/contacts.ts';
import { erasedForm } from '../audience/contacts/erased.ts';
import { eraseSuppression } from '../audience/suppressions.ts';
import { eraseUnsubscriptions } from '../audience/unsubscribes/unsubscribes.ts';
import type { Clock } from '../clock.ts';
import { isoTimestamp } from '../clock.ts';
import type { Db } from '../database/open.ts';
import { conflict } from '../failure.ts';
import { type Actor, audit } from '../users/audit.ts';

/** In this order, so that rows go before those they refer to. Deliveries and events stay, for the counts of their mailings. */
const REMOVED = [
  'DELETE FROM steps WHERE enrolment_id IN (SELECT e.id FROM automations a CROSS JOIN enrolments e ON e.automation_id = a.id AND e.address_id = @address WHERE a.user_id = @account)',
  'DELETE FROM enrolments WHERE id IN (SELECT e.id FROM automations a CROSS JOIN enrolments e ON e.automation_id = a.id AND e.address_id = @address WHERE a.user_id = @account)',
  'DELETE FROM membership_changes WHERE address_id = @address',
  'DELETE FROM segment_recipients WHERE id IN (SELECT r.id FROM segments s CROSS JOIN segment_recipients r ON r.segment_id = s.id AND r.address_id = @address WHERE s.user_id = @account)',
  // The To field is the address alone, or in angle brackets after a name.
  `DELETE FROM outbox WHERE user_id = @account
     AND (lower(envelope_to) = @email OR fold("to") = @email OR instr(fold("to"), '<' || @email || '>') > 0)`,
  `UPDATE deliveries SET contact_id = NULL, segment_recipient_id = NULL, reply = NULL
   WHERE id IN (SELECT d.id FROM mailings m CROSS JOIN deliveries d ON d.mailing_id = m.id AND d.address_id = @address WHERE m.user_id = @account)`,
  'DELETE FROM contact_job_items WHERE contact_id IN (SELECT id FROM contacts WHERE address_id = @address)',
  'DELETE FROM contacts WHERE address_id = @address',
  'UPDATE addresses SET normalized_email = @erased WHERE id = @address',
];

/**
 * Erases the person with this address of the account: all their contacts, memberships, lists and mails. What is removed is overwritten
 * in the file. The audit log says that somebody was erased, not who. Throws 409 while a mail to them is being handed to a relay.
 */
export function erasePerson(db: Db, clock: Clock, accountId: number, addressId: number, actor: Actor): void {
  const client = db.$client;
  client.pragma('secure_delete = ON');
  try {
    db.transaction(
      () => {
        const email = client
          .prepare<[number, number], string>('SELECT normalized_email FROM addresses WHERE id = ? AND user_id = ?')
          .pluck()
          .get(addressId, accountId);
        if (email === undefined) return;
        const sending = client.prepare('SELECT 1 FROM deliveries WHERE state = 1 AND address_id = ?').get(addressId);
        if (sending !== undefined) throw conflict('A mail to this person is just being sent: try again in a moment');
        const contacts = client
          .prepare<[number], number>('SELECT id FROM contacts WHERE address_id = ? AND deleted_at IS NULL')
          .pluck()
          .all(addressId);
        // The contacts are first deleted in the usual way, so that queued mails to them are not sent and counts stay right.
        deleteContacts(db, contacts, isoTimestamp(clock.now()));
        eraseUnsubscriptions(client, addressId);
        eraseSuppression(client, addressId);
        const erased = erasedForm(client, accountId, email);
        for (const statement of REMOVED) {
          client.prepare(statement).run({ account: accountId, address: addressId, email, erased });
        }
        audit(db, { accountId, actor, action: 'person_erased' }, clock.now());
      },
      { behavior: 'immediate' },
    );
    // The write-ahead log still has the old pages. This empties it, unless another connection is reading at this moment.
    client.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    client.pragma('secure_delete = OFF');
  }
}
