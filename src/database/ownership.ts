/** Conditions that find a record by an identifier from a request, within the caller's account only. */
import { setImmediate } from 'node:timers/promises';
import { and, eq, isNull, type Placeholder, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { Failure } from '../errors/failure.ts';
import type { Db } from './open.ts';

/** A table whose rows belong to accounts. */
export interface OwnedTable {
  id: SQLiteColumn;
  user_id: SQLiteColumn;
  deleted_at?: SQLiteColumn;
}

/** Parses an identifier as a number: plain decimal digits, at most 2^53−1. Returns 0, which is no record's id, for anything else. */
export function recordId(value: unknown): number {
  const digits = typeof value === 'number' ? String(value) : value;
  if (typeof digits !== 'string' || !/^\d{1,16}$/.test(digits)) return 0;
  const id = Number(digits);
  return Number.isSafeInteger(id) ? id : 0;
}

/** The number of ids that are looked up at once, which takes a few milliseconds. */
const IDS_AT_ONCE = 2000;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns an identifier as a utr in lower case, or '' if it is not a UUID. */
export function recordUtr(value: unknown): string {
  return typeof value === 'string' && UUID.test(value) ? value.toLowerCase() : '';
}

/** The condition that a row belongs to the caller and is not deleted. */
export function ownedBy(table: OwnedTable, accountId: number | Placeholder): SQL | undefined {
  return and(eq(table.user_id, accountId), table.deleted_at && isNull(table.deleted_at));
}

/** The condition for the row with this identifier, provided it belongs to the caller and is not deleted. */
export function ownedRecord(table: OwnedTable, id: unknown, accountId: number): SQL | undefined {
  return and(eq(table.id, recordId(id)), ownedBy(table, accountId));
}

/** Returns true if the account has the record with this identifier in a table. */
export function isOwned(db: Db, table: OwnedTable, id: unknown, accountId: number): boolean {
  return db.get(sql`SELECT 1 FROM ${table} WHERE ${ownedRecord(table, id, accountId)}`) !== undefined;
}

/**
 * Returns identifiers as ids without repeats. Throws `failure` if there are no identifiers or if a record does not satisfy `condition`,
 * because a bulk operation applies to all of its records or to none. Other requests are answered after every 2 000 ids.
 */
export async function requireOwnedIds(
  db: Db,
  table: OwnedTable,
  values: readonly unknown[] | undefined,
  condition: SQL | undefined,
  failure: Failure,
): Promise<number[]> {
  const ids = [...new Set((values ?? []).map(recordId))];
  if (ids.length === 0 || ids.includes(0)) throw failure;
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
    if (at > 0) await setImmediate();
    const batch = ids.slice(at, at + IDS_AT_ONCE);
    const { owned } = db.get<{ owned: number }>(
      sql`SELECT count(*) AS owned FROM ${table} WHERE ${table.id} IN (SELECT value FROM json_each(${JSON.stringify(batch)})) AND ${condition}`,
    );
    if (owned !== batch.length) throw failure;
  }
  return ids;
}
