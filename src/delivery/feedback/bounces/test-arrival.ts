/**
 * The test whether returned mail arrives, for which the service sends a mail to itself. The return path of this mail belongs to no
 * delivery, is signed like other return paths, and is valid for some minutes. Only the arrival of the mail is recorded.
 */
import type { Database } from 'better-sqlite3';
import { findNamedValue, writeNamedValue } from '../../../database/named-values.ts';
import { MINUTE_MS } from '../../../units.ts';
import { parseReturnPath, returnPath } from '../../links/return-paths.ts';
import { ownReturnPathKeys } from '../../links/secrets.ts';

/**
 * The address that is signed in the return path, in place of a recipient's. No recipient has this address, so no delivery has this return
 * path.
 */
const SIGNED_ADDRESS = 'test-of-returned-mail';
/** How long the return path of a test is valid, in milliseconds. */
const VALID_MS = 10 * MINUTE_MS;
const ARRIVED_VALUE = 'returned_test_arrived';

/** Returns the return path for a test that begins at `at`, epoch milliseconds. */
export function testReturnPath(client: Database, domain: string, at: number): string {
  return returnPath(ownReturnPathKeys(client)[0] ?? '', { id: at, email: SIGNED_ADDRESS }, domain, 'test');
}

/**
 * Returns when the test with this return path began, in epoch milliseconds; null if the address is not such a return path, or if the test
 * is too old at `now`.
 */
export function readTestReturnPath(keys: readonly string[], rcpt: string, now: number): number | null {
  const at = parseReturnPath(keys, { findEmail: () => SIGNED_ADDRESS, unsignedUpTo: 0 }, rcpt);
  return at !== null && Math.abs(now - at) < VALID_MS ? at : null;
}

/** Records that the mail of the test that began at `at`, epoch milliseconds, arrived. */
export function recordTestArrival(client: Database, at: number): void {
  writeNamedValue(client, ARRIVED_VALUE, String(at));
}

/** Returns true if the mail of the test that began at `at`, epoch milliseconds, was the latest to arrive. */
export function hasTestArrived(client: Database, at: number): boolean {
  return findNamedValue(client, ARRIVED_VALUE) === String(at);
}
