/**
 * Keeps the members of segments up to date: every write to contacts updates the segments of their type in the same transaction,
 * only for the changed contacts. Also records who joined or left the target of an automation.
 */
import type { Database } from 'better-sqlite3';
import { and, asc, eq, isNull, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../database/open.ts';
import { preparedOnce } from '../../database/prepared.ts';
import {
  AUTOMATION_STATUS,
  type SegmentRule,
  type segmentRecipients,
  segments,
  type Target,
} from '../../database/schema/index.ts';
import { DAY_MS } from '../../units.ts';
import { listCustomFields } from '../fields/custom-fields.ts';
import { findBrokenRule } from './broken-rules.ts';
import { type Condition, ruleCondition } from './rule-sql.ts';

export type Segment = typeof segments.$inferSelect;
/** What the update of members needs of a segment. */
type SyncedSegment = Pick<Segment, 'id' | 'user_id' | 'contact_type_id' | 'rules' | 'query_type'>;

/** A contact type or segment. */
interface Membership {
  table: Target['table'];
  id: number;
}

export type Recipient = typeof segmentRecipients.$inferSelect;

interface SyncOptions {
  /** Called with the earlier state of rows that are removed or refer to another contact from now on. */
  saveOldRows?: (rows: readonly Recipient[]) => void;
  /** False: contacts that join do not enter automations, for example because an undo only restores them. True if absent. */
  startsAutomations?: boolean;
  /** True: contacts that join do not enter automations, but reach goals and exit rules. False if absent. */
  isRestoring?: boolean;
  /** The only field that was changed, by its name or the id of a custom field: other segments keep their members. All fields if absent. */
  field?: { name: string | null; customId: number | null };
}

const segmentsOfType = preparedOnce((db) => {
  const { id, user_id, contact_type_id, rules, query_type } = segments;
  return db
    .select({ id, user_id, contact_type_id, rules, query_type })
    .from(segments)
    .where(and(eq(contact_type_id, sql.placeholder('typeId')), isNull(segments.deleted_at)))
    .orderBy(asc(id))
    .prepare();
});

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
  const affected = segmentsOfType(db)
    .all({ typeId })
    .filter(({ rules }) => options.field === undefined || hasRuleAbout(rules, options.field));
  const [first] = affected;
  if (first === undefined) return;
  const facts = readSyncFacts(db, first);
  const json = asJson(people);
  for (const segment of affected) syncSegment(db, segment, json, now, facts, options);
}

function hasRuleAbout(rules: readonly SegmentRule[], { name, customId }: Required<SyncOptions>['field']): boolean {
  return rules.some((rule) => rule.customId === customId && (customId !== null || rule.field === name));
}

/** SQL: the values of `until` with which contacts wait for a time in their own time zone. */
const TIMES = "'date', 'hour', 'weekday'";

/**
 * Makes the background thread compute again, in pages, when contacts are due who wait for a date, an hour or a weekday, or who enter an
 * automation by a date. Call it if the time zones or dates of many may have changed. If `account` is null, applies to all accounts.
 */
export function recomputeDueTimes(client: Database, account: number | null): void {
  client
    .prepare<[object]>(`INSERT INTO automation_moves (automation_id, low, high, is_removal)
    SELECT DISTINCT automation_id, 0, ${Number.MAX_SAFE_INTEGER}, 0 FROM automation_schedules
    WHERE until IN (${TIMES}) AND (@account IS NULL OR user_id = @account)
    ON CONFLICT (automation_id) DO UPDATE SET low = iif(low IS NULL, NULL, 0), high = iif(high IS NULL, NULL, excluded.high), moved_to_address = 0`)
    .run({ account });
  // The hours of the last day may have passed in the new zones. Contacts who have entered by their date do not enter by it again.
  client
    .prepare<[object]>(`UPDATE automations SET dates_checked_to = max(dates_since, dates_checked_to - ${DAY_MS})
    WHERE trigger_kind = 'date' AND status = ${AUTOMATION_STATUS.live} AND deleted_at IS NULL AND (@account IS NULL OR user_id = @account)`)
    .run({ account });
}

/**
 * SQL: true if enrolment `e` may wait at step `s`. This is the first step after its position, or any later one while moved steps of the
 * automation are not yet applied to all enrolments.
 */
const MAY_WAIT = `
  e.delivery_id IS NULL AND e.due_at > @at AND s.position > e.position AND (
    s.position = (SELECT min(b.position) FROM automation_schedules b WHERE b.automation_id = e.automation_id AND b.position > e.position)
    OR EXISTS (SELECT 1 FROM moved_mails m WHERE m.automation_id = e.automation_id))`;

/** Records, for each step at which one of these contacts (address ids) waits for a time, that its date or time zone may have changed. */
function wakeWaitingForTimes(db: Db, typeId: number, people: readonly number[], now: string): void {
  db.$client
    .prepare<[object]>(`
    INSERT INTO membership_changes (user_id, automation_id, address_id, change, step_id, happened_at)
    SELECT s.user_id, s.automation_id, p.value, 'changed', s.id, @at
    FROM contact_types t CROSS JOIN automation_schedules s INDEXED BY automation_schedules_until ON s.user_id = t.user_id AND s.until IN (${TIMES})
      CROSS JOIN json_each(@people) p CROSS JOIN enrolments e INDEXED BY enrolments_active
        ON e.automation_id = s.automation_id AND e.address_id = p.value AND e.state = 'active'
    WHERE t.id = @type AND ${MAY_WAIT}`)
    .run({ type: typeId, people: JSON.stringify(people), at: Date.parse(now) });
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
  const isRowOfContact = sql`contact_id = ${contact.id} AND address_id = ${contact.from}
    AND segment_id IN (SELECT id FROM segments WHERE contact_type_id = ${contact.type})`;
  db.run(sql`
    UPDATE OR IGNORE segment_recipients SET address_id = ${contact.to}, email = ${contact.email}, updated_at = ${now}
    WHERE ${isRowOfContact}`);
  db.run(sql`DELETE FROM segment_recipients WHERE ${isRowOfContact}`);
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
  syncSegment(db, segment, asJson(people), now, readSyncFacts(db, segment), options);
}

/** Like `syncMembers`, for several segments of an account, each with its own contacts. */
export function syncSegments(
  db: Db,
  segments: readonly Segment[],
  peopleIn: (segment: Segment) => readonly number[],
  now: string,
): void {
  const factsByType = new Map<number, Facts>();
  for (const segment of segments) {
    const people = peopleIn(segment);
    if (people.length === 0) continue;
    const facts = factsByType.get(segment.contact_type_id) ?? readSyncFacts(db, segment);
    factsByType.set(segment.contact_type_id, facts);
    syncSegment(db, segment, asJson(people), now, facts, {});
  }
}

/**
 * What the update of members needs to know about the contact type and the account. These facts are read once for all segments, because
 * each query has a cost.
 */
interface Facts {
  isLiveType: boolean;
  liveFields: ReadonlySet<number>;
  /** The segments that are the target, goal or exit rule of an automation for which joins or leaves are recorded. */
  watched: ReadonlySet<number>;
}

function readSyncFacts(db: Db, { user_id, contact_type_id }: SyncedSegment): Facts {
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

/** Returns address ids as JSON, each once. */
function asJson(people: readonly number[]): string {
  return JSON.stringify([...new Set(people)]);
}

/** How a contact's row in a segment differs from what the rules say. */
interface Difference {
  address: number;
  /** The contact of the segment's type with this address, by id; null: none. */
  contact: number | null;
  /** The contact's row in the segment, by id; null: none. */
  row: number | null;
  /** 1: the contact is in the segment, or joins it; 0: it leaves. */
  isIn: 0 | 1;
}

function syncSegment(
  db: Db,
  segment: SyncedSegment,
  people: string,
  now: string,
  facts: Facts,
  { saveOldRows, startsAutomations = true, isRestoring = false }: SyncOptions,
): void {
  // Most contacts stay where they are, so they are read once, and only those who differ are written.
  const differences = findDifferences(db, segment, people, now, facts);
  if (differences.length === 0) return;
  const { id, user_id } = segment;
  const isWatched = facts.watched.has(id);
  const membership: Membership = { table: 'segments', id };
  const left = differences.filter(({ row, isIn }) => row !== null && isIn === 0);
  const joined = differences.filter(({ row }) => row === null);
  const moved = differences.filter(({ row, isIn }) => row !== null && isIn === 1);
  if (left.length > 0) {
    const rows = db.$client
      .prepare<[string], Recipient>(
        'DELETE FROM segment_recipients WHERE id IN (SELECT value FROM json_each(?)) RETURNING *',
      )
      .all(JSON.stringify(left.map(({ row }) => row)));
    saveOldRows?.(rows);
    recordLeaves(db, membership, rows, isWatched, now);
  }
  if (joined.length > 0) {
    db.$client
      .prepare<[object]>(`
      INSERT INTO segment_recipients (user_id, segment_id, address_id, contact_id, email, created_at, updated_at)
      SELECT @user, @segment, c.address_id, c.id, c.email, @now, @now
      FROM json_each(@contacts) p CROSS JOIN contacts c ON c.id = p.value WHERE true ON CONFLICT DO NOTHING`)
      .run({ user: user_id, segment: id, now, contacts: JSON.stringify(joined.map(({ contact }) => contact)) });
    if (isWatched && startsAutomations) {
      const people = peopleOf(joined.map(({ address, contact }) => ({ address_id: address, contact_id: contact })));
      if (isRestoring) recordGoals(db, id, people, now);
      else recordMembershipChange(db, membership, 'joined', people, now);
    }
  }
  if (moved.length > 0) {
    const rows = JSON.stringify(moved.map(({ row, contact }) => [row, contact]));
    saveOldRows?.(
      db.$client
        .prepare<[string], Recipient>(
          'SELECT r.* FROM json_each(?) p CROSS JOIN segment_recipients r ON r.id = p.value ->> 0',
        )
        .all(rows),
    );
    db.$client
      .prepare<[object]>(`
      UPDATE segment_recipients SET contact_id = p.value ->> 1, updated_at = @now FROM json_each(@rows) p
      WHERE segment_recipients.id = p.value ->> 0`)
      .run({ rows, now });
  }
}

/** Returns which of these contacts must join or leave a segment, or have a row in it that names another contact. */
function findDifferences(
  db: Db,
  { id, user_id, contact_type_id, rules, query_type }: SyncedSegment,
  people: string,
  now: string,
  { isLiveType, liveFields }: Facts,
): Difference[] {
  // A rule about a deleted field changes no membership.
  const isBroken = findBrokenRule(rules, liveFields) !== null;
  const { text, values } = isBroken ? STAYS : ruleCondition(user_id, rules, query_type, now);
  // Contacts of a deleted type count as deleted.
  return db.$client
    .prepare<[object], Difference>(`SELECT address, contact, row, isByHand OR isMatch AS isIn FROM (
      SELECT p.value AS address, c.id AS contact, r.id AS row, r.contact_id AS known,
        ifnull(r.by_hand OR r.is_removed, 0) AS isByHand, c.id IS NOT NULL AND ${text} AS isMatch
      FROM json_each(@people) p
        LEFT JOIN contacts c ON c.contact_type_id = @type AND c.address_id = p.value AND ${isLiveType ? 'c.deleted_at IS NULL' : 'false'}
        LEFT JOIN segment_recipients r ON r.segment_id = @segment AND r.address_id = p.value)
    WHERE iif(row IS NULL, isMatch, known IS NOT contact OR NOT (isByHand OR isMatch))`)
    .all({ ...values, people, segment: id, type: contact_type_id });
}

/** The condition for rules that cannot be evaluated: contacts stay in the segment or out of it. */
const STAYS: Condition = { text: 'r.id IS NOT NULL', values: {} };

/** Records that contacts left a segment: for their timeline, and for automations that need to know. */
function recordLeaves(
  db: Db,
  segment: Membership,
  recipients: readonly Recipient[],
  isWatched: boolean,
  now: string,
): void {
  const leaves = recipients.map(({ address_id, contact_id, created_at }) => ({ address_id, contact_id, created_at }));
  if (isWatched) recordMembershipChange(db, segment, 'left', peopleOf(leaves), now);
  db.run(sql`
    INSERT INTO segment_leaves (segment_id, address_id, joined_at, left_at)
    SELECT ${segment.id}, value ->> 'address_id', value ->> 'created_at', ${now} FROM json_each(${JSON.stringify(leaves)})`);
}

/** Returns these contacts as a SELECT for `recordMembershipChange`. */
export function peopleOf(rows: readonly { address_id: number; contact_id: number | null }[]): SQL {
  const people = JSON.stringify(rows.map(({ address_id, contact_id }) => [address_id, contact_id]));
  return sql`SELECT value ->> 0 AS address_id, value ->> 1 AS contact_id FROM json_each(${people})`;
}

/**
 * SQL: true if a change is recorded for automation `au`. A join is recorded for live automations that joining starts. A leave is recorded
 * for automations, live or paused, with `exit_criteria = 1`, in which leaving the target ends the enrolment.
 */
const RECORDS = {
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
    WHERE au.automation_for_table = ${table} AND au.automation_for = ${id} AND ${RECORDS[change]}`);
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
  const before = client.prepare<[], number>('SELECT ifnull(max(id), 0) FROM membership_changes').pluck().get() ?? 0;
  const result = write();
  client
    .prepare<[number]>(`DELETE FROM membership_changes WHERE id > ? AND change = 'joined'
      AND automation_id IN (SELECT id FROM automations WHERE trigger_kind = 'field')`)
    .run(before);
  return result;
}
