/** Applies a bulk action to some contacts, and undoes it. Call inside the transaction that updates the job's progress. */
import { sql } from 'drizzle-orm';
import type { Db } from '../../database/open.ts';
import type { contactJobs, contacts } from '../../database/schema/index.ts';
import { parseAddress } from '../contacts/addresses.ts';
import { deleteContacts, recordMoves } from '../contacts/contacts.ts';
import { syncTypeChange } from '../segments/membership.ts';
import { addContactsToSegment } from '../segments/segments.ts';
import { addUnsubscribers } from '../unsubscribes.ts';

/** A stored bulk action with its progress. */
export type Job = typeof contactJobs.$inferSelect;

type Row = Pick<typeof contacts.$inferSelect, 'id' | 'contact_type_id' | 'address_id' | 'email'>;

interface ChangedContact {
  id: number;
  /** The id of the contact type before a move; null for other actions. */
  typeBefore: number | null;
}

/** Applies the job's action to these contacts, except those to which it cannot be applied. Returns the contacts that it changed. */
export function applyAction(db: Db, job: Job, ids: readonly number[], now: string): ChangedContact[] {
  const rows = liveContacts(db, job.user_id, ids);
  if (rows.length === 0) return [];
  const liveIds = rows.map(({ id }) => id);
  const applied = liveIds.map((id) => ({ id, typeBefore: null }));
  const target = job.target_id ?? 0;
  switch (job.action) {
    case 'delete':
      // All contacts get the job's creation time as their time of deletion, by which `restoreContacts` finds them.
      deleteContacts(db, liveIds, job.created_at);
      return applied;
    case 'unsubscribe':
      addUnsubscribers(
        db,
        { accountId: job.user_id, groupId: job.target_id, source: 'api', now },
        rows.flatMap(({ email }) => parseAddress(email) ?? []),
      );
      return applied;
    case 'segment':
      // The segment may have been deleted since the job began.
      return addContactsToSegment(db, job.user_id, target, liveIds, now) ? applied : [];
    case 'move':
      return moveContacts(
        db,
        job.user_id,
        rows.map((row) => ({ row, to: target })),
        now,
      );
  }
}

/** Undoes the job's action for these contacts, which it changed. Returns the number of contacts that are as before now. */
export function revertAction(db: Db, job: Job, items: readonly ChangedContact[], now: string): number {
  const before = new Map(items.map(({ id, typeBefore }) => [id, typeBefore]));
  if (job.action === 'delete') return restoreContacts(db, job, [...before.keys()], now);
  const moves = liveContacts(db, job.user_id, [...before.keys()])
    .filter((row) => row.contact_type_id === job.target_id)
    .map((row) => ({ row, to: before.get(row.id) ?? 0 }));
  return moveContacts(db, job.user_id, moves, now).length;
}

/** Returns the contacts of the account among `ids`, except those that are deleted or whose contact type is deleted. */
function liveContacts(db: Db, accountId: number, ids: readonly number[]): Row[] {
  return db.all<Row>(sql`
    SELECT c.id, c.contact_type_id, c.address_id, c.email FROM json_each(${JSON.stringify(ids)}) i CROSS JOIN contacts c ON c.id = i.value
    WHERE c.user_id = ${accountId} AND c.deleted_at IS NULL
      AND EXISTS (SELECT 1 FROM contact_types t WHERE t.id = c.contact_type_id AND t.deleted_at IS NULL)`);
}

/** Moves contacts (ids) of an account to another type, as the bulk action does. Call inside a transaction. */
export function moveToType(db: Db, accountId: number, ids: readonly number[], to: number, now: string): void {
  const moves = liveContacts(db, accountId, ids).map((row) => ({ row, to }));
  moveContacts(db, accountId, moves, now);
}

/** Moves contacts to other types, unless the type is deleted or has a contact with the same address. Returns the contacts that it moved. */
function moveContacts(
  db: Db,
  accountId: number,
  moves: readonly { row: Row; to: number }[],
  now: string,
): ChangedContact[] {
  const json = JSON.stringify(moves.map(({ row, to }) => ({ id: row.id, to })));
  const changedRows = db.all<{ id: number }>(sql`
    UPDATE OR IGNORE contacts SET contact_type_id = m.value ->> 'to', updated_at = ${now} FROM json_each(${json}) m
    WHERE contacts.id = m.value ->> 'id' AND contact_type_id <> m.value ->> 'to'
      AND EXISTS (SELECT 1 FROM contact_types t WHERE t.id = m.value ->> 'to' AND t.user_id = ${accountId} AND t.deleted_at IS NULL)
    RETURNING contacts.id`);
  const ids = new Set(changedRows.map(({ id }) => id));
  const moved = moves.filter(({ row }) => ids.has(row.id));
  recordMoves(
    db,
    moved.map(({ row, to }) => ({ contact: row.id, from: row.contact_type_id, to })),
    now,
  );
  for (const [type, left] of Map.groupBy(moved, ({ row }) => row.contact_type_id))
    syncTypeChange(db, type, 'left', rowsOf(left), now);
  for (const [type, joined] of Map.groupBy(moved, ({ to }) => to))
    syncTypeChange(db, type, 'joined', rowsOf(joined), now);
  return moved.map(({ row }) => ({ id: row.id, typeBefore: row.contact_type_id }));
}

/**
 * Restores contacts that the job deleted, unless their type is deleted or has a new contact with their address. Returns the number of
 * restored contacts.
 */
function restoreContacts(db: Db, job: Job, ids: readonly number[], now: string): number {
  const restored = db.$client
    .prepare<unknown[], Row>(`
      UPDATE OR IGNORE contacts SET deleted_at = NULL WHERE id IN (SELECT value FROM json_each(@ids)) AND deleted_at = @at
        AND EXISTS (SELECT 1 FROM contact_types t WHERE t.id = contact_type_id AND t.deleted_at IS NULL)
      RETURNING id, contact_type_id, address_id, email`)
    .all({ ids: JSON.stringify(ids), at: job.created_at });
  for (const [type, rows] of Map.groupBy(restored, (row) => row.contact_type_id))
    syncTypeChange(db, type, 'joined', rows, now);
  return restored.length;
}

const rowsOf = (moves: readonly { row: Row }[]) => moves.map(({ row }) => row);
