/**
 * The rows of `addresses`: one for each normalized e-mail address of an account, to which contacts, deliveries and lists refer. The row of a
 * person who was erased stays, but instead of the address it has a keyed hash of it: nobody can read the address from that, and it is
 * recognised when somebody wants to add it again.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { addNamedValue, findNamedValue, writeNamedValue } from '../../database/named-values.ts';
import type { Db } from '../../database/open.ts';
import { prepared } from '../../database/prepared.ts';
import { conflict } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import { type Address, addressesIn, parseAddress } from './addresses.ts';

const PREFIX = 'erased:';
/** The condition for rows of `addresses` whose person was erased; in the order of the unique index. */
const IS_ERASED = `normalized_email >= '${PREFIX}' AND normalized_email < 'erased;'`;
const KEY = 'erasure_key';
/** How many had been erased when the file was last written anew. */
const REWRITTEN = 'rewritten_after_erased';

/** What an erased address has instead of its normalized form. The key is made with the first erasure. */
export function erasedForm(client: Database, accountId: number, normalized: string): string {
  addNamedValue(client, KEY, randomBytes(32).toString('hex'));
  return formWith(String(findNamedValue(client, KEY)), accountId, normalized);
}

function formWith(key: string, accountId: number, normalized: string): string {
  return PREFIX + createHmac('sha256', Buffer.from(key, 'hex')).update(`${accountId}:${normalized}`).digest('hex');
}

/**
 * Whether somebody was erased since the file was last written anew. SQLite overwrites what is removed, but where it moved rows to another
 * page before, it can have left a copy in the unused part of the old one.
 */
export function mayHaveErasedCopies(client: Database): boolean {
  return Number(findNamedValue(client, REWRITTEN)) !== countAllErased(client);
}

/** Notes that the file was written anew, after which nothing of those erased so far is in it. */
export function noteRewritten(client: Database): void {
  writeNamedValue(client, REWRITTEN, String(countAllErased(client)));
}

function countAllErased(client: Database): number {
  // CROSS JOIN makes each account a range of the unique index.
  const sql = `SELECT count(*) FROM accounts CROSS JOIN addresses a ON a.user_id = accounts.id AND ${IS_ERASED}`;
  return Number(client.prepare(sql).pluck().get());
}

/** Says whether a normalized address was erased in this account. Without erased addresses it costs nothing. */
export function erasedTest(client: Database, accountId: number): (normalized: string) => boolean {
  const key = findNamedValue(client, KEY);
  const forms = new Set(
    client
      .prepare<[number], string>(`SELECT normalized_email FROM addresses WHERE user_id = ? AND ${IS_ERASED}`)
      .pluck()
      .all(accountId),
  );
  return (normalized) => key !== null && forms.size > 0 && forms.has(formWith(key, accountId, normalized));
}

/** How many addresses of this account were erased. It only grows, so that whoever read addresses before can see whether to check them again. */
export function countErased(client: Database, accountId: number): number {
  const count = prepared<[number], { count: number }>(
    client,
    `SELECT count(*) AS count FROM addresses WHERE user_id = ? AND ${IS_ERASED}`,
  );
  return count.get(accountId)?.count ?? 0;
}

/** The accounts of which somebody was erased. */
export function accountsWithErased(client: Database): number[] {
  const sql = `SELECT id FROM accounts WHERE EXISTS (SELECT 1 FROM addresses a WHERE a.user_id = accounts.id AND ${IS_ERASED})`;
  return prepared<[], { id: number }>(client, sql)
    .all()
    .map(({ id }) => id);
}

/** Whether this address, in any spelling, was erased. False for a text that is not an address. */
export function isErased(client: Database, accountId: number, email: string | undefined): boolean {
  return email !== undefined && findErasedId(client, accountId, email) !== undefined;
}

/** Whether one of these texts names an erased address, alone or among other words. */
export function namesErased(client: Database, accountId: number, texts: readonly string[]): boolean {
  return erasedRows(client, accountId, texts.flatMap(addressesIn)).length > 0;
}

/** The id of the row that an erased address left, in any spelling; undefined for one that was not erased, or is no address. */
export function findErasedId(client: Database, accountId: number, email: string): number | undefined {
  const normalized = parseAddress(email)?.normalized;
  return normalized === undefined ? undefined : erasedRows(client, accountId, [normalized])[0]?.id;
}

/** Those of these addresses whose person was not erased. */
function withoutErased(client: Database, accountId: number, addresses: readonly Address[]): readonly Address[] {
  const rows = erasedRows(
    client,
    accountId,
    addresses.map(({ normalized }) => normalized),
  );
  const erased = new Set(rows.map(({ normalized }) => normalized));
  return rows.length === 0 ? addresses : addresses.filter(({ normalized }) => !erased.has(normalized));
}

/** Those of these normalized addresses whose person was erased. */
export function erasedAmong(client: Database, accountId: number, normalized: readonly string[]): string[] {
  return erasedRows(client, accountId, normalized).map((row) => row.normalized);
}

/** Whether the person of this row of `addresses` was erased. */
export function isErasedRow(client: Database, addressId: number): boolean {
  return prepared(client, `SELECT 1 FROM addresses WHERE id = ? AND ${IS_ERASED}`).get(addressId) !== undefined;
}

/** The rows that those of these normalized addresses left which were erased. Costs nothing while nobody was ever erased. */
function erasedRows(
  client: Database,
  accountId: number,
  addresses: readonly string[],
): { id: number; normalized: string }[] {
  const key = findNamedValue(client, KEY);
  if (key === null) return [];
  const forms = addresses.map((normalized) => [normalized, formWith(key, accountId, normalized)]);
  return prepared<[{ account: number; forms: string }], { id: number; normalized: string }>(
    client,
    `SELECT a.id, value ->> 0 AS normalized FROM json_each(@forms)
       CROSS JOIN addresses a ON a.user_id = @account AND a.normalized_email = value ->> 1`,
  ).all({ account: accountId, forms: JSON.stringify(forms) });
}

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
