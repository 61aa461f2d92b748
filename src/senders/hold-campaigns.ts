/**
 * Holds campaigns when their target or sender is deleted, or when a custom field is deleted that the rules of their segment need.
 */
import { eq, or, sql } from 'drizzle-orm';
import { segmentProblem } from '../audience/segments/broken-rules.ts';
import { holdAutomations } from '../automations/status.ts';
import { recordHold } from '../campaigns/large-writes.ts';
import type { Db } from '../database/open.ts';
import { type HeldCode, singleSends, type Target } from '../database/schema/index.ts';
import { holdFor } from '../delivery/queue/holds.ts';
import { holdMailingsOfSender } from '../delivery/queue/mailing-state.ts';
import { type Said, sentence } from '../errors/sentences.ts';

/** The word for each table of targets in the codes of sentences. */
const TARGET_WORDS = { contacts: 'type', segments: 'segment' } as const;

/**
 * Holds the campaigns that use a deleted contact type or segment: they become drafts with a reason. Such campaigns are queued single sends
 * that include or exclude the target, and live automations that have it as target, goal or exit rule. The segments of a deleted contact type
 * are empty, so campaigns that use them are held, too. Call inside the transaction of the deletion, and `finishHolds` after it. `now` is an
 * ISO timestamp.
 */
export function holdCampaignsUsingTarget(db: Db, table: Target['table'], id: number, now: string): void {
  hold(
    db,
    { table, id },
    'target_missing',
    sentence(`held_${TARGET_WORDS[table]}_deleted`),
    sentence(`held_own_${TARGET_WORDS[table]}_deleted`),
    now,
  );
  if (table === 'contacts') {
    const ofType = db.all<{ id: number }>(
      sql`SELECT id FROM segments WHERE contact_type_id = ${id} AND deleted_at IS NULL ORDER BY id`,
    );
    for (const segment of ofType)
      hold(
        db,
        { table: 'segments', id: segment.id },
        'target_missing',
        sentence('held_type_of_segment_deleted'),
        sentence('held_type_of_own_segment_deleted'),
        now,
      );
  }
}

/**
 * Holds the campaigns that use segments whose rules can no longer be evaluated. Call inside the transaction that
 * deletes their custom field, and `finishHolds` after it.
 */
export function holdCampaignsUsingSegments(db: Db, segmentIds: readonly number[], now: string): void {
  for (const id of segmentIds) {
    const problem = segmentProblem(db, id) ?? '';
    hold(db, { table: 'segments', id }, 'segment_broken', problem, problem, now);
  }
}

/**
 * Holds the campaigns that use a deleted sender: queued single sends become drafts, running ones are held, and live
 * automations become drafts, each with the reason. Call inside the transaction of the deletion, and `finishHolds` after
 * it. Returns the ids of the sender's unfinished mailings: once the worker has acknowledged their state, no more mail
 * is sent from this sender.
 */
export function holdCampaignsUsingSender(db: Db, senderId: number, now: string): number[] {
  const reason = holdFor('sender_deleted');
  recordHold(db, eq(singleSends.sender_id, senderId), reason, now);
  const hasMailFromSender = sql`id IN (SELECT automation_id FROM automation_schedules WHERE sender_id = ${senderId})`;
  holdAutomations(db, hasMailFromSender, { ...reason, held_reason: sentence('held_mails_sender_deleted') }, now);
  return holdMailingsOfSender(db.$client, senderId, reason);
}

function hold(
  db: Db,
  { table, id }: { table: Target['table']; id: number },
  code: HeldCode,
  sendReason: Said,
  automationReason: Said,
  now: string,
): void {
  const hasTarget = (column: typeof singleSends.recipient_id | typeof singleSends.exclude_specific_recipient_id) =>
    sql`EXISTS (SELECT 1 FROM json_each(${column}) WHERE value ->> 'table' = ${table} AND value ->> 'id' = ${String(id)})`;
  const singleSendUses = or(hasTarget(singleSends.recipient_id), hasTarget(singleSends.exclude_specific_recipient_id));
  recordHold(db, singleSendUses, { held_code: code, held_reason: sendReason }, now);
  const isTarget = sql`automation_for_table = ${table} AND automation_for = ${id}`;
  holdAutomations(db, isTarget, { held_code: code, held_reason: automationReason }, now);
  // Without its exit rule or goal, an automation would let in and mail contacts whom the segment kept out.
  if (table === 'segments') {
    const isExitOrGoal = sql`(exit_segment_id = ${id} OR goal_segment_id = ${id})`;
    holdAutomations(db, isExitOrGoal, { held_code: code, held_reason: sendReason }, now);
  }
}
