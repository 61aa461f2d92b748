/**
 * Keeps the members of segments up to date: every write to contacts updates the segments of their type in the same transaction,
 * only for the changed contacts. Also records who joined or left the target of an automation.
 */
import type { Database } from 'better-sqlite3';
import { and, asc, eq, isNull, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../database/open.ts';
import { prepared } from '../../database/prepared.ts';
import {
  AUTOMATION_STATUS,
  type SegmentRule,
  type segmentRecipients,
  segments,
  type Target,
} from '../../database/schema/index.ts';
import { listCustomFields } from '../fields/custom-fields.ts';
import { findBrokenRule } from './broken-rules.ts';
import { type Condition, ruleCondition } from './rule-sql.ts';

export type Segment = typeof segments.$inferSelect;

const DAY_MS = 86_400_000;

/** A contact type or segment. */
interface Membership {
  table: Target['table'];
  id: number;
}

export type Recipient = typeof segmentRecipients.$inferSelect;

interface SyncOptions {
  /** Called with the old state of rows that are removed or refer to another contact from now on. */
  before?: (rows: readonly Recipient[]) => void;
  /** False: contacts that join do not enter automations, for example because an undo only restores them. True if absent. */
  startsAutomations?: boolean;
  /** True: contacts that join do not enter automations, but reach goals and exit rules. False if absent. */
  isRestoring?: boolean;
  /** The only field that was changed, by its name or the id of a custom field: other segments keep their members. All fields if absent. */
  field?: { name: string | null; customId: number | null };
}

/**
 * Updates these contacts (address ids) in every segment of a contact type. Call after the contacts have been written, inside
 * the same transaction. `now` is an ISO timestamp.
 */
export function syncAfterContactChange(
  db: Db,
  typeId: number,
  people: readonly number[],
  now: string,
  options: SyncOptions = {},
): void {
  wakeWaitingForTimes(db, typeId, people, now);
  const affected = db
    .select()
    .from(segments)
    .where(and(eq(segments.contact_type_id, typeId), isNull(segments.deleted_at)))
    .orderBy(asc(segments.id))
    .all()
    .filter(({ rules }) => options.field === undefined || hasRuleAbout(rules, options.field));
  const [first] = affected;
  if (first === undefined) return;
  const facts = readSyncFacts(db, first);
  for (const segment of affected) syncSegment(db, segment, people, now, facts, options);
}

function hasRuleAbout(rules: readonly SegmentRule[], { name, customId }: Required<SyncOptions>['field']): boolean {
  return rules.some((rule) => rule.customId === customId && (customId !== null || rule.field === name));
}

/** SQL: what contacts wait for by the clock where they live. */
const TIMES = "'date', 'hour', 'weekday'";

/**
 * Has the background look again, in pages, at contacts who wait for a date, an hour or a weekday, or who enter an automation by a date,
 * because the time zones or dates of many may have changed. `account` null: of all accounts.
 */
export function lookAtTimesAgain(client: Database, account: number | null): void {
  prepared<[object]>(
    client,
    `INSERT INTO automation_moves (automation_id, low, high, is_removal)
    SELECT DISTINCT automation_id, 0, ${Number.MAX_SAFE_INTEGER}, 0 FROM automation_schedules
    WHERE until IN (${TIMES}) AND (@account IS NULL OR user_id = @account)
    ON CONFLICT (automation_id) DO UPDATE SET low = iif(low IS NULL, NULL, 0), high = iif(high IS NULL, NULL, excluded.high), moved_to_address = 0`,
  ).run({ account });
  // The hours of the last day may have passed in the new zones. Contacts who have entered by their date do not enter by it again.
  prepared<[object]>(
    client,
    `UPDATE automations SET dates_checked_to = max(dates_since, dates_checked_to - ${DAY_MS})
    WHERE trigger_kind = 'date' AND status = ${AUTOMATION_STATUS.live} AND deleted_at IS NULL AND (@account IS NULL OR user_id = @account)`,
  ).run({ account });
}

/** SQL: an enrolment `e` may wait at the step `s`, which is the first after its position unless steps were moved and it was not yet. */
const MAY_WAIT = `
  e.delivery_id IS NULL AND e.due_at > @at AND s.position > e.position AND (
    s.position = (SELECT min(b.position) FROM automation_schedules b WHERE b.automation_id = e.automation_id AND b.position > e.position)
    OR EXISTS (SELECT 1 FROM moved_mails m WHERE m.automation_id = e.automation_id))`;

/** Records that these contacts (address ids) may have another date or time zone, where they wait for a time in an automation. */
function wakeWaitingForTimes(db: Db, typeId: number, people: readonly number[], now: string): void {
  prepared<[object]>(
    db.$client,
    `INSERT INTO membership_changes (user_id, automation_id, address_id, change, step_id, happened_at)
    SELECT s.user_id, s.automation_id, p.value, 'changed', s.id, @at
    FROM contact_types t CROSS JOIN automation_schedules s INDEXED BY automation_schedules_until ON s.user_id = t.user_id AND s.until IN (${TIMES})
      CROSS JOIN json_each(@people) p CROSS JOIN enrolments e INDEXED BY enrolments_active
        ON e.automation_id = s.automation_id AND e.address_id = p.value AND e.state = 'active'
    WHERE t.id = @type AND ${MAY_WAIT}`,
  ).run({ type: typeId, people: JSON.stringify(people), at: Date.parse(now) });
}

/**
 * Records that contacts left or joined a contact type, and updates its segments. Call after the contacts have been written, inside the same
 * transaction. `now` is an ISO timestamp.
 */
export function syncTypeChange(
  db: Db,
  typeId: number,
  change: 'joined' | 'left',
  contacts: readonly { id: number; address_id: number }[],
  now: string,
): void {
  const people = contacts.map(({ id, address_id }) => ({ contact_id: id, address_id }));
  recordMembershipChange(db, { table: 'contacts', id: typeId }, change, peopleOf(people), now);
  const addresses = contacts.map(({ address_id }) => address_id);
  syncAfterContactChange(db, typeId, addresses, now);
}

/**
 * Moves a contact's rows in the segments of its type to its new address, also rows removed by hand. A corrected address counts
 * neither as leaving nor as joining. If the new address is already in a segment, its row stays and the old one is deleted. Call
 * before `syncAfterContactChange`, inside the transaction of the change. `now` is an ISO timestamp.
 */
export function readdressRecipients(
  db: Db,
  contact: { id: number; type: number; email: string; from: number; to: number },
  now: string,
): void {
  const theirs = sql`contact_id = ${contact.id} AND address_id = ${contact.from}
    AND segment_id IN (SELECT id FROM segments WHERE contact_type_id = ${contact.type})`;
  db.run(sql`
    UPDATE OR IGNORE segment_recipients SET address_id = ${contact.to}, email = ${contact.email}, updated_at = ${now}
    WHERE ${theirs}`);
  db.run(sql`DELETE FROM segment_recipients WHERE ${theirs}`);
}

/**
 * Adds and removes these contacts (address ids) according to the rules of the segment. Contacts added or removed by hand are
 * not changed. Call inside a transaction.
 */
export function syncMembers(
  db: Db,
  segment: Segment,
  people: readonly number[],
  now: string,
  options: Pick<SyncOptions, 'isRestoring'> = {},
): void {
  syncSegment(db, segment, people, now, readSyncFacts(db, segment), options);
}

/**
 * The properties of the contact type and account that the update of members needs. Read once for all segments, because each
 * query has a cost.
 */
interface Facts {
  isLiveType: boolean;
  liveFields: ReadonlySet<number>;
  /** The segments that are the target, goal or exit rule of an automation for which joins or leaves are recorded. */
  watched: ReadonlySet<number>;
}

function readSyncFacts(db: Db, { user_id, contact_type_id }: Segment): Facts {
  const type = db.get(sql`SELECT 1 FROM contact_types WHERE id = ${contact_type_id} AND deleted_at IS NULL`);
  const watched = db.all<{ id: number }>(sql`
    SELECT automation_for AS id FROM automations
    WHERE (status = ${AUTOMATION_STATUS.live} OR exit_criteria = 1) AND deleted_at IS NULL AND automation_for_table = 'segments' AND user_id = ${user_id}
    UNION SELECT goal_segment_id FROM automations WHERE deleted_at IS NULL AND goal_segment_id IS NOT NULL AND user_id = ${user_id}
    UNION SELECT exit_segment_id FROM automations WHERE deleted_at IS NULL AND exit_segment_id IS NOT NULL AND user_id = ${user_id}`);
  return {
    isLiveType: type !== undefined,
    liveFields: new Set(listCustomFields(db, user_id).map((field) => field.id)),
    watched: new Set(watched.map(({ id }) => id)),
  };
}

const NOBODY: Condition = { text: 'false', values: {} };

function syncSegment(
  db: Db,
  segment: Segment,
  people: readonly number[],
  now: string,
  facts: Facts,
  { before: keep, startsAutomations = true, isRestoring = false }: SyncOptions,
): void {
  const { id, user_id, contact_type_id } = segment;
  const isWatched = facts.watched.has(id);
  const membership: Membership = { table: 'segments', id };
  // A rule about a deleted field changes no membership.
  const isBroken = findBrokenRule(segment.rules, facts.liveFields) !== null;
  const matches = isBroken ? NOBODY : ruleCondition(user_id, segment.rules, segment.query_type, now);
  const stays = isBroken ? 'true' : matches.text;
  const bound = {
    ...matches.values,
    people: JSON.stringify(people),
    segment: id,
    user: user_id,
    type: contact_type_id,
    now,
  };
  const run = (text: string) => prepared(db.$client, text).run(bound);
  // Contacts of a deleted type count as deleted.
  const isLive = facts.isLiveType ? 'c.deleted_at IS NULL' : 'false';
  const theirs = `c.contact_type_id = @type AND c.address_id = segment_recipients.address_id AND ${isLive}`;

  const gone = `
    segment_id = @segment AND address_id IN (SELECT value FROM json_each(@people)) AND by_hand = 0 AND is_removed = 0
      AND NOT EXISTS (SELECT 1 FROM contacts c WHERE ${theirs} AND ${stays})`;
  const before = isWatched ? lastRecipientId(db) : 0;
  const left = prepared<[typeof bound], Recipient>(
    db.$client,
    `DELETE FROM segment_recipients WHERE ${gone} RETURNING *`,
  ).all(bound);
  if (left.length > 0) {
    keep?.(left);
    recordLeaves(db, membership, left, isWatched, now);
  }
  run(`
    INSERT INTO segment_recipients (user_id, segment_id, address_id, contact_id, email, created_at, updated_at)
    SELECT @user, @segment, c.address_id, c.id, c.email, @now, @now
    FROM json_each(@people) p CROSS JOIN contacts c
      ON c.contact_type_id = @type AND c.address_id = p.value AND ${isLive}
    WHERE ${matches.text}
    ON CONFLICT DO NOTHING`);
  if (isWatched && startsAutomations) {
    // The unary plus keeps the planner from using the index on the segment instead of the range of new ids.
    const joined = sql`SELECT address_id, contact_id FROM segment_recipients WHERE id > ${before} AND +segment_id = ${id}`;
    if (isRestoring) recordGoals(db, id, joined, now);
    else recordMembershipChange(db, membership, 'joined', joined, now);
  }
  const elsewhere = `segment_id = @segment AND address_id IN (SELECT value FROM json_each(@people))
      AND contact_id IS NOT (SELECT c.id FROM contacts c WHERE ${theirs})`;
  if (keep !== undefined) {
    const rows = prepared<[typeof bound], Recipient>(
      db.$client,
      `SELECT * FROM segment_recipients WHERE ${elsewhere}`,
    ).all(bound);
    if (rows.length === 0) return;
    keep(rows);
  }
  run(`
    UPDATE segment_recipients SET contact_id = (SELECT c.id FROM contacts c WHERE ${theirs}), updated_at = @now
    WHERE ${elsewhere}`);
}

/** Records that contacts left a segment: for their timeline, and for automations that need to know. */
function recordLeaves(
  db: Db,
  segment: Membership,
  recipients: readonly Recipient[],
  isWatched: boolean,
  now: string,
): void {
  const left = recipients.map(({ address_id, contact_id, created_at }) => ({ address_id, contact_id, created_at }));
  if (isWatched) recordMembershipChange(db, segment, 'left', peopleOf(left), now);
  db.run(sql`
    INSERT INTO segment_leaves (segment_id, address_id, joined_at, left_at)
    SELECT ${segment.id}, value ->> 'address_id', value ->> 'created_at', ${now} FROM json_each(${JSON.stringify(left)})`);
}

/** Returns these contacts as a SELECT for `recordMembershipChange`. */
export function peopleOf(rows: readonly { address_id: number; contact_id: number | null }[]): SQL {
  const people = JSON.stringify(rows.map(({ address_id, contact_id }) => [address_id, contact_id]));
  return sql`SELECT value ->> 0 AS address_id, value ->> 1 AS contact_id FROM json_each(${people})`;
}

function lastRecipientId(db: Db): number {
  return db.get<{ last: number }>(sql`SELECT ifnull(max(id), 0) AS last FROM segment_recipients`).last;
}

/**
 * SQL: the automations (`au`) for which a change is recorded. Joins: live ones that joining starts. Leaves: those with
 * `exit_criteria = 1`, in which leaving the target ends the enrolment, whether they are live or paused.
 */
const CONCERNED = {
  joined: sql`au.status = ${AUTOMATION_STATUS.live} AND au.trigger_kind = 'join' AND au.deleted_at IS NULL`,
  left: sql`au.exit_criteria = 1 AND au.deleted_at IS NULL`,
};

/**
 * Records that contacts joined or left a target, for each automation that needs to know now. `people` is a SELECT of address_id
 * and contact_id. Call inside the transaction of the change. `now` is an ISO timestamp.
 */
export function recordMembershipChange(
  db: Db,
  { table, id }: Membership,
  change: 'joined' | 'left',
  people: SQL,
  now: string,
): void {
  db.run(sql`
    INSERT INTO membership_changes (user_id, automation_id, address_id, contact_id, change, happened_at)
    SELECT au.user_id, au.id, p.address_id, p.contact_id, ${change}, ${Date.parse(now)}
    FROM automations au CROSS JOIN (${people}) p
    WHERE au.automation_for_table = ${table} AND au.automation_for = ${id} AND ${CONCERNED[change]}`);
  if (table === 'segments' && change === 'joined') recordGoals(db, id, people, now);
}

/** Records that contacts joined a segment, for the automations whose goal or exit rule it is. */
function recordGoals(db: Db, id: number, people: SQL, now: string): void {
  db.run(sql`
    INSERT INTO membership_changes (user_id, automation_id, address_id, contact_id, change, happened_at)
    SELECT au.user_id, au.id, p.address_id, p.contact_id, iif(au.goal_segment_id = ${id}, 'goal', 'exit'), ${Date.parse(now)}
    FROM automations au CROSS JOIN (${people}) p
    WHERE au.deleted_at IS NULL AND (au.goal_segment_id = ${id} OR au.exit_segment_id = ${id})`);
}

/**
 * Records that a contact confirmed a form, for the automations that it starts. Call inside the transaction of the confirmation.
 * @param now ISO timestamp.
 */
export function recordFormConfirmed(
  db: Db,
  form: { id: number; user_id: number },
  person: { address_id: number; contact_id: number },
  now: string,
): void {
  db.run(sql`
    INSERT INTO membership_changes (user_id, automation_id, address_id, contact_id, change, happened_at)
    SELECT user_id, id, ${person.address_id}, ${person.contact_id}, 'joined', ${Date.parse(now)} FROM automations
    WHERE user_id = ${form.user_id} AND trigger_kind = 'form' AND trigger_form_id = ${form.id}
      AND status = ${AUTOMATION_STATUS.live} AND deleted_at IS NULL`);
}

/**
 * Runs writes to contacts whose changed fields start no automations, for example because an undo only restores them. Call inside a
 * transaction.
 */
export function withoutFieldTriggers<Result>({ $client: client }: Db, write: () => Result): Result {
  const before = prepared<[], number>(client, 'SELECT ifnull(max(id), 0) FROM membership_changes').pluck().get() ?? 0;
  const result = write();
  prepared<[number]>(
    client,
    `DELETE FROM membership_changes WHERE id > ? AND change = 'joined'
      AND automation_id IN (SELECT id FROM automations WHERE trigger_kind = 'field')`,
  ).run(before);
  return result;
}
