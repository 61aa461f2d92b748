/** Removes copies of automations that were never finished. */
import { eq, sql } from 'drizzle-orm';
import { inChunks } from '../database/bulk.ts';
import type { Db } from '../database/open.ts';
import { automations } from '../database/schema/index.ts';
import type { Log } from '../log.ts';

/** How long one transaction copies or removes steps, in milliseconds. A single mail can take as long, because its row has up to 2 MiB. */
export const COPY_MS = 4;
/** How long a copy waits for the write lock, in milliseconds. */
export const LOCK_WAIT_MS = 5000;

/** Removes a copy of an automation in several transactions: first its steps, then the automation. */
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
  await inChunks(db.$client, remove, LOCK_WAIT_MS);
}

/**
 * Removes the unfinished copies that a killed server left, and logs copies that cannot be removed. An unfinished copy is marked as deleted
 * at the time of its creation, and has no enrolments. Call it only at the start, before anything is copied.
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
