/** Segments: parts of a contact type that keep themselves up to date by rules. */
import { sql } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { ownedBy, ownedRecord, recordId } from '../../../database/ownership.ts';
import { readRecord, recordObject } from '../../../database/record-json.ts';
import { segments } from '../../../database/schema/index.ts';
import { notFound } from '../../../errors/failure.ts';
import { identifier, integer, line, listQuery, nullable, softStamps } from '../../../http/requests/schemas.ts';
import { listOperation, operation, recordOperation } from '../../../operations/operation.ts';
import { holdCampaignsUsingTarget } from '../../../senders/hold-campaigns.ts';
import { isoTimestamp } from '../../../time/clock.ts';
import { segmentProblem } from '../broken-rules.ts';
import { createSegment, updateSegment } from '../segments.ts';
import { hasSegment } from '../targets.ts';
import { checkRules, ruleProperties } from './rules.ts';

const Segment = Type.Object({
  id: integer(),
  user_id: integer(),
  contact_type_id: integer(),
  segment_name: Type.String(),
  select_field: Type.Array(Type.String()),
  select_operator: Type.Array(Type.String()),
  value: Type.Array(Type.String()),
  query_type: nullable(Type.String()),
  ...softStamps,
  segment_emails_count: integer(),
});
const Problem = nullable(
  Type.String({ description: 'Why the rules are not applied: one needs a deleted field; null if they are applied.' }),
);
const About = { segment_name: line(), ...ruleProperties };
const ById = { segment_id: identifier('The segment.') };

export type Segment = Static<typeof Segment>;

const record = recordObject(Segment, segments, {
  select_field: sql`json(${segments.select_field})`,
  select_operator: sql`json(${segments.select_operator})`,
  value: sql`json(${segments.value})`,
});
const from = sql`${segments}`;

export const listSegments = listOperation({
  name: 'List the segments',
  role: 'viewer',
  input: listQuery,
  as: 'segments',
  record: Segment,
  select: ({ accountId }, part) => ({ record, from, where: ownedBy(segments, accountId), id: segments.id, part }),
});

export const addSegment = operation({
  name: 'Add a segment',
  description:
    'The rules are read by position: the first field belongs to the first operator, and each operator takes as many values as it needs.',
  role: 'editor',
  input: Type.Object(About),
  check: checkRules,
  async run({ db, clock, accountId, wake }, about) {
    const id = await createSegment(db, clock, accountId, about);
    wake();
    return { id };
  },
});

export const changeSegment = operation({
  name: 'Change a segment',
  role: 'editor',
  input: Type.Object({ ...ById, ...About }),
  check: checkRules,
  async run({ db, clock, accountId, wake }, { segment_id, ...about }) {
    const id = await updateSegment(db, clock, accountId, segment_id, about);
    wake();
    return { id };
  },
});

export const readSegment = recordOperation({
  name: 'Read a segment',
  role: 'viewer',
  input: Type.Object(ById),
  as: 'segment',
  record: Segment,
  json: ({ db, accountId }, { segment_id: id }) => readRecord(db, record, from, ownedRecord(segments, id, accountId)),
});

export const readSegmentProblem = operation({
  name: 'Read why the rules of a segment are not applied (addition)',
  description: 'Until the problem is gone the segment keeps its recipients, and what targets it is held.',
  role: 'viewer',
  input: Type.Object(ById),
  output: Type.Object({ problem: Problem }),
  run({ db, accountId }, { segment_id }) {
    const id = recordId(segment_id);
    if (!hasSegment(db, accountId, id)) throw notFound();
    return { problem: segmentProblem(db, id) };
  },
});

export const deleteSegment = operation({
  name: 'Delete a segment',
  description:
    'A queued single send that names it is no longer queued, a live automation becomes a draft, and their reports say why. The confirmation is in errors, with the status success.',
  role: 'editor',
  input: Type.Object(ById),
  run({ db, clock, accountId, wake }, { segment_id }) {
    const id = recordId(segment_id);
    const now = isoTimestamp(clock.now());
    db.transaction(
      (tx) => {
        const deleted = { deleted_at: now, recompute_after: null, check_at: null };
        const { changes } = tx
          .update(segments)
          .set(deleted)
          .where(ownedRecord(segments, id, accountId))
          .run();
        if (changes === 0) throw notFound();
        holdCampaignsUsingTarget(db, 'segments', id, now);
      },
      { behavior: 'immediate' },
    );
    wake();
  },
});
