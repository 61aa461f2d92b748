/** The suppression list of an account: addresses that get no more mail because a mail bounced or its recipient complained. */
import type { Database } from 'better-sqlite3';
import type { Db } from '../database/open.ts';
import type { suppressions } from '../database/schema/index.ts';
import { type Sentence, sentence } from '../errors/sentences.ts';
import { readStored, stored } from '../errors/stored.ts';
import { addAddresses } from './contacts/address-rows.ts';
import type { Address } from './contacts/addresses.ts';
import { isErasedRow } from './contacts/erased-addresses.ts';

type Suppression = Omit<typeof suppressions.$inferSelect, 'id'>;

/**
 * Adds an address to the suppression list. An existing entry stays unchanged. An erased address gets no entry, because it gets
 * no mail anyway.
 */
export function suppressAddress(client: Database, suppression: Suppression): void {
  if (isErasedRow(client, suppression.address_id)) return;
  client
    .prepare(`
      INSERT INTO suppressions (user_id, address_id, kind, diagnostic, created_at)
      VALUES (@user_id, @address_id, @kind, @diagnostic, @created_at) ON CONFLICT DO NOTHING`)
    .run({ ...suppression, diagnostic: stored(suppression.diagnostic) });
}

/** Adds addresses of an account to the suppression list, inside a transaction. Existing entries stay unchanged. */
export function suppressAddresses(
  db: Db,
  suppression: Omit<Suppression, 'address_id'>,
  addresses: readonly Address[],
): void {
  addAddresses(db, suppression.user_id, addresses);
  db.$client
    .prepare(`
      INSERT INTO suppressions (user_id, address_id, kind, diagnostic, created_at)
      SELECT @user_id, a.id, @kind, @diagnostic, @created_at FROM json_each(@given)
        CROSS JOIN addresses a ON a.user_id = @user_id AND a.normalized_email = value ->> 'normalized' WHERE true
      ON CONFLICT DO NOTHING`)
    .run({ ...suppression, diagnostic: stored(suppression.diagnostic), given: JSON.stringify(addresses) });
}

/** Removes an entry from the suppression list. The caller has checked that the entry belongs to the account. */
export function removeSuppression(client: Database, id: number): void {
  client.prepare('DELETE FROM suppressions WHERE id = ?').run(id);
}

/** Returns why an address of the account is suppressed; null if it is not. */
export function findSuppressionReason(client: Database, accountId: number, addressId: number): Sentence | null {
  const row = client
    .prepare<[number, number], { kind: Suppression['kind']; diagnostic: string }>(
      'SELECT kind, diagnostic FROM suppressions WHERE address_id = ? AND user_id = ?',
    )
    .get(addressId, accountId);
  return row === undefined ? null : sentence(`suppression_${row.kind}`, { diagnostic: readStored(row.diagnostic) });
}

/** Removes the suppression of an address, for a contact that is erased. */
export function eraseSuppression(client: Database, addressId: number): void {
  client.prepare('DELETE FROM suppressions WHERE address_id = ?').run(addressId);
}
