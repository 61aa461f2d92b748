/** The rows of `addresses`: one for each normalized e-mail address of an account. Contacts, deliveries and lists refer to them. */
import { type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { Db } from '../../database/open.ts';
import { conflict } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import { type Address, parseAddress } from './addresses.ts';
import { isErased, withoutErased } from './erased.ts';

/**
 * The condition that a column has the id of this address of the account. No row meets it if the account does not have the address.
 * Undefined without `email`.
 */
export function isAddress(column: SQLiteColumn, accountId: number, email: string | undefined): SQL | undefined {
  if (!email) return undefined;
  const normalized = parseAddress(email)?.normalized ?? null;
  return sql`${column} = (SELECT id FROM addresses WHERE user_id = ${accountId} AND normalized_email = ${normalized})`;
}

/**
 * The id of the address's row, which is created if missing. Call inside the transaction of the write that refers to it. Throws 409 for
 * the address of an erased person.
 */
export function addressId(db: Db, accountId: number, address: Address): number {
  if (isErased(db.$client, accountId, address.normalized)) throw conflict(messages.erased('email'));
  addAddresses(db, accountId, [address]);
  return db.get<{ id: number }>(
    sql`SELECT id FROM addresses WHERE user_id = ${accountId} AND normalized_email = ${address.normalized}`,
  ).id;
}

/** The id of the account's row of this address; undefined if it has none. */
export function findAddressId(db: Db, accountId: number, address: Address): number | undefined {
  return db.$client
    .prepare<[number, string], number>('SELECT id FROM addresses WHERE user_id = ? AND normalized_email = ?')
    .pluck()
    .get(accountId, address.normalized);
}

/** Creates the rows that are missing, in one statement. Erased people get none: no list can name them again, and no mail goes to them anyway. */
export function addAddresses(db: Db, accountId: number, addresses: readonly Address[]): void {
  const kept = withoutErased(db.$client, accountId, addresses);
  const normalized = JSON.stringify(kept.map((address) => address.normalized));
  db.run(sql`
    INSERT INTO addresses (user_id, normalized_email)
    SELECT ${accountId}, value FROM json_each(${normalized}) WHERE true
    ON CONFLICT DO NOTHING`);
}
