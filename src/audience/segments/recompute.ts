/**
 * Recomputing whole segments: after their rules, their contact type or a custom field changed, as time passes, and before a send.
 * It walks the people in the order of their addresses in short transactions and stores how far it came, so that it can be left
 * and gone on with by any thread and after a kill.
 */
import { eq, type SQL, sql } from 'drizzle-orm';
import { type Clock, isoTimestamp } from '../../clock.ts';
import { inChunks } from '../../database/bulk.ts';
import type { Db } from '../../database/open.ts';
import { segments } from '../../database/schema/index.ts';
import { isTransientSqliteError } from '../../database/sqlite-errors.ts';
import { isBusy } from '../../database/write-lock.ts';
import { syncMembers } from './membership.ts';

const HOUR_MS = 3_600_000;
/** How long segments may keep the other work of the background thread waiting. */
const BACKGROUND_MS = 50;
/** How long a request may wait for its segments. */
const REQUEST_MS = 200;

/** Marks the segments that satisfy `where` (SQL over `segments`) for a recompute from the start; gives their ids. */
export function markForRecompute(db: Db, where: SQL): number[] {
  return db
    .all<{ id: number }>(
      sql`UPDATE segments SET recompute_after = 0 WHERE deleted_at IS NULL AND (${where}) RETURNING id`,
    )
    .map(({ id }) => id);
}

/** Goes on with marked segments for a moment, so that an answer already shows small ones; the background thread does the rest. */
export async function recomputeSoon(db: Db, ids: readonly number[], clock: Clock): Promise<void> {
  const until = performance.now() + REQUEST_MS;
  try {
    for (const id of ids) await continueRecompute(db, id, clock, until - performance.now());
  } catch (error) {
    // Another process holds the lock; the segments keep their marks.
    if (!isBusy(error)) throw error;
  }
}

/**
 * Brings segments up to date as far as a request can wait: those that are marked, and those whose rules look at the clock. What
 * a large one lacks then, the background thread does.
 */
export async function recomputeAndWait(db: Db, ids: readonly number[], clock: Clock): Promise<void> {
  const given = sql`id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`;
  markForRecompute(db, sql`${given} AND check_at IS NOT NULL AND recompute_after IS NULL`);
  await recomputeSoon(db, ids, clock);
}

/** Goes on with the recompute of a segment for about `budgetMs`, or until it is through. */
async function continueRecompute(db: Db, id: number, clock: Clock, budgetMs: number): Promise<void> {
  const until = performance.now() + budgetMs;
  await inChunks(
    db.$client,
    (rows) => recomputeChunk(db, id, rows, isoTimestamp(clock.now())) && performance.now() < until,
    budgetMs,
  );
}

/** Whether one of these segments is marked and not through. */
export function isRecomputing(db: Db, ids: readonly number[]): boolean {
  return (
    ids.length > 0 &&
    db.get(sql`SELECT 1 FROM segments WHERE id IN ${ids} AND recompute_after IS NOT NULL`) !== undefined
  );
}

/**
 * Marks segments whose rules look at the clock once an hour, and goes on with the marked ones for a moment; gives whether there is
 * more to do. One that fails is told to `onFailure` and keeps its mark; the others go on. Throws where the disk fails.
 */
export async function recomputeDueSegments(
  db: Db,
  clock: Clock,
  onFailure: (segmentId: number, error: unknown) => void,
): Promise<boolean> {
  const now = clock.now().getTime();
  // A clock that was set back must not put the next check off for longer than an hour.
  const due = sql`check_at IS NOT NULL AND (check_at <= ${now} OR check_at > ${now + HOUR_MS})`;
  // What is under way ends first; among the others chance decides, so that one which is marked again and again delays nobody for good.
  const pending = sql`SELECT id FROM segments WHERE recompute_after IS NOT NULL ORDER BY recompute_after DESC, random()`;
  if (db.get(sql`SELECT 1 FROM segments WHERE ${due}`) !== undefined) {
    db.run(sql`
      UPDATE segments SET recompute_after = iif(deleted_at IS NULL, 0, NULL), check_at = iif(deleted_at IS NULL, ${now + HOUR_MS}, NULL)
      WHERE ${due}`);
  }
  const failed = new Set<number>();
  const until = performance.now() + BACKGROUND_MS;
  for (const { id } of db.all<{ id: number }>(pending)) {
    try {
      await continueRecompute(db, id, clock, until - performance.now());
    } catch (error) {
      if (isTransientSqliteError(error)) throw error;
      failed.add(id);
      onFailure(id, error);
    }
    if (performance.now() >= until) break;
  }
  return db.all<{ id: number }>(pending).some(({ id }) => !failed.has(id));
}

/** Settles the next `rows` people of a segment; gives whether there are more. */
function recomputeChunk(db: Db, id: number, rows: number, now: string): boolean {
  const segment = db.select().from(segments).where(eq(segments.id, id)).get();
  if (segment === undefined || segment.recompute_after === null) return false;
  const after = segment.recompute_after;
  const people =
    segment.deleted_at !== null
      ? []
      : db
          .all<{ address_id: number }>(sql`
            SELECT address_id FROM (
              SELECT address_id FROM contacts INDEXED BY contacts_person
              WHERE contact_type_id = ${segment.contact_type_id} AND deleted_at IS NULL AND address_id > ${after}
              ORDER BY address_id LIMIT ${rows})
            UNION
            SELECT address_id FROM (
              SELECT address_id FROM segment_recipients INDEXED BY segment_recipients_person
              WHERE segment_id = ${id} AND address_id > ${after} ORDER BY address_id LIMIT ${rows})
            ORDER BY address_id LIMIT ${rows}`)
          .map(({ address_id }) => address_id);
  syncMembers(db, segment, people, now);
  const last = people.length < rows ? null : (people.at(-1) ?? null);
  db.update(segments).set({ recompute_after: last }).where(eq(segments.id, id)).run();
  return last !== null;
}

/** When rules that look at the clock are due again, epoch milliseconds. */
export function nextCheck(clock: Clock): number {
  return clock.now().getTime() + HOUR_MS;
}
