/** The values of a recipient as they are today, for links that are followed after the mail has left. */
import { listCustomFields } from '../../audience/contacts/custom-fields.ts';
import type { Db } from '../../database/open.ts';
import type { Values } from '../content/merge.ts';
import { findPerson, mergeValues } from '../content/values.ts';
import type { RecipientIds } from '../links/tokens.ts';

/**
 * What placeholders become for the recipient of a link. Of a contact that was deleted, or has another address by now, nothing is left;
 * so it is where the ledger does not know this delivery to this person, since a restore lost it.
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

/** What they become for one of the account's contacts; null when it is gone. */
export function findContactValues(db: Db, userId: number, contactId: number | undefined): Values | null {
  const person = contactId === undefined ? undefined : findPerson(db.$client, contactId);
  return person === undefined ? null : mergeValues(person, listCustomFields(db, userId), '');
}
