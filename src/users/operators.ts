/**
 * Operators: the users responsible for the whole installation, its relays, backups and held sending. They are the owners of the
 * account that the first start creates. Owners of other accounts are guests of the installation. A key pair is never an operator.
 */
import { FIRST_ACCOUNT } from '../database/accounts.ts';
import type { SignedInUser } from './sessions.ts';

/** Returns true if a signed-in user is an operator. */
export function isOperator({ accountId, role }: Pick<SignedInUser, 'accountId' | 'role'>): boolean {
  return accountId === FIRST_ACCOUNT && role === 'owner';
}
