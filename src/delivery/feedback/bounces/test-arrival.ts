/**
 * A mail that the service sends to itself to see whether returned mail arrives. Its address is a return path of no delivery, signed like
 * the others and good for some minutes, and nothing is kept of it but that it came.
 */
import type { Database } from 'better-sqlite3';
import { findNamedValue, writeNamedValue } from '../../../database/named-values.ts';
import { parseReturnPath, returnPath } from '../../links/return-paths.ts';
import { ownReturnPathKeys } from '../../links/secrets.ts';

/** Signed in place of a recipient's address; it is none, so no delivery has this return path. */
const SIGNED = 'test-of-returned-mail';
const GOOD_FOR_MS = 10 * 60_000;
const ARRIVED = 'returned_test_arrived';

/** The address of a test that begins at `at`, epoch milliseconds. */
export function testReturnPath(client: Database, domain: string, at: number): string {
  return returnPath(ownReturnPathKeys(client)[0] ?? '', { id: at, email: SIGNED }, domain, 'test');
}

/** Gives when the test with this address began; null if it is none of ours or too old at `now`, both epoch milliseconds. */
export function readTestReturnPath(keys: readonly string[], rcpt: string, now: number): number | null {
  const at = parseReturnPath(keys, { findEmail: () => SIGNED, unsignedUpTo: 0 }, rcpt);
  return at !== null && Math.abs(now - at) < GOOD_FOR_MS ? at : null;
}

/** Keeps that the mail of the test that began at `at` arrived. */
export function recordTestArrival(client: Database, at: number): void {
  writeNamedValue(client, ARRIVED, String(at));
}

/** Whether the mail of the test that began at `at` was the last to arrive. */
export function hasTestArrived(client: Database, at: number): boolean {
  return findNamedValue(client, ARRIVED) === String(at);
}
