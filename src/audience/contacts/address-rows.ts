/** The rows of `addresses`: one for each normalized e-mail address of an account. Contacts, deliveries and lists refer to them. */
import type { Database } from 'better-sqlite3';
import { type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { Db } from '../../database/open.ts';
import { conflict } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import { type Address, parseAddress } from './addresses.ts';
import { erasedAmong, isErased } from './erased-addresses.ts';

/**
 * Returns the SQL condition that a column has the id of this address of the account; undefined if `email` is absent or empty. If the
 * account does not have the address, no row meets the condition.
 */
export function isAddress(column: SQLiteColumn, accountId: number, email: string | undefined): SQL | undefined {
  if (!email) return undefined;
  const normalized = parseAddress(email)?.normalized ?? null;
  return sql`${column} = (SELECT id FROM addresses WHERE user_id = ${accountId} AND normalized_email = ${normalized})`;
}

/**
 * Returns the id of the address's row, which is created if missing. Call inside the transaction of the write that refers to it.
 * Throws 409 for an erased address.
 */
export function addressId(db: Db, accountId: number, address: Address): number {
  if (isErased(db.$client, accountId, address.normalized)) throw conflict(messages.erased('email'));
  addAddresses(db, accountId, [address]);
  return db.get<{ id: number }>(
    sql`SELECT id FROM addresses WHERE user_id = ${accountId} AND normalized_email = ${address.normalized}`,
  ).id;
}

/** Returns the id of the account's row of this address; undefined if there is no such row, or if `address` is null. */
export function findAddressId(client: Database, accountId: number, address: Address | null): number | undefined {
  if (address === null) return undefined;
  return client
    .prepare<[number, string], number>('SELECT id FROM addresses WHERE user_id = ? AND normalized_email = ?')
    .pluck()
    .get(accountId, address.normalized);
}

/**
 * Creates the missing rows of these addresses in one statement. Erased addresses get no row, so that no list contains them again; they
 * get no mail anyway.
 */
export function addAddresses(db: Db, accountId: number, addresses: readonly Address[]): void {
  const normalized = addresses.map((address) => address.normalized);
  const erased = new Set(erasedAmong(db.$client, accountId, normalized));
  const kept = JSON.stringify(normalized.filter((address) => !erased.has(address)));
  db.run(sql`
    INSERT INTO addresses (user_id, normalized_email)
    SELECT ${accountId}, value FROM json_each(${kept}) WHERE true
    ON CONFLICT DO NOTHING`);
}
