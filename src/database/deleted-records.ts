/** Deletes templates, forms and saved blocks so that an account can restore the last deleted one of each kind. */
import { and, eq, getTableName } from 'drizzle-orm';
import { notFound } from '../errors/failure.ts';
import type { Db } from './open.ts';
import { recordId } from './ownership.ts';
import { deletedRecords, type forms, type ownTemplates, type savedBlocks } from './schema/index.ts';

type Restorable = typeof forms | typeof ownTemplates | typeof savedBlocks;

/**
 * Deletes a record of a table, so that the account can restore it. The record of this table that the account deleted before can then no
 * longer be restored. Call inside a transaction.
 */
export function deleteRestorably(db: Db, table: Restorable, row: { id: number; user_id: number }): void {
  db.delete(table).where(eq(table.id, row.id)).run();
  const record = { record_id: row.id, content: JSON.stringify(row) };
  db.insert(deletedRecords)
    .values({ user_id: row.user_id, kind: getTableName(table), ...record })
    .onConflictDoUpdate({ target: [deletedRecords.user_id, deletedRecords.kind], set: record })
    .run();
}

/**
 * Restores the record of a table that the account deleted last, with the id it had. Throws 404 if the account has deleted another record of
 * the table since. Call inside a transaction.
 */
export function restoreDeleted(db: Db, table: Restorable, accountId: number, id: unknown): void {
  const where = and(
    eq(deletedRecords.user_id, accountId),
    eq(deletedRecords.kind, getTableName(table)),
    eq(deletedRecords.record_id, recordId(id)),
  );
  const deleted = db.delete(deletedRecords).where(where).returning().get();
  if (deleted === undefined) throw notFound('Record not found');
  db.insert(table).values(JSON.parse(deleted.content)).run();
}
