/** Copies of automations that were never finished. */
import { eq, sql } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { automationSchedules, automations } from '../database/schema/index.ts';

/** Removes a copy of an automation with its steps. */
export function removeCopy(db: Db, id: number): void {
  db.transaction(
    () => {
      db.delete(automationSchedules).where(eq(automationSchedules.automation_id, id)).run();
      db.delete(automations).where(eq(automations.id, id)).run();
    },
    { behavior: 'immediate' },
  );
}

/**
 * Removes the copies that a killed server left: until all steps are copied, a copy counts as deleted since it was made. Only at the start,
 * before anything is copied.
 */
export function removeUnfinishedCopies(db: Db): void {
  const unfinished = db
    .select({ id: automations.id })
    .from(automations)
    .where(sql`${automations.deleted_at} = ${automations.created_at}`)
    .all();
  for (const { id } of unfinished) removeCopy(db, id);
}
