/**
 * Segments with a rule about a deleted custom field. Such a rule can no longer be evaluated, so the segment keeps its
 * members, and nothing is sent to it until the rules are changed or a field with that name is created again.
 */
import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Db } from '../../database/open.ts';
import { type SegmentRule, segments, type Target } from '../../database/schema/index.ts';
import { type Sentence, sentence } from '../../errors/sentences.ts';
import { listCustomFields } from '../fields/custom-fields.ts';
import { namedFinder, parseRules } from './rules.ts';

/** Returns the first rule whose custom field is not one of `liveFields`, or null. */
export function findBrokenRule(rules: readonly SegmentRule[], liveFields: ReadonlySet<number>): SegmentRule | null {
  return rules.find(({ customId }) => customId !== null && !liveFields.has(customId)) ?? null;
}

/** Returns why the rules of a segment cannot be evaluated, as a sentence for its owner; null if they can. */
export function segmentProblem(db: Db, segmentId: number): Sentence | null {
  const segment = db.select().from(segments).where(eq(segments.id, segmentId)).get();
  if (segment === undefined) return null;
  const fields = listCustomFields(db, segment.user_id);
  const rule = findBrokenRule(segment.rules, new Set(fields.map(({ id }) => id)));
  if (rule === null) return null;
  const successor = fields.find(({ field_name }) => isSameName(field_name, rule.field));
  return successor === undefined
    ? sentence('held_rule_field_deleted', { segment: segment.segment_name, field: rule.field })
    : sentence('held_rule_field_changed', {
        segment: segment.segment_name,
        field: rule.field,
        type: successor.field_type,
      });
}

/** Returns the `segmentProblem` of the first target that has one, or null. */
export function targetProblem(db: Db, targets: readonly Target[]): Sentence | null {
  for (const { table, id } of targets) {
    const problem = table === 'segments' ? segmentProblem(db, Number(id)) : null;
    if (problem !== null) return problem;
  }
  return null;
}

/** Returns the ids of an account's segments whose rules refer to this custom field. */
export function segmentsWithField(db: Db, accountId: number, fieldId: number): number[] {
  return db
    .all<{ id: number }>(sql`
      SELECT id FROM segments WHERE user_id = ${accountId} AND deleted_at IS NULL
        AND EXISTS (SELECT 1 FROM json_each(rules) WHERE value ->> 'customId' = ${fieldId}) ORDER BY id`)
    .map(({ id }) => id);
}

/**
 * Makes rules about deleted fields use new fields of the same names, if the types fit. Returns the ids of the segments whose
 * rules can be evaluated again. Call inside the transaction that creates the fields.
 */
export function reviveSegments(db: Db, accountId: number, names: readonly string[]): number[] {
  const fields = listCustomFields(db, accountId);
  const liveFields = new Set(fields.map(({ id }) => id));
  const revived: number[] = [];
  const liveSegments = db
    .select()
    .from(segments)
    .where(and(eq(segments.user_id, accountId), isNull(segments.deleted_at)))
    .all();
  for (const segment of liveSegments) {
    const mentionsNewField = segment.rules.some(({ field }) => names.some((name) => isSameName(name, field)));
    if (!mentionsNewField || findBrokenRule(segment.rules, liveFields) === null) continue;
    const { rules, errors } = parseRules(fields, segment, namedFinder(db, accountId));
    if (errors.length > 0) continue;
    db.update(segments).set({ rules }).where(eq(segments.id, segment.id)).run();
    revived.push(segment.id);
  }
  return revived;
}

const isSameName = (name: string, other: string) => name.toLowerCase() === other.toLowerCase();
