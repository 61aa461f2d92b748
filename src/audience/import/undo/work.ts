/**
 * Undoes imports in short transactions. Each removes what it has used of the records of the import, so that a kill loses nothing and
 * nothing is done twice. The records of an import are removed when it can no longer be undone.
 */

import { inChunks } from '../../../database/bulk.ts';
import type { Db } from '../../../database/open.ts';
import { prepared } from '../../../database/prepared.ts';
import { isTransientSqliteError } from '../../../database/sqlite-errors.ts';
import { type Clock, isoTimestamp } from '../../../time/clock.ts';
import { removeAdded } from './added.ts';
import { restorePeople } from './people.ts';
import type { Undone } from './undo.ts';

/** How long one call of `continueUndos` works. */
const BACKGROUND_MS = 30;
/** So many records that are no longer needed are removed in one transaction. */
const FORGOTTEN = 1000;
const RECORDS = ['import_changes', 'import_added', 'import_kept'];

/** The account whose import was worked on last. The next turn goes to the one after it. */
let lastAccount = 0;

/**
 * Goes on with undoing an account's newest import that is to be undone, for a short time; gives whether there is more to do. An undo
 * that fails is reported to `onFailure` and ends; it can be asked for again. Throws when the disk fails.
 */
export async function continueUndos(
  db: Db,
  clock: Clock,
  isHeld: boolean,
  onFailure: (id: number, error: unknown) => void,
): Promise<boolean> {
  // Of two imports the later one is undone first, since it has what the earlier one wrote as the state before.
  const next = prepared<[number], Undone>(
    db.$client,
    `SELECT id, user_id, contact_type_id, written_at FROM contact_imports WHERE state = 'undoing'
     ORDER BY user_id < ?, user_id, id DESC LIMIT 1`,
  );
  const account = next.get(lastAccount + 1)?.user_id;
  // Not while sending is held: one cause is a clock that is wrong, by which everything may seem old.
  if (account === undefined) return !isHeld && forgetOld(db, clock);
  lastAccount = account;
  const until = performance.now() + BACKGROUND_MS;
  await inChunks(db.$client, () => {
    const undone = next.get(account);
    if (undone?.user_id !== account) return false;
    try {
      db.$client.transaction(() => step(db, undone, isoTimestamp(clock.now())))();
    } catch (error) {
      if (isTransientSqliteError(error)) throw error;
      setState(db, undone.id, 'done');
      onFailure(undone.id, error);
    }
    return performance.now() < until;
  });
  return next.get(account) !== undefined;
}

/** Takes back what the import changed for some people, then removes those it added, then ends. */
function step(db: Db, undone: Undone, now: string): void {
  const counts = restorePeople(db, undone, now) ?? removeAdded(db, undone, now);
  if (counts === null) {
    setState(db, undone.id, 'undone');
    return;
  }
  prepared(
    db.$client,
    `UPDATE contact_imports SET removed = removed + @removed, restored = restored + @restored, kept = kept + @kept WHERE id = @id`,
  ).run({ ...counts, id: undone.id });
}

function setState(db: Db, id: number, state: 'done' | 'undone'): void {
  prepared(db.$client, 'UPDATE contact_imports SET state = ? WHERE id = ?').run(state, id);
}

/** Removes some records of an import that can no longer be undone; gives whether there may be more. */
function forgetOld(db: Db, clock: Clock): boolean {
  const id = prepared<[string], number>(
    db.$client,
    `SELECT id FROM contact_imports WHERE undo_until IS NOT NULL AND undo_until < ? AND state <> 'undoing' LIMIT 1`,
  )
    .pluck()
    .get(isoTimestamp(clock.now()));
  if (id === undefined) return false;
  for (const table of RECORDS) {
    const { changes } = prepared(
      db.$client,
      `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE import_id = ? LIMIT ${FORGOTTEN})`,
    ).run(id);
    if (changes > 0) return true;
  }
  prepared(db.$client, 'UPDATE contact_imports SET undo_until = NULL WHERE id = ?').run(id);
  return true;
}
