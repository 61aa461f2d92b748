/** Deletes a mail of an automation: queued deliveries of it are cancelled, and the people who waited for it wait for the next one. */
import { and, eq, isNull } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { ownedBy, recordUtr } from '../database/ownership.ts';
import { automationSchedules, mailings } from '../database/schema/index.ts';
import { leaveDeletedMail } from '../delivery/queue/enrolment-state.ts';
import { commandMailing, waitForAcknowledgement } from '../delivery/queue/mailing-state.ts';
import { notFound } from '../failure.ts';
import type { Schedule } from './automations.ts';

/** Deletes the account's schedule with this utr; throws 404. When it resolves, no further delivery of it starts. */
export async function deleteSchedule(deps: { db: Db; wake(): void }, accountId: number, utr: unknown): Promise<void> {
  const { db } = deps;
  const cancelled = db.transaction(
    () => {
      const where = and(ownedBy(automationSchedules, accountId), eq(automationSchedules.utr, recordUtr(utr)));
      const schedule = db.select().from(automationSchedules).where(where).get();
      if (schedule === undefined) throw notFound('Record not found');
      return removeSchedule(db, schedule);
    },
    { behavior: 'immediate' },
  );
  await cancelDeletedMail(deps, cancelled);
}

/** Removes a schedule and moves on who waited for it; gives the mailings that are cancelled by it. Call inside a transaction. */
export function removeSchedule(db: Db, { id, automation_id, position }: Schedule): number[] {
  db.delete(automationSchedules).where(eq(automationSchedules.id, id)).run();
  leaveDeletedMail(db.$client, automation_id, position);
  return db
    .select({ id: mailings.id })
    .from(mailings)
    .where(and(eq(mailings.owner_kind, 'schedule'), eq(mailings.owner_id, id), isNull(mailings.finished_at)))
    .all()
    .map((mailing) => mailing.id)
    .filter((mailing) => commandMailing(db.$client, mailing, 'cancel'));
}

/** When it resolves, no further delivery of these cancelled mailings starts. */
export async function cancelDeletedMail(
  { db, wake }: { db: Db; wake(): void },
  cancelled: readonly number[],
): Promise<void> {
  wake();
  for (const id of cancelled) await waitForAcknowledgement(db.$client, id);
}
