/**
 * Addresses whose person was erased. Their row in `addresses` stays, because deliveries refer to it, but instead of the address it has a
 * keyed hash of it: nobody can read the address from that, and it is recognised when somebody wants to add it again.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { addNamedValue, findNamedValue } from '../../database/named-values.ts';
import { parseAddress } from './addresses.ts';

const PREFIX = 'erased:';
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
      .prepare<[number], string>(
        `SELECT normalized_email FROM addresses WHERE user_id = ? AND normalized_email >= '${PREFIX}' AND normalized_email < 'erased;'`,
      )
      .pluck()
      .all(accountId),
  );
  return (normalized) => key !== null && forms.size > 0 && forms.has(formWith(key, accountId, normalized));
}

/** Whether this address, in any spelling, was erased. False for a text that is not an address. */
export function isErased(client: Database, accountId: number, email: string | undefined): boolean {
  return email !== undefined && findErasedId(client, accountId, email) !== undefined;
}

/** The id of the row that an erased address left, in any spelling; undefined for one that was not erased, or is no address. */
export function findErasedId(client: Database, accountId: number, email: string): number | undefined {
  const key = findNamedValue(client, KEY);
  const normalized = parseAddress(email)?.normalized;
  if (key === null || normalized === undefined) return undefined;
  return client
    .prepare<[number, string], number>('SELECT id FROM addresses WHERE user_id = ? AND normalized_email = ?')
    .pluck()
    .get(accountId, formWith(key, accountId, normalized));
}
