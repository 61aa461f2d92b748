/** What undoes an import stays with the person it is about, so that erasing them finds it. */
import type { Database } from 'better-sqlite3';
import { prepared } from '../../../database/prepared.ts';

/** Moves the records of a contact to its corrected address (ids of addresses). Call inside the transaction of the correction. */
export function readdressRecords(
  client: Database,
  correction: { account: number; contact: number; from: number; to: number },
): void {
  prepared(
    client,
    `UPDATE OR REPLACE import_changes SET address_id = @to
     WHERE import_id IN (SELECT id FROM contact_imports WHERE user_id = @account AND undo_until IS NOT NULL) AND address_id = @from
       AND ((kind = 'contact' AND row_id = @contact) OR (kind = 'member' AND before ->> 'contact_id' = @contact))`,
  ).run(correction);
}
