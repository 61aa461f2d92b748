/** Updates contacts in the segments whose rules are about what contacts did, after new events were read. */
import { and, eq, isNotNull, isNull } from 'drizzle-orm';
import type { Db } from '../../database/open.ts';
import { prepared } from '../../database/prepared.ts';
import { type SegmentRule, segments } from '../../database/schema/index.ts';
import { type Segment, syncMembers } from './membership.ts';
import { ruleCondition } from './rule-sql.ts';
import { isActivityRule } from './rules.ts';

/**
 * The maximum of events times segments in one write, which takes some milliseconds, because each contact with an event is
 * checked for each segment.
 */
const MAX_LOOKUPS = 2000;

/** Returns how many new events one write may read. */
export function eventsAtOnce(client: Db['$client']): number {
  return Math.ceil(MAX_LOOKUPS / Math.max(1, mostSegments(client)));
}

/** Returns the largest number of segments in one account that depend on time, as segments with rules about activity do. */
function mostSegments(client: Db['$client']): number {
  return (
    prepared<[], number>(
      client,
      'SELECT max(count) FROM (SELECT count(*) AS count FROM segments WHERE check_at IS NOT NULL AND deleted_at IS NULL GROUP BY user_id)',
    )
      .pluck()
      .get() ?? 0
  );
}

/** The contacts of an account as a JSON array of address ids. */
interface OfAccount {
  account: number;
  people: string;
}

/**
 * Updates these contacts (address ids) in those segments of their accounts that have a rule about activity that `concerns` them.
 * Call inside a transaction. `now` is an ISO timestamp.
 */
export function updateSegments(
  db: Db,
  people: readonly number[],
  now: string,
  concerns: (rule: SegmentRule) => boolean,
): void {
  const client = db.$client;
  if (prepared(client, 'SELECT 1 FROM segments WHERE check_at IS NOT NULL LIMIT 1').get() === undefined) return;
  const accounts = prepared<[string], OfAccount>(
    client,
    `SELECT a.user_id AS account, json_group_array(a.id) AS people
    FROM json_each(?) p CROSS JOIN addresses a ON a.id = p.value GROUP BY a.user_id`,
  ).all(JSON.stringify(people));
  for (const { account, people: theirs } of accounts)
    updateAccount(db, account, now, (segment) =>
      segment.rules.some((rule) => isActivityRule(rule) && concerns(rule)) ? theirs : null,
    );
}

/**
 * Updates contacts in the segments of an account that depend on time: for each segment those that `peopleOf` gives, as a JSON
 * array of address ids; null: none. Call inside a transaction. `now` is an ISO timestamp.
 */
export function updateAccount(
  db: Db,
  account: number,
  now: string,
  peopleOf: (segment: Segment) => string | null,
): void {
  const timed = db
    .select()
    .from(segments)
    .where(and(eq(segments.user_id, account), isNotNull(segments.check_at), isNull(segments.deleted_at)))
    .all();
  for (const segment of timed) {
    const people = peopleOf(segment);
    const changed = people === null ? [] : findChanged(db, segment, people, now);
    if (changed.length > 0) syncMembers(db, segment, changed, now);
  }
}

/**
 * Returns the contacts that match the rules without being in the segment, or the other way round. They are few, because most
 * events change nothing.
 */
function findChanged(db: Db, segment: Segment, people: string, now: string): number[] {
  const { text, values } = ruleCondition(segment.user_id, segment.rules, segment.query_type, now);
  return prepared<[object], number>(
    db.$client,
    `SELECT p.value FROM json_each(@people) p
    WHERE EXISTS (SELECT 1 FROM contacts c
        WHERE c.contact_type_id = @type AND c.address_id = p.value AND c.deleted_at IS NULL AND ${text})
      <> EXISTS (SELECT 1 FROM segment_recipients r
        WHERE r.segment_id = @segment AND r.address_id = p.value AND r.is_removed = 0)`,
  )
    .pluck()
    .all({ ...values, people, type: segment.contact_type_id, segment: segment.id });
}
