/** Creates automations and changes their status, which no other file does. A held automation is a draft with a reason. */
import { and, eq, isNull, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { AUTOMATION_STATUS, automations } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { type Held, NOT_HELD } from '../delivery/queue/holds.ts';
import { pauseMailingsOfAutomations } from '../delivery/queue/mailing-state.ts';
import { saidBy, sentence } from '../errors/sentences.ts';
import { isoTimestamp, plainTimestamp } from '../time/clock.ts';

/** The columns of an automation that its creator sets; this file sets all others. */
type Columns = Omit<typeof automations.$inferInsert, 'id' | 'status' | 'live_at' | 'held_code' | 'held_reason'>;

const DRAFT = { status: AUTOMATION_STATUS.draft, live_at: null };

/** Stores a new automation, which is a draft. Returns its id. */
export function insertDraft(db: Db, columns: Columns): number {
  const { id } = db
    .insert(automations)
    .values({ ...columns, ...DRAFT, ...NOT_HELD })
    .returning({ id: automations.id })
    .get();
  return id;
}

/** Moves a draft to live. */
export function markLive(db: Db, id: number, now: Date): void {
  db.update(automations)
    .set({
      status: AUTOMATION_STATUS.live,
      // Dates that came while the automation was not live let nobody enter.
      dates_checked_to: sql`iif(trigger_kind = 'date', ${now.getTime()}, NULL)`,
      dates_since: sql`iif(trigger_kind = 'date', ${now.getTime()}, NULL)`,
      live_at: plainTimestamp(now),
      ...NOT_HELD,
      updated_at: isoTimestamp(now),
    })
    .where(eq(automations.id, id))
    .run();
}

/** Moves an automation to draft, and marks it as deleted if `deleted_at` is given. Times are ISO timestamps. */
export function markDraft(db: Db, id: number, times: { updated_at: string; deleted_at?: string }): void {
  db.update(automations)
    .set({ ...DRAFT, ...times })
    .where(eq(automations.id, id))
    .run();
}

/**
 * Moves live automations that cannot continue back to draft, with the reason, and pauses their mailings. `which` is an SQL condition on
 * `automations`, `now` an ISO timestamp. Call inside a transaction.
 */
export function holdAutomations(db: Db, which: SQL, reason: Held, now: string): void {
  const ids = db
    .update(automations)
    .set({ ...DRAFT, ...reason, updated_at: now })
    .where(and(eq(automations.status, AUTOMATION_STATUS.live), isNull(automations.deleted_at), which))
    .returning({ id: automations.id })
    .all()
    .map(({ id }) => id);
  pauseMailingsOfAutomations(db.$client, ids);
}

/** Moves an automation that failed with this error back to draft, with the error as the reason. */
export function holdFailedAutomation(db: Db, id: number, error: unknown, now: Date): void {
  const held_reason = sentence('held_stopped', { problem: saidBy(error) });
  inTransaction(db, () =>
    holdAutomations(db, sql`id = ${id}`, { held_code: 'internal_error', held_reason }, isoTimestamp(now)),
  );
}
