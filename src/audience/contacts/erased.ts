/**
 * Addresses whose person was erased. Their row in `addresses` stays, because deliveries refer to it, but instead of the address it has a
 * keyed hash of it: nobody can read the address from that, and it is recognised when somebody wants to add it again.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { addNamedValue, findNamedValue } from '../../database/named-values.ts';
import { prepared } from '../../database/prepared.ts';
import { type Address, parseAddress } from './addresses.ts';

const PREFIX = 'erased:';
/** The condition for rows of `addresses` whose person was erased; in the order of the unique index. */
const IS_ERASED = `normalized_email >= '${PREFIX}' AND normalized_email < 'erased;'`;
const KEY = 'erasure_key';

/** What an erased address has instead of its normalized form. The key is made with the first erasure. */
export function erasedForm(client: Database, accountId: number, normalized: string): string {
  addNamedValue(client, KEY, randomBytes(32).toString('hex'));
  return formWith(String(findNamedValue(client, KEY)), accountId, normalized);
}

function formWith(key: string, accountId: number, normalized: string): string {
  return PREFIX + createHmac('sha256', Buffer.from(key, 'hex')).update(`${accountId}:${normalized}`).digest('hex');
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

/** Whether this address, in any spelling, was erased. False for a text that is not an address. */
export function isErased(client: Database, accountId: number, email: string | undefined): boolean {
  return email !== undefined && findErasedId(client, accountId, email) !== undefined;
}

/** The id of the row that an erased address left, in any spelling; undefined for one that was not erased, or is no address. */
export function findErasedId(client: Database, accountId: number, email: string): number | undefined {
  const normalized = parseAddress(email)?.normalized;
  return normalized === undefined ? undefined : erasedIds(client, accountId)(normalized);
}

/** Those of these addresses whose person was not erased. */
export function withoutErased(client: Database, accountId: number, addresses: readonly Address[]): readonly Address[] {
  const findId = erasedIds(client, accountId);
  return addresses.filter(({ normalized }) => findId(normalized) === undefined);
}

/** Whether the person of this row of `addresses` was erased. */
export function isErasedRow(client: Database, addressId: number): boolean {
  return prepared(client, `SELECT 1 FROM addresses WHERE id = ? AND ${IS_ERASED}`).get(addressId) !== undefined;
}

/** Finds the row that an erased address left by the normalized address. Costs nothing while nobody was ever erased. */
function erasedIds(client: Database, accountId: number): (normalized: string) => number | undefined {
  const key = findNamedValue(client, KEY);
  const find = prepared<[number, string], { id: number }>(
    client,
    'SELECT id FROM addresses WHERE user_id = ? AND normalized_email = ?',
  );
  return (normalized) => (key === null ? undefined : find.get(accountId, formWith(key, accountId, normalized))?.id);
}
