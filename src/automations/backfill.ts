/**
 * Lets contacts who are already in the target of an automation enter it: one by one when a user asks, or all of them, page by page in
 * the background (a backfill). Each entry is recorded like a join, and enrolment applies the recorded entry.
 */
import { setImmediate } from 'node:timers/promises';
import type { Database, Statement } from 'better-sqlite3';
import { ineligibilityReason } from '../audience/eligibility.ts';
import { inChunks } from '../database/bulk.ts';
import type { Db } from '../database/open.ts';
import { AUTOMATION_STATUS, type automations, BARS_ENTRY } from '../database/schema/index.ts';
import { isTransientSqliteError } from '../database/write-lock.ts';
import { endReason, isHeldOut, isMember } from '../delivery/queue/enrolment-state.ts';
import type { Log } from '../log.ts';
import type { Clock } from '../time/clock.ts';
import { holdFailedAutomation } from './status.ts';

type Automation = typeof automations.$inferSelect;

/** The number of contacts who are read or recorded at once, which takes some milliseconds. */
const PAGE_ROWS = 250;
/** The maximum number of contacts who are counted, which takes a second or two. */
const MAX_COUNTED = 100_000;

/** What happens when a contact is to enter an automation. */
export const ENTRY_OUTCOMES = ['entered', 'active', 'was_in', 'outside_target', 'no_mail', 'unknown'] as const;

/** A row of `foundEntries`. */
export interface FoundEntry {
  address_id: number | null;
  /** The id of the contact with this address in the target; null if the target has no such contact. */
  contact_id: number | null;
  outcome: (typeof ENTRY_OUTCOMES)[number];
  /** Why a contact whose outcome is `no_mail` gets no mail, in its stored form; null for other outcomes. */
  reason: string | null;
}

/**
 * Returns the SQL that finds the outcome of contacts who enter @automation at @at (epoch milliseconds) by @event_key. @group is the id of
 * the automation's topic.
 * @param people A SELECT of `at`, which orders the rows; `address_id`, which is null for an unknown address; and `is_entering`, which is 1
 *   if an entry of the contact is already recorded.
 */
export function foundEntries(people: string): string {
  return `
  SELECT p.*, CASE au.automation_for_table
      WHEN 'contacts' THEN (SELECT k.id FROM contacts k
        WHERE k.contact_type_id = au.automation_for AND k.address_id = p.address_id AND k.deleted_at IS NULL)
      ELSE (SELECT r.contact_id FROM segment_recipients r WHERE r.segment_id = au.automation_for AND r.address_id = p.address_id) END AS contact_id,
    CASE
      WHEN p.address_id IS NULL THEN 'unknown'
      WHEN NOT (${isMember('p')}) THEN 'outside_target'
      WHEN p.is_entering OR EXISTS (SELECT 1 FROM enrolments n WHERE n.automation_id = au.id AND n.address_id = p.address_id AND n.state = 'active')
        THEN 'active'
      WHEN ${ineligibilityReason('p', '@group')} IS NOT NULL OR ${endReason('p')} IS NOT NULL THEN 'no_mail'
      WHEN EXISTS (SELECT 1 FROM enrolments n WHERE n.automation_id = au.id AND n.address_id = p.address_id AND ${BARS_ENTRY}) THEN 'was_in'
      ELSE 'entered' END AS outcome,
    ifnull(${ineligibilityReason('p', '@group')}, ${endReason('p')}) AS reason
  FROM (${people}) p CROSS JOIN automations au ON au.id = @automation ORDER BY p.at`;
}

/** Returns the statement that records the entry of one contact, which enrolment applies: `let_in` in a backfill, otherwise `joined`. */
export function entryRecord(client: Database, change: 'joined' | 'let_in'): Statement<[object]> {
  return client.prepare<[object]>(`
    INSERT INTO membership_changes (user_id, automation_id, address_id, contact_id, change, happened_at)
    VALUES (@account, @automation, @address_id, @contact_id, '${change}', @at)`);
}

/** The list or segment whose contacts enter. */
interface Source {
  table: 'contacts' | 'segments';
  id: number;
}

/**
 * SQL: the next contacts of @source after the address @after, with their outcome. Entries that are recorded but not applied yet are
 * ignored (`is_entering` is 0), because a contact with two entries enters once. A segment keeps a row for each contact who was removed from it.
 */
const MEMBERS: Readonly<Record<Source['table'], string>> = {
  contacts: foundEntries(`
    SELECT address_id AS at, address_id, 0 AS is_entering, 0 AS is_removed FROM contacts INDEXED BY contacts_person
    WHERE contact_type_id = @source AND deleted_at IS NULL AND address_id > @after ORDER BY address_id LIMIT ${PAGE_ROWS}`),
  segments: foundEntries(`
    SELECT address_id AS at, address_id, 0 AS is_entering, is_removed FROM segment_recipients INDEXED BY segment_recipients_person
    WHERE segment_id = @source AND address_id > @after ORDER BY address_id LIMIT ${PAGE_ROWS}`),
};

type Member = FoundEntry & { address_id: number; is_removed: 0 | 1 };

/** Returns the next contacts, and in `last` the id of the last address, or null on the last page. `at`: epoch milliseconds. */
function readPage(
  client: Database,
  { id: automation, unsubscribe_group_id }: Pick<Automation, 'id' | 'unsubscribe_group_id'>,
  { table, id: source }: Source,
  { after, at }: { after: number; at: number },
): { members: Member[]; last: number | null } {
  const rows = client.prepare<[object], Member>(MEMBERS[table]).all({
    automation,
    group: Number(unsubscribe_group_id),
    source,
    after,
    at,
    event_key: null,
  });
  const last = rows.length < PAGE_ROWS ? null : (rows.at(-1)?.address_id ?? null);
  return { members: rows.filter(({ is_removed }) => is_removed === 0), last };
}

/** Returns the segment with this id as a source; with id 0, the target of the automation. */
function sourceOf({ automation_for: id, automation_for_table: table }: Automation, segment: number): Source {
  if (segment !== 0) return { table: 'segments', id: segment };
  return { table: table === 'segments' ? 'segments' : 'contacts', id };
}

/**
 * Counts the outcomes if all contacts of a segment entered at `at` (epoch milliseconds); with `segment` 0, all contacts of the target.
 * Lets other requests be answered between the pages. `is_complete` is 0 if the count stopped at the maximum.
 */
export async function countEntries(client: Database, automation: Automation, segment: number, at: number) {
  const counts = { entered: 0, held_out: 0, active: 0, was_in: 0, outside_target: 0, no_mail: 0, unknown: 0 };
  const source = sourceOf(automation, segment);
  let contacts = 0;
  let after: number | null = 0;
  while (after !== null && contacts < MAX_COUNTED) {
    const { members, last } = readPage(client, automation, source, { after, at });
    for (const { address_id, outcome } of members)
      counts[outcome === 'entered' && isHeldOut(address_id, automation) ? 'held_out' : outcome] += 1;
    contacts += members.length;
    after = last;
    await setImmediate();
  }
  return { ...counts, contacts, is_complete: after === null ? (1 as const) : (0 as const) };
}

/**
 * Starts a backfill with all contacts of a segment; with `segment` 0, with all contacts of the target. Changes nothing if the same
 * backfill is running already. Call inside a transaction.
 */
export function startBackfill(client: Database, automation: Automation, segment: number): void {
  const { table, id } = sourceOf(automation, segment);
  client
    .prepare<[object]>(`
    INSERT INTO automation_backfills (automation_id, source_table, source_id, after_address) VALUES (@automation, @table, @id, 0)
    ON CONFLICT DO NOTHING`)
    .run({ automation: automation.id, table, id });
}

/** Returns true if a backfill of an automation is running. */
export function isBackfilling(client: Database, automation: number): boolean {
  return (
    client.prepare('SELECT 1 FROM automation_backfills WHERE automation_id = ? LIMIT 1').get(automation) !== undefined
  );
}

/** Ends the backfills of an automation, so that they record no further entry. Call inside a transaction. */
export function endBackfills(client: Database, automation: number): void {
  client.prepare('DELETE FROM automation_backfills WHERE automation_id = ?').run(automation);
}

/**
 * Ends the backfills of an automation, and withdraws the entries that they recorded and that have not been applied, in short
 * transactions. Waits for the write lock up to `maxWaitMs`.
 */
export async function stopBackfills(client: Database, automation: number, maxWaitMs: number): Promise<void> {
  /** The ids of the recorded entries to look at: those above `after`, up to `last`. */
  let range: { after: number; last: number } | undefined;
  const withdraw = (rows: number) => {
    if (range === undefined) endBackfills(client, automation);
    range ??= client
      .prepare<[], { after: number; last: number }>(
        'SELECT ifnull(min(id) - 1, 0) AS after, ifnull(max(id), 0) AS last FROM membership_changes',
      )
      .get() ?? { after: 0, last: 0 };
    const to = range.after + rows;
    client
      .prepare<[object]>(
        "DELETE FROM membership_changes WHERE id > @after AND id <= @to AND automation_id = @automation AND change = 'let_in'",
      )
      .run({ after: range.after, to, automation });
    range.after = to;
    return to < range.last;
  };
  await inChunks(client, withdraw, maxWaitMs);
}

type Backfill = Automation & { source_table: Source['table']; source_id: number; after_address: number };

/** SQL: the next backfill of a live automation to continue: the one that has progressed least, so that a large backfill does not delay others. */
const NEXT_BACKFILL = `
  SELECT a.*, b.source_table, b.source_id, b.after_address FROM automation_backfills b CROSS JOIN automations a ON a.id = b.automation_id
  WHERE a.status = ${AUTOMATION_STATUS.live} AND a.deleted_at IS NULL ORDER BY b.after_address LIMIT 1`;

/**
 * Records the entries of the next page of a live automation's backfill. Returns false if there is no backfill. One transaction writes
 * the entries and the progress, so after a kill the backfill continues with the next page. If a page fails, its automation becomes a
 * draft with the reason, and other backfills go on. Throws if the disk fails.
 */
export function continueBackfills({ db, clock, log }: { db: Db; clock: Clock; log: Log }): boolean {
  const client = db.$client;
  const next = client.prepare<[], Backfill>(NEXT_BACKFILL);
  // Look before the transaction begins, because an immediate transaction takes the write lock from requests even if there is nothing to do.
  const row = next.get();
  if (row === undefined) return false;
  try {
    client
      .transaction(() => {
        const backfill = next.get();
        if (backfill?.id === row.id) recordPage(client, backfill, clock.now().getTime());
      })
      .immediate();
  } catch (error) {
    if (isTransientSqliteError(error)) throw error;
    log({ automation: row.id, err: String(error) }, 'contacts could not enter an automation', 'error');
    holdFailedAutomation(db, row.id, error, clock.now());
  }
  return true;
}

/** Records the entries of the next page of a backfill, and its progress. Ends the backfill after the last page. */
function recordPage(client: Database, backfill: Backfill, now: number): void {
  const { id: automation, user_id: account, source_table: table, source_id: id, after_address: after } = backfill;
  const { members, last } = readPage(client, backfill, { table, id }, { after, at: now });
  const record = entryRecord(client, 'let_in');
  for (const { address_id, contact_id, outcome } of members)
    if (outcome === 'entered') record.run({ account, automation, address_id, contact_id, at: now });
  const values = { automation, table, id, last };
  const where = 'WHERE automation_id = @automation AND source_table = @table AND source_id = @id';
  if (last === null) client.prepare<[object]>(`DELETE FROM automation_backfills ${where}`).run(values);
  else client.prepare<[object]>(`UPDATE automation_backfills SET after_address = @last ${where}`).run(values);
}
