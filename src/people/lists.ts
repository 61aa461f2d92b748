/** The lists and segments that a person is on. */
import type { Database } from 'better-sqlite3';

export interface PersonLists {
  /** The groups the person unsubscribed from; null as id: all mail. */
  unsubscribed: { unsubscribe_groups_id: number | null; group_name: string | null; created_at: string }[];
  segments: { segment_id: number; segment_name: string; by_hand: 0 | 1 }[];
  /** Why the address is suppressed; null when it is not. */
  suppression: string | null;
}

/** Reads what an address of the account is on. */
export function personLists(client: Database, accountId: number, addressId: number): PersonLists {
  const unsubscribed = client
    .prepare<[number, number], PersonLists['unsubscribed'][number]>(`
      SELECT u.unsubscribe_groups_id, g.group_name, u.created_at FROM unsubscribers u
      LEFT JOIN unsubscribe_groups g ON g.id = u.unsubscribe_groups_id
      WHERE u.address_id = ? AND u.user_id = ? ORDER BY u.id`)
    .all(addressId, accountId);
  const segments = client
    .prepare<[number, number], PersonLists['segments'][number]>(`
      SELECT s.id AS segment_id, s.segment_name, r.by_hand
      FROM segments s CROSS JOIN segment_recipients r ON r.segment_id = s.id AND r.address_id = ? AND r.is_removed = 0
      WHERE s.user_id = ? AND s.deleted_at IS NULL ORDER BY s.id`)
    .all(addressId, accountId);
  const suppression = client
    .prepare<[number, number], string>(
      "SELECT kind || ': ' || diagnostic FROM suppressions WHERE address_id = ? AND user_id = ?",
    )
    .pluck()
    .get(addressId, accountId);
  return { unsubscribed, segments, suppression: suppression ?? null };
}
