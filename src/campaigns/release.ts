/** What happens to campaigns when a target they name is deleted (decisions §2). */
import { and, eq, or, sql } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { singleSends, type WireTarget } from '../database/schema.ts';
import { holdAutomations } from './automations.ts';

const NAMES = { contacts: 'contact type', segments: 'segment' };

/**
 * Puts queued sends that name a deleted target, as recipient or exclusion, back to status 0 and live automations for it to
 * draft, with a reason. Call inside the deletion's transaction; `now` is wire time.
 */
export function releaseTarget(db: Db, table: WireTarget['table'], id: number, now: string): void {
  const names = (column: typeof singleSends.recipient_id | typeof singleSends.exclude_specific_recipient_id) =>
    sql`EXISTS (SELECT 1 FROM json_each(${column}) WHERE value ->> 'table' = ${table} AND value ->> 'id' = ${String(id)})`;
  db.update(singleSends)
    .set({ status: 0, held_reason: `A ${NAMES[table]} it names was deleted`, updated_at: now })
    .where(
      and(
        eq(singleSends.status, 1),
        or(names(singleSends.recipient_id), names(singleSends.exclude_specific_recipient_id)),
      ),
    )
    .run();
  const watches = sql`automation_for_table = ${table} AND automation_for = ${id}`;
  holdAutomations(db, watches, `Its ${NAMES[table]} was deleted`, now);
}
