/**
 * Erased addresses. The row of an erased contact in `addresses` stays, but has a keyed hash in place of the address. Nobody can read the
 * address from the hash, but it is recognized when somebody tries to add it again.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { addNamedValue, findNamedValue, writeNamedValue } from '../../database/named-values.ts';
import { addressesIn, parseAddress } from './addresses.ts';

const PREFIX = 'erased:';
/** SQL condition for rows of erased addresses. It is a range of the unique index: `;` is the character after `:`. */
export const IS_ERASED = `normalized_email >= '${PREFIX}' AND normalized_email < 'erased;'`;
/** The named value with the key of the hashes. */
const KEY_NAME = 'erasure_key';
/** The named value with the number of addresses that were erased when the database file was last rewritten. */
const ERASED_AT_REWRITE = 'rewritten_after_erased';

/** Returns the text that replaces an erased address. The first erasure creates the key. */
export function erasedForm(client: Database, accountId: number, normalized: string): string {
  addNamedValue(client, KEY_NAME, randomBytes(32).toString('hex'));
  return erasedFormWith(String(findNamedValue(client, KEY_NAME)), accountId, normalized);
}

function erasedFormWith(key: string, accountId: number, normalized: string): string {
  return PREFIX + createHmac('sha256', Buffer.from(key, 'hex')).update(`${accountId}:${normalized}`).digest('hex');
}

/**
 * Returns true if an address was erased since the database file was last rewritten. SQLite overwrites removed content. But if it
 * had moved the row to another page before, a copy may be left in the unused part of the old page.
 */
export function mayHaveErasedCopies(client: Database): boolean {
  return Number(findNamedValue(client, ERASED_AT_REWRITE)) !== countAllErased(client);
}

/** Records that the database file was rewritten, and so contains no copy of the addresses erased so far. */
export function recordRewritten(client: Database): void {
  writeNamedValue(client, ERASED_AT_REWRITE, String(countAllErased(client)));
}

function countAllErased(client: Database): number {
  // CROSS JOIN makes each account a range of the unique index.
  const query = `SELECT count(*) FROM accounts CROSS JOIN addresses a ON a.user_id = accounts.id AND ${IS_ERASED}`;
  return Number(client.prepare(query).pluck().get());
}

/** Returns a function that tells whether a normalized address was erased in this account. The function costs nothing if no address was erased. */
export function erasedTest(client: Database, accountId: number): (normalized: string) => boolean {
  const key = findNamedValue(client, KEY_NAME);
  const forms = new Set(
    client
      .prepare<[number], string>(`SELECT normalized_email FROM addresses WHERE user_id = ? AND ${IS_ERASED}`)
      .pluck()
      .all(accountId),
  );
  return (normalized) => key !== null && forms.size > 0 && forms.has(erasedFormWith(key, accountId, normalized));
}

/**
 * Returns how many addresses of this account were erased. The number only grows, so a caller that read addresses earlier sees
 * from it whether to check them again.
 */
export function countErasedAddresses(client: Database, accountId: number): number {
  const count = client.prepare<[number], { count: number }>(
    `SELECT count(*) AS count FROM addresses WHERE user_id = ? AND ${IS_ERASED}`,
  );
  return count.get(accountId)?.count ?? 0;
}

/** Returns the accounts with erased addresses. */
export function accountsWithErased(client: Database): number[] {
  const query = `SELECT id FROM accounts WHERE EXISTS (SELECT 1 FROM addresses a WHERE a.user_id = accounts.id AND ${IS_ERASED})`;
  return client
    .prepare<[], { id: number }>(query)
    .all()
    .map(({ id }) => id);
}

/** Returns true if this address, in any spelling, was erased. Returns false for a text that is not an address. */
export function isErased(client: Database, accountId: number, email: string | undefined): boolean {
  return email !== undefined && findErasedId(client, accountId, email) !== undefined;
}

/** Returns true if one of these texts contains an erased address, alone or among other words. */
export function namesErased(client: Database, accountId: number, texts: readonly string[]): boolean {
  return erasedRows(client, accountId, texts.flatMap(addressesIn)).length > 0;
}

/** Returns the id of the row of an erased address, in any spelling; undefined if the text is not an address or was not erased. */
export function findErasedId(client: Database, accountId: number, email: string): number | undefined {
  const normalized = parseAddress(email)?.normalized;
  return normalized === undefined ? undefined : erasedRows(client, accountId, [normalized])[0]?.id;
}

/** Returns the normalized addresses in `normalized` that were erased. */
export function erasedAmong(client: Database, accountId: number, normalized: readonly string[]): string[] {
  return erasedRows(client, accountId, normalized).map((row) => row.normalized);
}

/** Returns true if this row of `addresses` belongs to an erased address. */
export function isErasedRow(client: Database, addressId: number): boolean {
  return client.prepare(`SELECT 1 FROM addresses WHERE id = ? AND ${IS_ERASED}`).get(addressId) !== undefined;
}

/** Returns the rows of the erased addresses among these normalized ones. The function costs nothing if no address was ever erased. */
function erasedRows(
  client: Database,
  accountId: number,
  addresses: readonly string[],
): { id: number; normalized: string }[] {
  const key = findNamedValue(client, KEY_NAME);
  if (key === null) return [];
  const forms = addresses.map((normalized) => [normalized, erasedFormWith(key, accountId, normalized)]);
  return client
    .prepare<[{ account: number; forms: string }], { id: number; normalized: string }>(`
       SELECT a.id, value ->> 0 AS normalized FROM json_each(@forms)
       CROSS JOIN addresses a ON a.user_id = @account AND a.normalized_email = value ->> 1`)
    .all({ account: accountId, forms: JSON.stringify(forms) });
}
