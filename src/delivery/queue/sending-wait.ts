/**
 * Why mail that is due waits although nothing is held: no sender node can take it. The service finds it out and takes it back by itself,
 * so nobody can release it.
 */
import type { Database } from 'better-sqlite3';
import { findNamedValue, removeNamedValue, writeNamedValue } from '../../database/named-values.ts';

const NAME = 'mail_waits';

/** The sentence, or null when mail leaves. */
export function mailWaitsReason(client: Database): string | null {
  return findNamedValue(client, NAME);
}

/** Notes why mail waits, or with null that it leaves; true when that is news. */
export function noteMailWaits(client: Database, reason: string | null): boolean {
  if (mailWaitsReason(client) === reason) return false;
  if (reason === null) removeNamedValue(client, NAME);
  else writeNamedValue(client, NAME, reason);
  return true;
}
