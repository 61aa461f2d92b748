/** The lists and segments that a person is on. */
import type { Database } from 'better-sqlite3';
import { findSuppressionReason } from '../audience/suppressions.ts';
import { listUnsubscriptions, type Unsubscription } from '../audience/unsubscribes.ts';

export interface PersonLists {
  unsubscribed: Unsubscription[];
  segments: { segment_id: number; segment_name: string; by_hand: 0 | 1 }[];
  /** Why the address is suppressed; null when it is not. */
  suppression: string | null;
}

/** Reads what an address of the account is on. */
export function personLists(client: Database, accountId: number, addressId: number): PersonLists {
  const segments = client
    .prepare<[number, number], PersonLists['segments'][number]>(`
      SELECT s.id AS segment_id, s.segment_name, r.by_hand
      FROM segments s CROSS JOIN segment_recipients r ON r.segment_id = s.id AND r.address_id = ? AND r.is_removed = 0
      WHERE s.user_id = ? AND s.deleted_at IS NULL ORDER BY s.id`)
    .all(addressId, accountId);
  return {
    unsubscribed: listUnsubscriptions(client, accountId, addressId),
    segments,
    suppression: findSuppressionReason(client, accountId, addressId),
  };
}
