/** The current values of a recipient, for links that are followed after the mail was sent. */
import { listCustomFields } from '../../audience/contacts/contact-fields.ts';
import type { Db } from '../../database/open.ts';
import type { Values } from '../content/merge.ts';
import { findPerson, mergeValues } from '../content/values.ts';
import type { RecipientIds } from '../links/tokens.ts';

/**
 * The values of placeholders for the recipient of a link. There are none when the contact was deleted or has another address by now,
 * or when the ledger does not know the delivery because a restore lost it.
 */
export function deliveryValues(db: Db, { user, delivery, mailing, address }: RecipientIds): Values {
  const contactId = db.$client
    .prepare<[number, number, number], number>(
      `SELECT c.id FROM deliveries d JOIN contacts c ON c.id = d.contact_id AND c.address_id = d.address_id
       WHERE d.id = ? AND d.mailing_id = ? AND d.address_id = ? AND c.deleted_at IS NULL`,
    )
    .pluck()
    .get(delivery, mailing, address);
  return findContactValues(db, user, contactId) ?? {};
}

/** The values of placeholders for one of the account's contacts; null when it does not exist. */
export function findContactValues(db: Db, accountId: number, contactId: number | undefined): Values | null {
  const person = contactId === undefined ? undefined : findPerson(db.$client, contactId);
  return person === undefined ? null : mergeValues(person, listCustomFields(db, accountId), '');
}
