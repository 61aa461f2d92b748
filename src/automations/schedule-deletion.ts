/** Deletes a mail of an automation: queued deliveries of it are cancelled, and the people who waited for it wait for the next one. */
import { and, eq, isNull } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { ownedBy, recordUtr } from '../database/ownership.ts';
import { automationSchedules, mailings } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import type { Moves } from '../delivery/queue/enrolment-state.ts';
import { commandMailing, waitForAcknowledgement } from '../delivery/queue/mailing-state.ts';
import { notFound } from '../errors/failure.ts';
import type { Schedule } from './automations.ts';
import { moveOrNote, untilMoved } from './moves.ts';
import { movesTo } from './places.ts';

/** Deletes the account's schedule with this utr; throws 404. When it resolves, no further delivery of it starts. */
export async function deleteSchedule(deps: { db: Db; wake(): void }, accountId: number, utr: unknown): Promise<void> {
  const { db } = deps;
  const present = () => {
    const where = and(ownedBy(automationSchedules, accountId), eq(automationSchedules.utr, recordUtr(utr)));
    const schedule = db.select().from(automationSchedules).where(where).get();
    if (schedule === undefined) throw notFound('Record not found');
    return schedule;
  };
  const { automation_id } = present();
  await untilMoved(db.$client, automation_id);
  const cancelled = inTransaction(db, () => {
    const removed = removeSchedule(db, present());
    moveOrNote(db.$client, automation_id, removed.moves);
    return removed.cancelled;
  });
  await cancelDeletedMail(deps, cancelled);
  await untilMoved(db.$client, automation_id);
}

/** Removes a schedule; gives the moves of who waited for it, and the mailings that are cancelled by it. Call inside a transaction. */
export function removeSchedule(
  db: Db,
  { id, automation_id, position }: Schedule,
): { moves: Moves; cancelled: number[] } {
  db.delete(automationSchedules).where(eq(automationSchedules.id, id)).run();
  const cancelled = db
    .select({ id: mailings.id })
    .from(mailings)
    .where(and(eq(mailings.owner_kind, 'schedule'), eq(mailings.owner_id, id), isNull(mailings.finished_at)))
    .all()
    .map((mailing) => mailing.id)
    .filter((mailing) => commandMailing(db.$client, mailing, 'cancel'));
  return { moves: { ...movesTo(db.$client, automation_id, position), isRemoval: true }, cancelled };
}

/** When it resolves, no further delivery of these cancelled mailings starts. */
export async function cancelDeletedMail(
  { db, wake }: { db: Db; wake(): void },
  cancelled: readonly number[],
): Promise<void> {
  wake();
  for (const id of cancelled) await waitForAcknowledgement(db.$client, id);
}
