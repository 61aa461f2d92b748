/** Creates and changes segments, and adds and removes their recipients by hand. */

import type { Database } from 'better-sqlite3';
import { and, eq, isNotNull, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../database/open.ts';
import { isOwned, ownedBy, ownedRecord, recordId } from '../../database/ownership.ts';
import {
  contactTypes,
  type SegmentRule,
  segmentRecipients,
  segments,
  type Target,
} from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { conflict, notFound } from '../../errors/failure.ts';
import { type Sentence, sentence } from '../../errors/sentences.ts';
import { type Clock, isoTimestamp } from '../../time/clock.ts';
import { addressId } from '../contacts/address-rows.ts';
import type { Address } from '../contacts/addresses.ts';
import { listCustomFields } from '../fields/custom-fields.ts';
import { peopleOf, recordMembershipChange, syncMembers } from './membership.ts';
import { nextCheck, recomputeSoon } from './recompute.ts';
import { dependsOnTime, namedFinder, parseRules } from './rules.ts';

/** The fields of a segment, already validated. */
interface SegmentInput {
  segment_name: string;
  contact_type_id: number;
  select_field: string[];
  select_operator: string[];
  value?: string[];
  /** '' and absent mean `and`; in an update, absent does not change it. */
  query_type?: 'and' | 'or' | '';
}

/** The maximum number of segments of an account. */
const MAX_SEGMENTS = 1000;
/** The maximum number of rules in all segments of an account together, because each write to a contact evaluates them. */
const MAX_RULES_IN_ALL = 2000;

/** Returns how many segments and rules an account has, and how many of these rules (`own`) the segment `id` has. */
function countSegmentsAndRules(
  client: Database,
  account: number,
  id: number,
): { segments: number; rules: number; own: number } {
  return (
    client
      .prepare<[object], { segments: number; rules: number; own: number }>(`
      SELECT count(*) AS segments, ifnull(sum(json_array_length(rules)), 0) AS rules,
        ifnull(sum(json_array_length(rules)) FILTER (WHERE id = @id), 0) AS own
      FROM segments INDEXED BY segments_user WHERE user_id = @account AND deleted_at IS NULL`)
      .get({ account, id }) ?? { segments: 0, rules: 0, own: 0 }
  );
}

/** Returns how many rules the segments of an account have together. */
export function countRules(client: Database, account: number): number {
  return countSegmentsAndRules(client, account, 0).rules;
}

/**
 * Throws 409 if an account would have too many segments or rules after a change that gives a segment this number of rules. `id` is the
 * segment that is changed, which may always keep its number of rules; 0: a segment is added.
 */
function requireRoom({ $client: client }: Db, account: number, id: number, rules: number): void {
  const counts = countSegmentsAndRules(client, account, id);
  if (id === 0 && counts.segments >= MAX_SEGMENTS) throw conflict(sentence('segments_most', { count: MAX_SEGMENTS }));
  if (rules > counts.own && counts.rules - counts.own + rules > MAX_RULES_IN_ALL)
    throw conflict(sentence('segment_rules_most', { count: MAX_RULES_IN_ALL }));
}

/** Creates a segment and finds its members; the background thread finishes a large one. Returns its id. */
export async function createSegment(db: Db, clock: Clock, accountId: number, input: SegmentInput): Promise<number> {
  const id = insertSegment(db, clock, accountId, input);
  await recomputeSoon(db, [id], clock);
  return id;
}

/** Creates a segment and marks it to be recomputed. Returns its id. Throws 409 if the account may not have another segment. */
export function insertSegment(db: Db, clock: Clock, accountId: number, input: SegmentInput): number {
  const now = isoTimestamp(clock.now());
  const columns = segmentColumns(db, clock, accountId, input);
  requireRoom(db, accountId, 0, columns.rules.length);
  return db
    .insert(segments)
    .values({ ...columns, user_id: accountId, created_at: now, updated_at: now })
    .returning({ id: segments.id })
    .get().id;
}

/**
 * Changes a segment and recomputes its members; the background thread finishes a large one. Throws 404, and 409 if the account would have
 * too many rules.
 */
export async function updateSegment(
  db: Db,
  clock: Clock,
  accountId: number,
  segmentId: unknown,
  input: SegmentInput,
): Promise<number> {
  const id = recordId(segmentId);
  if (!hasSegment(db, accountId, id)) throw notFound();
  const columns = segmentColumns(db, clock, accountId, input);
  requireRoom(db, accountId, id, columns.rules.length);
  db.update(segments)
    .set({ ...columns, updated_at: isoTimestamp(clock.now()) })
    .where(ownedRecord(segments, id, accountId))
    .run();
  await recomputeSoon(db, [id], clock);
  return id;
}

/**
 * Brings a deleted segment back and recomputes its members, who enter no automations by this; the background thread finishes a large one.
 * Throws 404 if the account has no such segment, if it is not deleted or if its contact type is, and 409 if the account may not have
 * another segment.
 */
export async function restoreSegment(db: Db, clock: Clock, accountId: number, id: number): Promise<void> {
  const isDeleted = and(eq(segments.id, id), eq(segments.user_id, accountId), isNotNull(segments.deleted_at));
  const deleted = db.select().from(segments).where(isDeleted).get();
  if (deleted === undefined || !isOwned(db, contactTypes, deleted.contact_type_id, accountId)) throw notFound();
  requireRoom(db, accountId, 0, deleted.rules.length);
  const check_at = dependsOnTime(deleted.rules) ? nextCheck(clock) : null;
  const updated_at = isoTimestamp(clock.now());
  db.update(segments)
    .set({ deleted_at: null, recompute_after: 0, is_restoring: 1, check_at, updated_at })
    .where(eq(segments.id, id))
    .run();
  await recomputeSoon(db, [id], clock);
}

function segmentColumns(db: Db, clock: Clock, accountId: number, input: SegmentInput) {
  const { rules } = parseRules(listCustomFields(db, accountId), input, namedFinder(db, accountId));
  return {
    segment_name: input.segment_name,
    contact_type_id: input.contact_type_id,
    select_field: rules.map((rule) => rule.field),
    select_operator: rules.map((rule) => rule.operator),
    value: rules.flatMap((rule: SegmentRule) => rule.operands),
    ...(input.query_type !== undefined && { query_type: input.query_type || null }),
    rules,
    recompute_after: 0,
    check_at: dependsOnTime(rules) ? nextCheck(clock) : null,
  };
}

interface ManualRecipient {
  first_name: string;
  last_name: string;
  address: Address;
}

/** Adds a recipient by hand, who then stays in the segment whatever its rules say. An existing member is not added again. */
export function addRecipient(db: Db, accountId: number, segmentId: number, input: ManualRecipient, now: string): void {
  const { first_name, last_name, address } = input;
  inTransaction(db, (tx) => {
    const segment = tx
      .select()
      .from(segments)
      .where(ownedRecord(segments, segmentId, accountId))
      .get();
    if (segment === undefined) return;
    const address_id = addressId(db, accountId, address);
    const person = and(eq(segmentRecipients.segment_id, segmentId), eq(segmentRecipients.address_id, address_id));
    const before = tx.select().from(segmentRecipients).where(person).get();
    const set = { first_name, last_name, email: address.address, by_hand: 1, is_removed: 0, updated_at: now } as const;
    tx.insert(segmentRecipients)
      .values({ ...set, user_id: accountId, segment_id: segmentId, address_id, created_at: now })
      .onConflictDoUpdate({
        target: [segmentRecipients.segment_id, segmentRecipients.address_id],
        set: { ...set, rejoined_at: before?.is_removed === 1 ? now : undefined },
      })
      .run();
    syncMembers(db, segment, [address_id], now);
    if (before?.is_removed === 0) return;
    const joined = sql`
        SELECT address_id, contact_id FROM segment_recipients WHERE segment_id = ${segmentId} AND address_id = ${address_id}`;
    recordMembershipChange(db, { table: 'segments', id: segmentId }, 'joined', joined, now);
  });
}

/**
 * Adds contacts by hand, who then stay in the segment whatever its rules say. They enter its automations unless
 * `startsAutomations` is false. Returns false if the account has no such segment. Call inside the transaction of the change.
 */
export function addContactsToSegment(
  db: Db,
  accountId: number,
  segmentId: number,
  contactIds: readonly number[],
  now: string,
  startsAutomations = true,
): boolean {
  const segment = db
    .select()
    .from(segments)
    .where(ownedRecord(segments, segmentId, accountId))
    .get();
  if (segment === undefined) return false;
  const chosen = sql`json_each(${JSON.stringify(contactIds)}) i CROSS JOIN contacts c ON c.id = i.value`;
  const added = db.all<{ address_id: number; contact_id: number; is_new: number }>(sql`
    SELECT c.address_id, c.id AS contact_id, NOT EXISTS (SELECT 1 FROM segment_recipients r
      WHERE r.segment_id = ${segmentId} AND r.address_id = c.address_id AND r.is_removed = 0) AS is_new FROM ${chosen}`);
  db.run(sql`
    INSERT INTO segment_recipients (user_id, segment_id, address_id, contact_id, by_hand, first_name, last_name, email, created_at, updated_at)
    SELECT ${accountId}, ${segmentId}, c.address_id, c.id, 1, c.first_name, c.last_name, c.email, ${now}, ${now} FROM ${chosen} WHERE true
    ON CONFLICT (segment_id, address_id) DO UPDATE SET by_hand = 1, is_removed = 0, updated_at = excluded.updated_at,
      rejoined_at = iif(is_removed = 1, excluded.updated_at, rejoined_at)`);
  const people = added.map((row) => row.address_id);
  syncMembers(db, segment, people, now);
  if (startsAutomations) {
    const joined = peopleOf(added.filter((row) => row.is_new === 1));
    recordMembershipChange(db, { table: 'segments', id: segmentId }, 'joined', joined, now);
  }
  return true;
}

/** Removes a recipient by hand. The row stays, marked as removed, so that the rules do not add the recipient again. Throws 404. */
export function removeRecipient(db: Db, accountId: number, recipientId: unknown, now: string): void {
  inTransaction(db, () => {
    const removed = markRemoved(db, ownedRecord(segmentRecipients, recipientId, accountId), now);
    if (removed === 0) throw notFound();
  });
}

/** Removes people (address ids) from a segment of the account like `removeRecipient`. Call inside the transaction of the change. */
export function removeFromSegment(
  db: Db,
  accountId: number,
  segmentId: number,
  people: readonly number[],
  now: string,
): void {
  const hasAddress = sql`${segmentRecipients.address_id} IN (SELECT value FROM json_each(${JSON.stringify(people)}))`;
  const where = and(eq(segmentRecipients.segment_id, segmentId), eq(segmentRecipients.user_id, accountId), hasAddress);
  markRemoved(db, where, now);
}

/** Marks the rows of one segment that meet the condition as removed. Returns their number. */
function markRemoved(db: Db, condition: SQL | undefined, now: string): number {
  const removed = db
    .update(segmentRecipients)
    .set({ is_removed: 1, by_hand: 0, updated_at: now })
    .where(
      and(
        condition,
        eq(segmentRecipients.is_removed, 0),
        sql`segment_id IN (SELECT id FROM segments WHERE deleted_at IS NULL)`,
      ),
    )
    .returning({
      id: segmentRecipients.segment_id,
      address_id: segmentRecipients.address_id,
      contact_id: segmentRecipients.contact_id,
    })
    .all();
  const [first] = removed;
  if (first !== undefined)
    recordMembershipChange(db, { table: 'segments', id: first.id }, 'left', peopleOf(removed), now);
  return removed.length;
}

/**
 * Parses a target of single sends and automations, `contacts_<contact type id>` or `segments_<segment id>`; null if the text is not one.
 */
function parseTarget(text: string): Target | null {
  const parts = /^(contacts|segments)_(\d+)$/.exec(text);
  const id = recordId(parts?.[2]);
  if (parts === null || id === 0) return null;
  return { id: String(id), table: parts[1] === 'contacts' ? 'contacts' : 'segments' };
}

/** Parses these texts into targets without repeats; null if one is malformed. */
function parseTargets(names: readonly string[]): Target[] | null {
  const targets = new Map<string, Target>();
  for (const text of names) {
    const target = parseTarget(text);
    if (target === null) return null;
    targets.set(`${target.table}_${target.id}`, target);
  }
  return [...targets.values()];
}

/** Returns true if each of these texts is a target that the account has. */
export function hasTargets(db: Db, accountId: number, names: readonly string[]): boolean {
  const targets = parseTargets(names);
  return (
    targets !== null && areOwned(db, accountId, targets, 'contacts') && areOwned(db, accountId, targets, 'segments')
  );
}

/** Parses targets that `hasTargets` accepted in the same request, without repeats. Throws an Error if one is malformed. */
export function checkedTargets(names: readonly string[]): Target[] {
  const targets = parseTargets(names);
  if (targets === null) throw new Error('a target passed the check and is malformed');
  return targets;
}

function areOwned(db: Db, accountId: number, targets: readonly Target[], kind: Target['table']): boolean {
  const ids = targets.filter(({ table }) => table === kind).map(({ id }) => Number(id));
  if (ids.length === 0) return true;
  const table = kind === 'contacts' ? contactTypes : segments;
  const { owned } = db.get<{ owned: number }>(sql`
    SELECT count(*) AS owned FROM ${table}
    WHERE ${table.id} IN (SELECT value FROM json_each(${JSON.stringify(ids)})) AND ${ownedBy(table, accountId)}`);
  return owned === ids.length;
}

/**
 * Returns why a campaign cannot use these targets, as a sentence about the first that was deleted, or whose segment has a deleted contact
 * type; null if all exist.
 */
export function missingTarget({ $client: client }: Db, targets: readonly Target[]): Sentence | null {
  const code = client
    .prepare<[string], 'held_type_deleted' | 'held_segment_deleted' | 'held_type_of_segment_deleted'>(`
      SELECT CASE WHEN x.value ->> 'table' = 'contacts' THEN 'held_type_deleted' WHEN s.id IS NULL THEN 'held_segment_deleted'
        ELSE 'held_type_of_segment_deleted' END
      FROM json_each(?) x
        LEFT JOIN segments s ON x.value ->> 'table' = 'segments' AND s.id = x.value ->> 'id' AND s.deleted_at IS NULL
        LEFT JOIN contact_types t ON t.deleted_at IS NULL
          AND t.id = iif(x.value ->> 'table' = 'contacts', CAST(x.value ->> 'id' AS INTEGER), s.contact_type_id)
      WHERE t.id IS NULL ORDER BY x.key LIMIT 1`)
    .pluck()
    .get(JSON.stringify(targets));
  return code === undefined ? null : sentence(code);
}

/** Returns true if the account has this segment. */
export function hasSegment(db: Db, accountId: number, id: unknown): boolean {
  return isOwned(db, segments, id, accountId);
}
