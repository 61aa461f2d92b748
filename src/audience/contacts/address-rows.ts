/** The `addresses` rows: one person per account and normalized e-mail, whatever refers to it. */
import { sql } from 'drizzle-orm';
import type { Db } from '../../database/open.ts';
import type { Address } from './addresses.ts';

/** The id of the person's row, made if it is new. Call inside the transaction of the write that refers to it. */
export function addressId(db: Db, userId: number, address: Address): number {
  addAddresses(db, userId, [address]);
  return db.get<{ id: number }>(
    sql`SELECT id FROM addresses WHERE user_id = ${userId} AND compared_email = ${address.normalized}`,
  ).id;
}

/** Makes the rows that are new, as one statement. */
export function addAddresses(db: Db, userId: number, addresses: readonly Address[]): void {
  const normalized = JSON.stringify(addresses.map((address) => address.normalized));
  db.run(sql`
    INSERT INTO addresses (user_id, compared_email)
    SELECT ${userId}, value FROM json_each(${normalized}) WHERE true
    ON CONFLICT DO NOTHING`);
}
