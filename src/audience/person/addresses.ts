/** The addresses of one person: the one they have, and those that their contacts had before they were corrected. */
import type { Database } from 'better-sqlite3';

export interface PersonAddress {
  id: number;
  normalized: string;
}

/**
 * The addresses of the person with this address of the account, that one first; none when the account does not have it. An earlier
 * address that a contact which is not deleted has now is that of somebody else.
 */
export function personAddresses(client: Database, accountId: number, addressId: number): PersonAddress[] {
  return client
    .prepare<Record<string, number>, PersonAddress>(`
      WITH RECURSIVE theirs (id) AS (SELECT @address
        UNION SELECT e.address_id FROM theirs CROSS JOIN contacts c ON c.address_id = theirs.id
          CROSS JOIN earlier_addresses e ON e.contact_id = c.id WHERE NOT ${isOthers('e.address_id')}
        UNION SELECT p.earlier_id FROM theirs CROSS JOIN purged_corrections p ON p.address_id = theirs.id
          WHERE NOT ${isOthers('p.earlier_id')})
      SELECT a.id, a.normalized_email AS normalized FROM theirs CROSS JOIN addresses a ON a.id = theirs.id
      WHERE a.user_id = @account ORDER BY a.id <> @address, a.id`)
    .all({ account: accountId, address: addressId });
}

/** SQL for whether a contact that is not deleted has the address. */
function isOthers(addressId: string): string {
  return `EXISTS (SELECT 1 FROM contacts o CROSS JOIN contact_types t ON t.id = o.contact_type_id
    WHERE o.address_id = ${addressId} AND o.deleted_at IS NULL AND t.deleted_at IS NULL)`;
}
