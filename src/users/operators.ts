/**
 * Operators: the people who answer for the installation as a whole, its relays, backups and held sending. They are the owners of the
 * account that the first start makes. Owners of other accounts are guests of the installation; a pair of keys is no person.
 */
import { FIRST_ACCOUNT } from '../database/accounts.ts';
import type { SignedInUser } from './sessions.ts';

/** Whether a signed-in person is an operator. */
export function isOperator({ accountId, role }: Pick<SignedInUser, 'accountId' | 'role'>): boolean {
  return accountId === FIRST_ACCOUNT && role === 'owner';
}
