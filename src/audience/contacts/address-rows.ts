/** The rows of `addresses`: one for each normalized e-mail address of an account. Contacts, deliveries and lists refer to them. */
import { sql } from 'drizzle-orm';
import type { Db } from '../../database/open.ts';
import type { Address } from './addresses.ts';

/** The id of the address's row, which is created if missing. Call inside the transaction of the write that refers to it. */
export function addressId(db: Db, userId: number, address: Address): number {
  addAddresses(db, userId, [address]);
  return db.get<{ id: number }>(
    sql`SELECT id FROM addresses WHERE user_id = ${userId} AND compared_email = ${address.normalized}`,
  ).id;
}

/** Creates the rows that are missing, in one statement. */
export function addAddresses(db: Db, userId: number, addresses: readonly Address[]): void {
  const normalized = JSON.stringify(addresses.map((address) => address.normalized));
  db.run(sql`
    INSERT INTO addresses (user_id, compared_email)
    SELECT ${userId}, value FROM json_each(${normalized}) WHERE true
    ON CONFLICT DO NOTHING`);
}
