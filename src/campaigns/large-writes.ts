/**
 * Writes to any number of single sends. SQLite writes the row of each as a whole, with up to 2 MiB of content, so they are recorded first and
 * then made one by one in short transactions. After a kill the next start finishes them.
 */
import { and, eq, type SQL } from 'drizzle-orm';
import { finishItems, recordedWrites, recordWrite } from '../audience/unfinished-writes.ts';
import type { Db } from '../database/open.ts';
import { singleSends } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import type { Held } from '../delivery/queue/holds.ts';
import { commandMailing } from '../delivery/queue/mailing-state.ts';
import { readStored, stored } from '../errors/stored.ts';
import { findSingleSendMailing } from './single-sends.ts';
import { holdQueuedSends, queuedSends } from './status.ts';

interface RecordedHold {
  sends: ReturnType<typeof queuedSends>;
  held_code: Held['held_code'];
  /** In its stored form. */
  held_reason: string;
  now: string;
}

/**
 * Has the queued sends that match `which` moved to draft, with the reason. Call inside the transaction of what is the reason, and `finishHolds`
 * after it. `now` is an ISO timestamp.
 */
export function recordHold(db: Db, which: SQL | undefined, { held_code, held_reason }: Held, now: string): void {
  const hold: RecordedHold = { sends: queuedSends(db, which), held_code, held_reason: stored(held_reason), now };
  if (hold.sends.length > 0) recordWrite(db.$client, 'hold-sends', hold);
}

/** Carries out the recorded holds. A send that was changed since is left as it is. */
export async function finishHolds(db: Db): Promise<void> {
  for (const { id, given } of recordedWrites(db.$client, 'hold-sends')) {
    const { sends, held_code, held_reason, now }: RecordedHold = JSON.parse(given);
    const reason = { held_code, held_reason: readStored(held_reason) };
    const hold = (send: RecordedHold['sends'][number]) => {
      const isUnchanged = and(eq(singleSends.id, send.id), eq(singleSends.updated_at, send.updated_at));
      holdQueuedSends(db, isUnchanged, reason, now);
    };
    await finishItems(db.$client, id, sends, (some) => some.forEach(hold), 1);
  }
}

/**
 * Deletes single sends, and cancels the mailings of running ones. Resolves with the ids of these. The caller has checked that the sends belong
 * to the account.
 */
export async function deleteSends(db: Db, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 1) return inTransaction(db, () => ids.flatMap((id) => deleteSend(db, id)));
  return finishDeletion(db, recordWrite(db.$client, 'delete-sends', ids), ids);
}

/** Finishes the writes that a kill interrupted. Call it at the start, before any mail is sent. */
export async function finishLargeWrites(db: Db): Promise<void> {
  await finishHolds(db);
  for (const { id, given } of recordedWrites(db.$client, 'delete-sends'))
    await finishDeletion(db, id, JSON.parse(given));
}

async function finishDeletion(db: Db, record: number, ids: readonly number[]): Promise<number[]> {
  const cancelled: number[] = [];
  const remove = (some: readonly number[]) => void cancelled.push(...some.flatMap((id) => deleteSend(db, id)));
  await finishItems(db.$client, record, ids, remove, 1);
  return cancelled;
}

/** Deletes a single send. Returns the id of its mailing if it was running and is cancelled now. */
function deleteSend(db: Db, id: number): number[] {
  const mailing = findSingleSendMailing(db, { id });
  const isCancelled = mailing !== null && commandMailing(db.$client, mailing.id, 'cancel');
  db.delete(singleSends).where(eq(singleSends.id, id)).run();
  return isCancelled ? [mailing.id] : [];
}
