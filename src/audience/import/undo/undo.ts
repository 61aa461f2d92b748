/** Undoing imports: whether one can be undone, and asking for it. The background thread does the work (work.ts). */
import type { Db } from '../../../database/open.ts';
import { prepared } from '../../../database/prepared.ts';
import type { contactImports } from '../../../database/schema/index.ts';
import { conflict, notFound } from '../../../errors/failure.ts';
import { sentence } from '../../../errors/sentences.ts';

/** How long an import can be undone after it began: 30 days. */
export const UNDO_MS = 30 * 86_400_000;

/**
 * So many changes of contacts are kept for undoing the imports of an account, so that importing the same people every night does not fill
 * the disk with what they were. The newest import can be undone in any case.
 */
const MAX_KEPT_CHANGES = 1_000_000;

/** Ends the time for undoing older imports of an account where newer ones have changed too many contacts since. */
export function limitUndo(db: Db, accountId: number, now: string, most = MAX_KEPT_CHANGES): void {
  prepared(
    db.$client,
    `UPDATE contact_imports SET undo_until = @now WHERE id IN (
       SELECT id FROM (SELECT id, state, sum(updated) OVER (ORDER BY id DESC) AS changed, row_number() OVER (ORDER BY id DESC) AS place
         FROM contact_imports WHERE user_id = @account AND undo_until > @now)
       WHERE changed > @most AND place > 1 AND state <> 'undoing')`,
  ).run({ account: accountId, now, most });
}

/** An import that is being undone. */
export interface Undone {
  id: number;
  user_id: number;
  contact_type_id: number;
  /** The ISO timestamp that the import gave its contacts; whoever has another one was changed since. */
  written_at: string;
}

/** What a transaction did to so many contacts. */
export interface UndoCounts {
  removed: number;
  restored: number;
  kept: number;
}

type State = Pick<typeof contactImports.$inferSelect, 'state' | 'undo_until'>;

/** Whether an import can be undone at this moment, an ISO timestamp, as SQL about a row of contact_imports. */
export function isUndoable(now: string): string {
  return `(state IN ('writing', 'done') AND undo_until IS NOT NULL AND undo_until > ${now}
    AND EXISTS (SELECT 1 FROM contact_types t WHERE t.id = contact_imports.contact_type_id AND t.deleted_at IS NULL))`;
}

/**
 * Takes back what an import did, in the background. One that still runs ends. Throws 404, and 409 when it cannot be undone or no
 * longer. `now` is an ISO timestamp.
 */
export function undoImport(db: Db, accountId: number, id: number, now: string): void {
  const owned = prepared<[number, number], State>(
    db.$client,
    'SELECT state, undo_until FROM contact_imports WHERE id = ? AND user_id = ?',
  );
  if (owned.get(id, accountId) === undefined) throw notFound();
  const { changes } = prepared(
    db.$client,
    `UPDATE contact_imports SET state = 'undoing' WHERE id = @id AND user_id = @account AND ${isUndoable('@now')}`,
  ).run({ id, account: accountId, now });
  if (changes === 0) throw conflict(sentence('import_final'));
}
