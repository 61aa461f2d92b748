/** The suppression list of an account: addresses that get no more mail because an earlier one bounced or its recipient complained. */
import type { Database } from 'better-sqlite3';

export interface Suppression {
  user_id: number;
  address_id: number;
  kind: 'bounce' | 'complaint';
  /** One sanitized line for the owner. */
  diagnostic: string;
  /** ISO timestamp. */
  created_at: string;
}

/** Puts an address on the list. One that is already there stays as it is. */
export function suppressAddress(client: Database, suppression: Suppression): void {
  client
    .prepare<Suppression>(`
      INSERT INTO suppressions (user_id, address_id, kind, diagnostic, created_at)
      VALUES (@user_id, @address_id, @kind, @diagnostic, @created_at) ON CONFLICT DO NOTHING`)
    .run(suppression);
}

/** Takes an entry off the list. The caller has checked that it belongs to the account. */
export function removeSuppression(client: Database, id: number): void {
  client.prepare('DELETE FROM suppressions WHERE id = ?').run(id);
}

/** Why an address of the account is suppressed; null if it is not. */
export function findSuppressionReason(client: Database, accountId: number, addressId: number): string | null {
  const reason = client
    .prepare<[number, number], string>(
      "SELECT kind || ': ' || diagnostic FROM suppressions WHERE address_id = ? AND user_id = ?",
    )
    .pluck()
    .get(addressId, accountId);
  return reason ?? null;
}

/** Removes what the list says about an address, for a person who is erased. */
export function eraseSuppression(client: Database, addressId: number): void {
  client.prepare('DELETE FROM suppressions WHERE address_id = ?').run(addressId);
}
