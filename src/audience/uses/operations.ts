/** Operations that say what deleting a record would affect. All of them are additions to the contract. */
import { type SQL, sql } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import type { Db } from '../../database/open.ts';
import { isOwned, ownedRecord, recordId } from '../../database/ownership.ts';
import {
  AUTOMATION_STATUS,
  contactTypes,
  customFields,
  type feeds,
  SINGLE_SEND_STATUS,
  segments,
  type Target,
} from '../../database/schema/index.ts';
import { notFound } from '../../errors/failure.ts';
import { choice, identifier, integer } from '../../http/requests/schemas.ts';
import { mayRead } from '../../operations/callers.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { segmentsWithField } from '../segments/broken-rules.ts';

/** The maximum number of automations that are named. */
const MAX_NAMED = 20;

/** How many campaigns that have not ended use a record: a segment, a contact type or a field. */
const Campaigns = {
  single_sends: integer({
    description: 'The number of drafts and queued single sends that name the record, or a segment that needs it.',
  }),
  queued_single_sends: integer({
    description: 'How many of these single sends are queued. Deleting the record makes them drafts.',
  }),
  automations: integer({ description: 'The number of automations for the record, or for a segment that needs it.' }),
  live_automations: integer({
    description: 'How many of these automations are live. Deleting the record makes them drafts.',
  }),
  mentions: integer({
    description:
      'The number of automations that name the record in their trigger, a step, their goal or their exit rule. A live one that loses its goal or exit rule becomes a draft; the others stay live.',
  }),
  mentioned_in: Type.Array(Type.Object({ utr: Type.String(), automation_name: Type.String() }), {
    description: `The automations that \`mentions\` counts, newest first, at most ${MAX_NAMED}; none for a key pair that may not read automations.`,
  }),
};
const people = integer({ description: 'The number of contacts in the segment or contact type.' });
const needingSegments = integer({ description: 'The number of segments that need the record.' });
const SegmentUses = Type.Object({ people, ...Campaigns });
const ContactTypeUses = Type.Object({ people, segments: needingSegments, ...Campaigns });
const FieldUses = Type.Object({ segments: needingSegments, ...Campaigns });

export type SegmentUses = Static<typeof SegmentUses>;
export type ContactTypeUses = Static<typeof ContactTypeUses>;
export type FieldUses = Static<typeof FieldUses>;

export const countUsesOfSegment = operation({
  name: 'Count what a segment is used for (addition)',
  role: 'viewer',
  input: Type.Object({ segment_id: identifier('The segment.') }),
  output: Type.Object({ uses: SegmentUses }),
  run(context, { segment_id }) {
    const where = ownedRecord(segments, segment_id, context.accountId);
    const segment = context.db.select().from(segments).where(where).get();
    if (segment === undefined) throw notFound();
    return {
      uses: { people: segment.segment_emails_count, ...usingCampaigns(context, targets('segments', [segment])) },
    };
  },
});

export const countUsesOfContactType = operation({
  name: 'Count what a contact type is used for (addition)',
  role: 'viewer',
  input: Type.Object({ contact_type_id: identifier('The contact type.') }),
  output: Type.Object({ uses: ContactTypeUses }),
  run(context, { contact_type_id }) {
    const where = ownedRecord(contactTypes, contact_type_id, context.accountId);
    const type = context.db.select().from(contactTypes).where(where).get();
    if (type === undefined) throw notFound();
    const ofType = segmentsOfType(context.db, type.id);
    const campaigns = usingCampaigns(context, [...targets('contacts', [type]), ...targets('segments', ofType)]);
    return { uses: { people: type.contacts_count, segments: ofType.length, ...campaigns } };
  },
});

export const countUsesOfField = operation({
  name: 'Count what a field of your own is used for (addition)',
  description: 'Counts the segments whose rules have the field, and the campaigns to these segments.',
  role: 'viewer',
  input: Type.Object({ id: identifier('The custom field.') }),
  output: Type.Object({ uses: FieldUses }),
  run(context, { id: fieldId }) {
    const { db, accountId } = context;
    const id = recordId(fieldId);
    if (!isOwned(db, customFields, id, accountId)) throw notFound();
    const needing = needingSegmentsOf(db, accountId, id);
    return { uses: { segments: needing.length, ...usingCampaigns(context, targets('segments', needing), id) } };
  },
});

/** The kinds of records that a feed uses, itself or through its segments. */
const FEED_USES = ['sender', 'topic', 'segment', 'list', 'field'] as const;
export type FeedUse = (typeof FEED_USES)[number];
export type UsingFeed = Pick<typeof feeds.$inferSelect, 'id' | 'feed_name'>;

/** For the questions of the screens: a feed pauses when the sender, topic, list or segment of its next e-mail is gone. */
export const listFeedsUsing = operation({
  name: 'List the active feeds that use a record',
  role: 'viewer',
  input: Type.Object({ kind: choice(...FEED_USES), id: identifier('The record.') }),
  run({ db, accountId }, { kind, id: recordKey }): UsingFeed[] {
    const id = recordId(recordKey);
    const uses = {
      sender: () => sql`sender_id = ${id}`,
      topic: () => sql`unsubscribe_group_id = ${id}`,
      segment: () => feedTargets(targets('segments', [{ id }])),
      list: () => feedTargets([...targets('contacts', [{ id }]), ...targets('segments', segmentsOfType(db, id))]),
      field: () => feedTargets(targets('segments', needingSegmentsOf(db, accountId, id))),
    };
    return db.all(
      sql`SELECT id, feed_name FROM feeds WHERE user_id = ${accountId} AND state = 'active' AND ${uses[kind]()} ORDER BY id`,
    );
  },
});

function segmentsOfType(db: Db, typeId: number): { id: number }[] {
  return db.all(sql`SELECT id FROM segments WHERE contact_type_id = ${typeId} AND deleted_at IS NULL`);
}

function needingSegmentsOf(db: Db, accountId: number, fieldId: number): { id: number }[] {
  return segmentsWithField(db, accountId, fieldId).map((id) => ({ id }));
}

/** Returns a condition: a feed includes or excludes one of these targets. */
function feedTargets(targets: readonly Target[]): SQL {
  const keys = targetKeys(targets);
  return sql`(${namesTarget('recipient_id', keys)} OR ${namesTarget('exclude_specific_recipient_id', keys)})`;
}

function targets(table: Target['table'], records: readonly { id: number }[]): Target[] {
  return records.map(({ id }) => ({ table, id: String(id) }));
}

/** Returns targets as a JSON array of the keys with which `isTarget` compares. */
function targetKeys(targets: readonly Target[]): string {
  return JSON.stringify(targets.map(({ table, id }) => `${table}_${id}`));
}

/** Returns a condition: the target of which SQL gives the table and the id is one of these keys. */
function isTarget(table: string, id: string, keys: string): SQL {
  return sql`(${sql.raw(table)}) || '_' || (${sql.raw(id)}) IN (SELECT value FROM json_each(${keys}))`;
}

/** Returns a condition: the JSON array in a column has one of the targets with these keys. */
function namesTarget(column: string, keys: string): SQL {
  return sql`EXISTS (SELECT 1 FROM json_each(${sql.raw(column)}) t WHERE ${isTarget("t.value ->> 'table'", "t.value ->> 'id'", keys)})`;
}

/**
 * Counts the drafts and queued single sends that include or exclude one of these targets, and the automations with one as their target.
 * Names the automations that mention one of the targets, or the custom field, elsewhere.
 */
function usingCampaigns(
  { db, accountId, scopes }: Context,
  targets: readonly Target[],
  field: number | null = null,
): { [Name in keyof typeof Campaigns]: Static<(typeof Campaigns)[Name]> } {
  const keys = targetKeys(targets);
  const counts = db.get<
    Record<'single_sends' | 'queued_single_sends' | 'automations' | 'live_automations', number>
  >(sql`
    SELECT * FROM
      (SELECT count(*) AS single_sends, count(*) FILTER (WHERE status = ${SINGLE_SEND_STATUS.queued}) AS queued_single_sends
       FROM single_sends WHERE user_id = ${accountId} AND status IN (${SINGLE_SEND_STATUS.draft}, ${SINGLE_SEND_STATUS.queued})
         AND (${namesTarget('recipient_id', keys)} OR ${namesTarget('exclude_specific_recipient_id', keys)})),
      (SELECT count(*) AS automations, count(*) FILTER (WHERE status = ${AUTOMATION_STATUS.live}) AS live_automations
       FROM automations WHERE user_id = ${accountId} AND deleted_at IS NULL AND ${isTarget('automation_for_table', 'automation_for', keys)})`);
  const mentioned = db.all<{ utr: string; automation_name: string; mentions: number }>(sql`
    SELECT a.utr, a.automation_name, count(*) OVER () AS mentions FROM automations a WHERE a.user_id = ${accountId} AND a.deleted_at IS NULL
      AND (${isTarget("'segments'", 'a.goal_segment_id', keys)} OR ${isTarget("'segments'", 'a.exit_segment_id', keys)} OR a.trigger_field_id = ${field}
        OR EXISTS (SELECT 1 FROM automation_schedules s WHERE s.automation_id = a.id
          AND (${isTarget("'segments'", 's.segment_id', keys)} OR ${isTarget("'contacts'", 's.contact_type_id', keys)} OR s.field_id = ${field})))
    ORDER BY a.id DESC LIMIT ${MAX_NAMED}`);
  const mentioned_in = mayRead({ scopes }, 'campaigns')
    ? mentioned.map(({ utr, automation_name }) => ({ utr, automation_name }))
    : [];
  return { ...counts, mentions: mentioned[0]?.mentions ?? 0, mentioned_in };
}
