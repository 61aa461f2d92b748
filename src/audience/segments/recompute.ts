/**
 * Recomputes whole segments: after a change of their rules, contact type or custom fields, regularly for rules about time, and
 * before a send. A recomputation goes through the addresses in the order of their ids, in short transactions, and stores how far it has
 * come, so that any thread can continue, also after a kill.
 */

import { eq, type SQL, sql } from 'drizzle-orm';
import { inChunks } from '../../database/bulk.ts';
import type { Db } from '../../database/open.ts';
import { preparedOnce } from '../../database/prepared.ts';
import { segments } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { isBusy, isTransientSqliteError } from '../../database/write-lock.ts';
import { type Clock, isoTimestamp } from '../../time/clock.ts';
import type { FailedWork } from '../../time/failed-work.ts';
import { HOUR_MS } from '../../units.ts';
import { reviveSegments } from './broken-rules.ts';
import { isFarBehind } from './follow-activity.ts';
import { syncMembers } from './membership.ts';
import { countMailsRules } from './rules.ts';

/** How long the background thread recomputes before it does its other work. */
const BACKGROUND_MS = 50;
/** The number of addresses in one transaction if one rule checks many mailings for each. With more such rules the number is lower. */
const MAILS_RULES_PEOPLE = 100;
/** How long a request may spend on recomputing. */
const REQUEST_MS = 200;

/** Marks the segments for which `where` (SQL over `segments`) is true to be recomputed from the start. Returns their ids. */
export function markForRecompute(db: Db, where: SQL): number[] {
  return db
    .all<{ id: number }>(
      sql`UPDATE segments SET recompute_after = 0 WHERE deleted_at IS NULL AND (${where}) RETURNING id`,
    )
    .map(({ id }) => id);
}

/**
 * Recomputes marked segments for a short time, so that small ones are up to date in the answer to a request. The background
 * thread does the rest.
 */
export async function recomputeSoon(db: Db, ids: readonly number[], clock: Clock): Promise<void> {
  const until = performance.now() + REQUEST_MS;
  try {
    for (const id of ids) await continueRecompute(db, id, clock, until - performance.now());
  } catch (error) {
    // Another process holds the write lock. The segments stay marked, so they are recomputed later.
    if (!isBusy(error)) throw error;
  }
}

/**
 * Makes a change that creates or renames fields of an account with these names. Segments with a rule about a deleted field of
 * such a name then use the new field.
 */
export async function nameFields(
  db: Db,
  clock: Clock,
  accountId: number,
  names: readonly string[],
  change: () => void,
): Promise<void> {
  const revived = inTransaction(db, () => {
    change();
    const ids = reviveSegments(db, accountId, names);
    markForRecompute(db, sql`id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`);
    return ids;
  });
  await recomputeSoon(db, revived, clock);
}

/**
 * Recomputes each of these segments that is marked or has rules about time, if a request can wait for it. The
 * background thread finishes large ones.
 */
export async function recomputeAndWait(db: Db, ids: readonly number[], clock: Clock): Promise<void> {
  const isListed = sql`id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`;
  markForRecompute(db, sql`${isListed} AND check_at IS NOT NULL AND recompute_after IS NULL`);
  await recomputeSoon(db, ids, clock);
}

/** Continues to recompute a segment for about `budgetMs`, or until it is finished. */
async function continueRecompute(db: Db, id: number, clock: Clock, budgetMs: number): Promise<void> {
  const until = performance.now() + budgetMs;
  await inChunks(
    db.$client,
    (rows) => recomputeChunk(db, id, rows, isoTimestamp(clock.now())) && performance.now() < until,
    budgetMs,
  );
}

/** Returns true if one of these segments is marked and not yet finished, or has rules that need events which are not read yet. */
export function isRecomputing(db: Db, ids: readonly number[], clock: Clock): boolean {
  const waits = isFarBehind(db, clock) ? sql`check_at IS NOT NULL` : sql`false`;
  return (
    ids.length > 0 &&
    db.get(sql`SELECT 1 FROM segments WHERE id IN ${ids} AND (recompute_after IS NOT NULL OR ${waits})`) !== undefined
  );
}

/**
 * Marks segments with rules about time once an hour, and recomputes marked ones for a short time. Returns true if there is more
 * to do. Reports a failing segment to `onFailure` and leaves it marked for its next turn by `failedSegments`; the others continue.
 * Throws if the disk fails.
 */
export async function recomputeDueSegments(
  db: Db,
  clock: Clock,
  failedSegments: FailedWork,
  onFailure: (segmentId: number, error: unknown) => void,
): Promise<boolean> {
  const now = clock.now().getTime();
  // If the clock was set back, the next check could be far in the future. Never wait longer than an hour.
  const due = 'check_at IS NOT NULL AND (check_at <= @now OR check_at > @nextCheck)';
  const times = { now, nextCheck: now + HOUR_MS };
  // Finish what has been started first. Choose randomly among the others, so that a segment that is marked repeatedly does not
  // keep the others waiting for ever.
  const pending = db.$client.prepare<[string], { id: number }>(`
    SELECT id FROM segments WHERE recompute_after IS NOT NULL AND id NOT IN (SELECT value FROM json_each(?))
    ORDER BY recompute_after DESC, random()`);
  if (db.$client.prepare(`SELECT 1 FROM segments WHERE ${due} LIMIT 1`).get(times) !== undefined) {
    db.$client
      .prepare(`UPDATE segments SET recompute_after = iif(deleted_at IS NULL, 0, NULL), check_at = iif(deleted_at IS NULL, @nextCheck, NULL)
      WHERE ${due}`)
      .run(times);
  }
  const until = performance.now() + BACKGROUND_MS;
  for (const { id } of pending.all(failedSegments.restingIdsJson())) {
    try {
      await continueRecompute(db, id, clock, until - performance.now());
    } catch (error) {
      if (isTransientSqliteError(error)) throw error;
      failedSegments.add(id);
      onFailure(id, error);
    }
    if (performance.now() >= until) break;
  }
  return pending.get(failedSegments.restingIdsJson()) !== undefined;
}

const segmentQuery = preparedOnce((db) =>
  db
    .select()
    .from(segments)
    .where(eq(segments.id, sql.placeholder('id')))
    .prepare(),
);
const SAVE_PROGRESS = 'UPDATE segments SET recompute_after = ?, is_restoring = ? WHERE id = ?';
/** The next addresses that are in a segment, or in the contact type of which it is a part. */
const NEXT_PEOPLE = `
  SELECT address_id FROM (
    SELECT address_id FROM contacts INDEXED BY contacts_person
    WHERE contact_type_id = @type AND deleted_at IS NULL AND address_id > @after
    ORDER BY address_id LIMIT @rows)
  UNION
  SELECT address_id FROM (
    SELECT address_id FROM segment_recipients INDEXED BY segment_recipients_person
    WHERE segment_id = @id AND address_id > @after ORDER BY address_id LIMIT @rows)
  ORDER BY address_id LIMIT @rows`;

/** Updates the next `maxRows` addresses of a segment. Returns true if there are more. */
function recomputeChunk(db: Db, id: number, maxRows: number, now: string): boolean {
  const segment = segmentQuery(db).get({ id });
  if (segment === undefined || segment.recompute_after === null) return false;
  const mailsRules = countMailsRules(segment.rules);
  const rows = mailsRules === 0 ? maxRows : Math.min(maxRows, Math.ceil(MAILS_RULES_PEOPLE / mailsRules));
  const { contact_type_id: type, recompute_after: after } = segment;
  const people =
    segment.deleted_at === null
      ? db.$client.prepare<[object], number>(NEXT_PEOPLE).pluck().all({ type, id, after, rows })
      : [];
  syncMembers(db, segment, people, now, { isRestoring: segment.is_restoring === 1 });
  const last = people.length < rows ? null : (people.at(-1) ?? null);
  const is_restoring = last === null ? 0 : segment.is_restoring;
  db.$client.prepare(SAVE_PROGRESS).run(last, is_restoring, id);
  return last !== null;
}

/** Returns when a segment with rules about time is due again, in epoch milliseconds. */
export function nextCheck(clock: Clock): number {
  return clock.now().getTime() + HOUR_MS;
}
