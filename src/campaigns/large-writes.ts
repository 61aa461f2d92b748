/**
 * Writes to any number of single sends. SQLite writes the row of a single send as a whole, with up to 2 MiB of content. So the
 * ids are recorded first, and then the single sends are written one by one in short transactions. After a kill the next start
 * finishes the writes.
 */
import { and, eq, inArray, type SQL } from 'drizzle-orm';
import { finishItems, recordedWrites, recordWrite } from '../audience/unfinished-writes.ts';
import type { Db } from '../database/open.ts';
import { singleSends } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import type { Held } from '../delivery/queue/holds.ts';
import { commandMailing } from '../delivery/queue/mailing-state.ts';
import { readStored, stored } from '../errors/stored.ts';
import { findSingleSendMailing } from './single-sends.ts';
import { holdQueuedSends, queuedSends } from './status.ts';

/** The number of single sends written in one step, because a send can be large. */
const STEP_SENDS = 1;

/** A recorded single send that is to be written. Its `updated_at` tells whether it has changed since it was recorded. */
type RecordedSend = ReturnType<typeof queuedSends>[number];

/** Recorded single sends that are to be moved to draft. */
interface RecordedHold {
  sends: RecordedSend[];
  held_code: Held['held_code'];
  /** The reason in its stored form. */
  held_reason: string;
  /** An ISO timestamp. */
  now: string;
}

/**
 * Records that the queued sends that match `which` are to be moved to draft, with the reason. Call it inside the transaction of
 * the change that is the reason, and `finishHolds` after that transaction. `now` is an ISO timestamp.
 */
export function recordHold(db: Db, which: SQL | undefined, { held_code, held_reason }: Held, now: string): void {
  const hold: RecordedHold = { sends: queuedSends(db, which), held_code, held_reason: stored(held_reason), now };
  if (hold.sends.length > 0) recordWrite(db.$client, 'hold-sends', hold);
}

/** Carries out the recorded holds. Does not change a send that has changed since it was recorded. */
export async function finishHolds(db: Db): Promise<void> {
  for (const { id, given } of recordedWrites(db.$client, 'hold-sends')) {
    const { sends, held_code, held_reason, now }: RecordedHold = JSON.parse(given);
    const reason = { held_code, held_reason: readStored(held_reason) };
    const hold = (send: RecordedSend) => holdQueuedSends(db, isUnchanged(send), reason, now);
    await finishItems(db.$client, id, sends, (nextSends) => nextSends.forEach(hold), STEP_SENDS);
  }
}

/** Returns the SQL condition that a single send has not changed since it was recorded. */
function isUnchanged({ id, updated_at }: RecordedSend): SQL | undefined {
  return and(eq(singleSends.id, id), eq(singleSends.updated_at, updated_at));
}

/**
 * Deletes single sends, and cancels the mailings of those that are running. Resolves with the ids of the cancelled mailings. The
 * caller has checked that the sends belong to the account.
 */
export async function deleteSends(db: Db, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 1) return inTransaction(db, () => ids.flatMap((id) => deleteSend(db, id)));
  const sends = recordedSends(db, inArray(singleSends.id, [...ids]));
  return finishDeletion(db, recordWrite(db.$client, 'delete-sends', sends), sends, ({ id }) => deleteSend(db, id));
}

function recordedSends(db: Db, which: SQL | undefined): RecordedSend[] {
  const { id, updated_at } = singleSends;
  return db.select({ id, updated_at }).from(singleSends).where(which).all();
}

/**
 * Finishes the writes that a kill or a full disk interrupted. Call it at the start, before any mail is sent. Does not delete a single send
 * that has changed since it was recorded, because a user may want to keep it after the deletion failed.
 */
export async function finishLargeWrites(db: Db): Promise<void> {
  await finishHolds(db);
  const remove = (send: RecordedSend) => recordedSends(db, isUnchanged(send)).flatMap(({ id }) => deleteSend(db, id));
  for (const { id, given } of recordedWrites(db.$client, 'delete-sends'))
    await finishDeletion(db, id, JSON.parse(given), remove);
}

/** Deletes the recorded sends with `remove`, which returns the ids of cancelled mailings. Resolves with all these ids. */
async function finishDeletion(
  db: Db,
  record: number,
  sends: readonly RecordedSend[],
  remove: (send: RecordedSend) => number[],
): Promise<number[]> {
  const cancelled: number[] = [];
  await finishItems(
    db.$client,
    record,
    sends,
    (nextSends) => void cancelled.push(...nextSends.flatMap(remove)),
    STEP_SENDS,
  );
  return cancelled;
}

/** Deletes a single send and cancels its mailing. Returns the id of the mailing in a list, which is empty if none was cancelled. */
function deleteSend(db: Db, id: number): number[] {
  const mailing = findSingleSendMailing(db, { id });
  const isCancelled = mailing !== null && commandMailing(db.$client, mailing.id, 'cancel');
  db.delete(singleSends).where(eq(singleSends.id, id)).run();
  return isCancelled ? [mailing.id] : [];
}
