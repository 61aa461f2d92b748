/**
 * Who is in what, kept true: after every write to contacts their people are settled in the segments of their type, in the same
 * transaction and at a cost that follows the change. Who joined or left a target that a live automation watches is recorded.
 */
import { and, asc, eq, isNull, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { segments, type WireTarget } from '../database/schema.ts';
import { customFieldsOf } from './fields.ts';
import { ruleCondition } from './rule-sql.ts';

export type Segment = typeof segments.$inferSelect;

interface Membership {
  userId: number;
  table: WireTarget['table'];
  /** Contact type or segment. */
  id: number;
}

/**
 * Settles people, by address id, in every segment of a contact type. Call after the contacts have been written, inside that
 * write's transaction; `now` is wire time.
 */
export function peopleChanged(db: Db, typeId: number, people: readonly number[], now: string): void {
  const affected = db
    .select()
    .from(segments)
    .where(and(eq(segments.contact_type_id, typeId), isNull(segments.deleted_at)))
    .orderBy(asc(segments.id))
    .all();
  for (const segment of affected) settle(db, segment, people, now);
}

/**
 * Makes the recipients of a segment what its rules say, for these people only (address ids). Who was added by hand stays, who was
 * removed by hand stays out. Call inside a transaction.
 */
export function settle(db: Db, segment: Segment, people: readonly number[], now: string): void {
  const { id, user_id, contact_type_id } = segment;
  const matches = conditionOf(db, segment, now);
  const given = sql`SELECT value FROM json_each(${JSON.stringify(people)})`;
  const own = (address: SQL) =>
    sql`c.contact_type_id = ${contact_type_id} AND c.address_id = ${address} AND c.deleted_at IS NULL`;
  const theirs = own(sql`segment_recipients.address_id`);
  const membership: Membership = { userId: user_id, table: 'segments', id };

  const gone = sql`
    segment_id = ${id} AND address_id IN (${given}) AND by_hand = 0 AND is_removed = 0
      AND NOT EXISTS (SELECT 1 FROM contacts c WHERE ${theirs} AND ${matches})`;
  recordChange(db, membership, 'left', sql`SELECT address_id, contact_id FROM segment_recipients WHERE ${gone}`, now);
  db.run(sql`DELETE FROM segment_recipients WHERE ${gone}`);

  const { last } = db.get<{ last: number }>(sql`SELECT ifnull(max(id), 0) AS last FROM segment_recipients`);
  db.run(sql`
    INSERT INTO segment_recipients (user_id, segment_id, address_id, contact_id, email, created_at, updated_at)
    SELECT ${user_id}, ${id}, c.address_id, c.id, c.email, ${now}, ${now}
    FROM json_each(${JSON.stringify(people)}) p CROSS JOIN contacts c ON ${own(sql`p.value`)}
    WHERE ${matches}
    ON CONFLICT DO NOTHING`);
  const joined = sql`SELECT address_id, contact_id FROM segment_recipients WHERE segment_id = ${id} AND id > ${last}`;
  recordChange(db, membership, 'joined', joined, now);

  const contact = sql`(SELECT c.id FROM contacts c WHERE ${theirs} AND ${isLiveType(contact_type_id)})`;
  db.run(sql`
    UPDATE segment_recipients SET contact_id = ${contact}, updated_at = ${now}
    WHERE segment_id = ${id} AND address_id IN (${given}) AND contact_id IS NOT ${contact}`);
}

/**
 * Records that people joined or left a target, when a live automation watches it. `people` is a SELECT of address_id and
 * contact_id. Call inside the transaction of the change; `now` is wire time.
 */
export function recordChange(
  db: Db,
  { userId, table, id }: Membership,
  change: 'joined' | 'left',
  people: SQL,
  now: string,
): void {
  db.run(sql`
    INSERT INTO membership_changes (user_id, target_table, target_id, address_id, contact_id, change, happened_at)
    SELECT ${userId}, ${table}, ${id}, address_id, contact_id, ${change}, ${Date.parse(now)} FROM (${people})
    WHERE EXISTS (SELECT 1 FROM automations WHERE status = 1 AND deleted_at IS NULL
      AND automation_for_table = ${table} AND automation_for = ${id})`);
}

function conditionOf(db: Db, { user_id, contact_type_id, rules, query_type }: Segment, now: string): SQL {
  const live = new Set(customFieldsOf(db, user_id).map((field) => field.id));
  return sql`${isLiveType(contact_type_id)} AND ${ruleCondition(rules, query_type, live, now)}`;
}

/** Contacts of a deleted type are deleted with it. */
function isLiveType(typeId: number): SQL {
  return sql`EXISTS (SELECT 1 FROM contact_types t WHERE t.id = ${typeId} AND t.deleted_at IS NULL)`;
}
