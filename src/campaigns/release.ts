/** What happens to campaigns when a target they name is deleted (decisions §2). */
import { and, eq, or, sql } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { singleSends, type WireTarget } from '../database/schema.ts';
import { holdAutomations } from './automations.ts';

const NAMES = { contacts: 'contact type', segments: 'segment' };

/**
 * Puts queued sends that name a deleted target, as recipient or exclusion, back to status 0 and live automations for it to
 * draft, with a reason; a contact type takes those along that name a segment of it, for nobody is left in it. Call inside the deletion's transaction; `now` is wire time.
 */
export function releaseTarget(db: Db, table: WireTarget['table'], id: number, now: string): void {
  hold(db, { table, id }, `A ${NAMES[table]} it names`, `Its ${NAMES[table]}`, now);
  if (table === 'contacts') {
    const ofType = db.all<{ id: number }>(
      sql`SELECT id FROM segments WHERE contact_type_id = ${id} AND deleted_at IS NULL ORDER BY id`,
    );
    for (const segment of ofType)
      hold(
        db,
        { table: 'segments', id: segment.id },
        'The contact type of a segment it names',
        "Its segment's contact type",
        now,
      );
  }
}

function hold(
  db: Db,
  { table, id }: { table: WireTarget['table']; id: number },
  what: string,
  watched: string,
  now: string,
): void {
  const names = (column: typeof singleSends.recipient_id | typeof singleSends.exclude_specific_recipient_id) =>
    sql`EXISTS (SELECT 1 FROM json_each(${column}) WHERE value ->> 'table' = ${table} AND value ->> 'id' = ${String(id)})`;
  db.update(singleSends)
    .set({ status: 0, held_reason: `${what} was deleted`, updated_at: now })
    .where(
      and(
        eq(singleSends.status, 1),
        or(names(singleSends.recipient_id), names(singleSends.exclude_specific_recipient_id)),
      ),
    )
    .run();
  const watches = sql`automation_for_table = ${table} AND automation_for = ${id}`;
  holdAutomations(db, watches, `${watched} was deleted`, now);
}
