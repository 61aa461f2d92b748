/** Where rules of segments and filters of actions name an address as a text. */
import type { Database } from 'better-sqlite3';
import { addressesIn, replaceAddress, spellings } from '../audience/contacts/addresses.ts';

/** Columns of an account's rows that can name an address; each holds JSON, in which an address stands as it is. */
const TEXTS = [
  { table: 'segments', columns: ['value', 'rules'] },
  { table: 'contact_jobs', columns: ['filter', 'place'] },
] as const;

export interface NamingSegment {
  segment_id: number;
  segment_name: string;
}

/** The segments of the account, those not deleted, whose rules name one of these normalized addresses. */
export function segmentsNaming(client: Database, accountId: number, addresses: readonly string[]): NamingSegment[] {
  const segments = client
    .prepare<[number], NamingSegment & { rules: string }>(
      'SELECT id AS segment_id, segment_name, rules FROM segments WHERE user_id = ? AND deleted_at IS NULL ORDER BY id',
    )
    .all(accountId);
  return segments.flatMap(({ rules, ...segment }) =>
    addressesIn(rules).some((address) => addresses.includes(address)) ? [segment] : [],
  );
}

/**
 * Puts a code in the place of a normalized address wherever a rule or filter of the account names it. No contact has the code as its
 * address, as none has that of the erased person, so that every segment keeps the people it has. Call it in the transaction of the erasure.
 */
export function replaceInRules(client: Database, accountId: number, address: string, code: string): void {
  for (const { table, columns } of TEXTS)
    for (const column of columns) {
      const rows = client
        .prepare<[number, string], { id: number; text: string }>(
          `SELECT id, ${column} AS text FROM ${table} WHERE user_id = ? AND EXISTS (
             SELECT 1 FROM json_each(?) WHERE instr(fold(${column}), value) > 0)`,
        )
        .all(accountId, JSON.stringify(spellings(address)));
      const update = client.prepare(`UPDATE ${table} SET ${column} = ? WHERE id = ?`);
      for (const { id, text } of rows) update.run(replaceAddress(text, address, code), id);
    }
}
