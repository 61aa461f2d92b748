/** Deletes a mail of an automation: queued deliveries of it are cancelled, and the people who waited for it wait for the next one. */
import { and, eq, isNull } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { ownedBy, recordUtr } from '../database/ownership.ts';
import { automationSchedules, mailings } from '../database/schema/index.ts';
import { commandMailing, waitForAcknowledgement } from '../delivery/queue/mailing-state.ts';
import { notFound } from '../failure.ts';
import { rescheduleAfterDeletion } from './enrolment.ts';

/** Deletes the account's schedule with this utr; throws 404. When it resolves, no further delivery of it starts. */
export async function deleteSchedule(
  { db, wake }: { db: Db; wake(): void },
  accountId: number,
  utr: unknown,
): Promise<void> {
  const stopped = db.transaction(
    (tx) => {
      const where = and(ownedBy(automationSchedules, accountId), eq(automationSchedules.utr, recordUtr(utr)));
      const schedule = tx.delete(automationSchedules).where(where).returning().get();
      if (schedule === undefined) throw notFound('Record not found');
      rescheduleAfterDeletion(db.$client, schedule.automation_id, schedule.id);
      return tx
        .select({ id: mailings.id })
        .from(mailings)
        .where(
          and(eq(mailings.owner_kind, 'schedule'), eq(mailings.owner_id, schedule.id), isNull(mailings.finished_at)),
        )
        .all()
        .filter(({ id }) => commandMailing(db.$client, id, 'cancel'));
    },
    { behavior: 'immediate' },
  );
  wake();
  for (const { id } of stopped) await waitForAcknowledgement(db.$client, id);
}
