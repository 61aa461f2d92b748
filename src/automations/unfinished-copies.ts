/** Copies of automations that were never finished. */
import { eq, sql } from 'drizzle-orm';
import { inChunks } from '../database/bulk.ts';
import type { Db } from '../database/open.ts';
import { automations } from '../database/schema/index.ts';
import type { Log } from '../log.ts';

/** How long steps are copied or removed in one transaction: SQLite handles the row of a mail as a whole, with up to 2 MiB of content. */
export const COPY_MS = 4;
/** How long a copy waits for the write lock, in milliseconds. */
export const MAX_WAIT_MS = 5000;

/** Removes a copy of an automation, its steps first, in several transactions. */
export async function removeCopy(db: Db, id: number): Promise<void> {
  const removeStep = db.$client.prepare(`DELETE FROM automation_schedules WHERE id = (
      SELECT id FROM automation_schedules INDEXED BY automation_schedules_automation WHERE automation_id = ? LIMIT 1)`);
  const remove = () => {
    const until = performance.now() + COPY_MS;
    while (performance.now() < until) {
      if (removeStep.run(id).changes > 0) continue;
      db.delete(automations).where(eq(automations.id, id)).run();
      return false;
    }
    return true;
  };
  await inChunks(db.$client, remove, MAX_WAIT_MS);
}

/**
 * Removes the copies that a killed server left, and logs those that cannot be removed. Until all steps are copied, a copy counts as deleted
 * since it was made; an automation that contacts have entered is none. Only at the start, before anything is copied.
 */
export async function removeUnfinishedCopies(db: Db, log: Log): Promise<void> {
  const unfinished = db
    .select({ id: automations.id })
    .from(automations)
    .where(
      sql`${automations.deleted_at} = ${automations.created_at}
        AND NOT EXISTS (SELECT 1 FROM enrolments e WHERE e.automation_id = ${automations.id})`,
    )
    .all();
  for (const { id } of unfinished) {
    try {
      await removeCopy(db, id);
    } catch (err) {
      log({ automation: id, err }, 'an unfinished copy of an automation cannot be removed', 'error');
    }
  }
}
