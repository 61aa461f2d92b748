/**
 * Moves enrolments when the mails of an automation or the addresses of its contacts change: each keeps its place, and
 * no contact gets a mail twice. A few enrolments are moved in the transaction of the change. If there are many, the
 * change stores the moves, and the background thread carries them out in short transactions before it enqueues another
 * mail of the automation.
 */
import { setTimeout } from 'node:timers/promises';
import type { Database, Statement } from 'better-sqlite3';
import { type AddressChange, type ContactInput, updateContact } from '../audience/contacts/contacts.ts';
import { inChunks } from '../database/bulk.ts';
import type { Db } from '../database/open.ts';
import { inTransaction } from '../database/transaction.ts';
import { withWriteWithdrawn } from '../database/write-turns.ts';
import {
  type AddressRange,
  addReaddressed,
  type Enrolment,
  isMember,
  lastStep,
  logSteps,
  mergeEnrolments,
  moveEnrolments,
  type OrderChange,
} from '../delivery/queue/enrolment-state.ts';

/** The number of enrolments that are moved at once, which takes a few milliseconds. */
const AT_ONCE = 300;
const POLL_MS = 5;
/** If the background thread has moved no enrolment in this time, it does not run or is busy with other work. */
const IDLE_MS = 100;

/** Returns true if an automation has so few enrolments, in any state, that they can be moved in one transaction. */
export function hasFewEnrolments(client: Database, automationId: number): boolean {
  const people = client
    .prepare<[number], { people: number }>(
      'SELECT ifnull(sum(people), 0) AS people FROM enrolment_counts WHERE automation_id = ?',
    )
    .get(automationId);
  return (people?.people ?? 0) <= AT_ONCE;
}

/** Returns the next enrolments in the order of their addresses, at most `limit`; null after the last. */
export function nextRange(client: Database, automation: number, after: number, limit: number): AddressRange | null {
  const row = client
    .prepare<[number, number, number], { last: number | null }>(`
      SELECT max(address_id) AS last FROM (SELECT address_id FROM enrolments INDEXED BY enrolments_person
      WHERE automation_id = ? AND address_id > ? ORDER BY address_id LIMIT ?)`)
    .get(automation, after, limit);
  return row?.last ? { automation, after, to: row.last } : null;
}

/** Returns the range of every enrolment of an automation. */
export function wholeRange(automation: number): AddressRange {
  return { automation, after: 0, to: Number.MAX_SAFE_INTEGER };
}

/**
 * Moves enrolments, or stores the moves for the background thread if there are many. Call inside the transaction of the
 * change.
 */
export function moveOrStore(client: Database, automation: number, moves: OrderChange): void {
  if (hasFewEnrolments(client, automation)) {
    moveEnrolments(client, wholeRange(automation), moves);
    endMoves(client, automation);
    return;
  }
  client
    .prepare('INSERT INTO automation_moves (automation_id, low, high, is_removal) VALUES (?, ?, ?, ?)')
    .run(automation, moves.places?.low ?? null, moves.places?.high ?? null, moves.isRemoval ? 1 : 0);
}

interface StoredMoves {
  automation_id: number;
  low: number | null;
  high: number | null;
  is_removal: 0 | 1;
  moved_to_address: number;
}

const movesOf = ({ low, high, is_removal }: StoredMoves): OrderChange => ({
  places: low === null || high === null ? null : { low, high },
  isRemoval: is_removal === 1,
});

const FIND_MOVES = 'SELECT * FROM automation_moves WHERE automation_id = ?';

/** Carries out stored moves, at least some, while `mayContinue` returns true. Returns true if some are left. For the background thread. */
export async function continueMoves(client: Database, mayContinue: () => boolean): Promise<boolean> {
  const pending = client.prepare<[], StoredMoves>('SELECT * FROM automation_moves ORDER BY moved_to_address');
  for (const { automation_id } of pending.all()) {
    await moveSome(client, automation_id, mayContinue);
    if (!mayContinue()) break;
  }
  return pending.get() !== undefined;
}

/** Moves enrolments of an automation in short transactions. Each stores the progress, so that several threads can do it. */
async function moveSome(client: Database, automation: number, mayContinue: () => boolean): Promise<void> {
  const find = client.prepare<[number], StoredMoves>(FIND_MOVES);
  const storeProgress = client.prepare<[number, number]>(
    'UPDATE automation_moves SET moved_to_address = ? WHERE automation_id = ?',
  );
  const write = (rows: number) => {
    const stored = find.get(automation);
    if (stored === undefined) return false;
    const range = nextRange(client, automation, stored.moved_to_address, rows);
    if (range === null) {
      endMoves(client, automation);
      return false;
    }
    moveEnrolments(client, range, movesOf(stored));
    storeProgress.run(range.to, automation);
    return mayContinue();
  };
  await inChunks(client, write, Number.POSITIVE_INFINITY);
}

/** Moves the enrolments of these addresses at once if they are still to be moved, so that they can be compared with others. */
function moveAhead(client: Database, accountId: number, addressIds: readonly number[]): void {
  const pending = client
    .prepare<[number], StoredMoves>(
      'SELECT v.* FROM automation_moves v CROSS JOIN automations au ON au.id = v.automation_id WHERE au.user_id = ?',
    )
    .all(accountId);
  for (const moves of pending)
    for (const address of addressIds)
      moveEnrolments(client, { automation: moves.automation_id, after: address - 1, to: address }, movesOf(moves));
}

function endMoves(client: Database, automationId: number): void {
  for (const text of [
    'DELETE FROM automation_moves WHERE automation_id = ?',
    'DELETE FROM moved_mails WHERE automation_id = ?',
    'DELETE FROM enrolment_counts WHERE automation_id = ? AND people = 0',
  ])
    client.prepare<[number]>(text).run(automationId);
}

/** Returns true if enrolments of an automation are still to be moved. */
export function isMoving(client: Database, automationId: number): boolean {
  return client.prepare<[number]>(FIND_MOVES).get(automationId) !== undefined;
}

/**
 * Waits until no enrolment of the automation is still to be moved, and moves them itself if no other thread does. For requests
 * that have announced a write.
 */
export async function untilMovesDone(client: Database, automationId: number): Promise<void> {
  const find = client.prepare<[number], StoredMoves>(FIND_MOVES);
  if (!isMoving(client, automationId)) return;
  await withWriteWithdrawn(() => waitOrMove(client, automationId, find));
}

async function waitOrMove(
  client: Database,
  automationId: number,
  find: Statement<[number], StoredMoves>,
): Promise<void> {
  let seen = -1;
  for (let idle = 0; ; idle += POLL_MS) {
    const stored = find.get(automationId);
    if (stored === undefined) return;
    if (stored.moved_to_address !== seen) idle = 0;
    seen = stored.moved_to_address;
    if (idle >= IDLE_MS) await moveSome(client, automationId, () => true);
    else await setTimeout(POLL_MS);
  }
}

/**
 * Returns the moves after a mail was added at the end or the wait before it was changed. The wait of an enrolment counts from
 * the time of its last mail. Call inside the transaction of the change.
 */
export function movesTo(client: Database, automationId: number, position: number): OrderChange {
  const before = client
    .prepare<[number, number], number | null>(
      'SELECT max(position) FROM automation_schedules WHERE automation_id = ? AND position < ?',
    )
    .pluck()
    .get(automationId, position);
  return { places: { low: before ?? 0, high: position }, isRemoval: false };
}

/** Returns a position after all mails of an automation, including removed ones, and after the positions of all its enrolments. */
export function nextPosition(client: Database, automationId: number): number {
  const last = client
    .prepare<Record<string, number>, number | null>(`
      SELECT max(position) FROM (SELECT max(position) AS position FROM automation_schedules WHERE automation_id = @id
        UNION ALL SELECT max(position) FROM enrolment_counts WHERE automation_id = @id)`)
    .pluck()
    .get({ id: automationId });
  return (last ?? 0) + 1;
}

interface PositionedMail {
  id: number;
  position: number;
}

/**
 * Puts the mails of an automation in this order of ids. Returns the moves of its enrolments. An enrolment continues at the first
 * mail, in the new order, that was still to come for it, and gets no mail twice. `added` is the id of a newly inserted mail; only
 * enrolments that wait for the mail after it or for an earlier one get it. Call inside the transaction of the change.
 */
export function orderMails(
  client: Database,
  automationId: number,
  order: readonly number[],
  added?: number,
): OrderChange {
  const before = client
    .prepare<[number], PositionedMail>(
      'SELECT id, position FROM automation_schedules WHERE automation_id = ? ORDER BY position',
    )
    .all(automationId);
  // The new positions are higher than all earlier positions, so the position of an enrolment tells whether it has been moved.
  const end = nextPosition(client, automationId);
  const after = order.map((id, at) => ({ id, position: end + 1 + at }));
  const move = client.prepare('UPDATE automation_schedules SET position = ? WHERE id = ?');
  for (const { id, position } of after) move.run(position, id);
  const old = before.filter(({ id }) => id !== added);
  const insertMove = client.prepare(
    'INSERT INTO moved_mails (automation_id, position, schedule_id, landing) VALUES (?, ?, ?, ?)',
  );
  for (const [at, { id: mail, position }] of old.entries()) {
    const ahead = new Set(old.slice(at).map(({ id }) => id));
    const first = after.find(
      ({ id }, index) => ahead.has(id) || (id === added && ahead.has(after[index + 1]?.id ?? 0)),
    );
    insertMove.run(automationId, position, mail, (first?.position ?? 0) - 1);
  }
  const last = end + after.length;
  insertMove.run(automationId, end, 0, added !== undefined && order.at(-1) === added ? last - 1 : last);
  return { places: null, isRemoval: false };
}

/** Changes a contact like `updateContact`, and moves its enrolments in the same transaction. */
export function updateContactKeepingPlaces(
  db: Db,
  accountId: number,
  id: unknown,
  input: ContactInput,
  now: string,
): void {
  inTransaction(db, () => {
    const readdressed = updateContact(db, accountId, id, input, now);
    if (readdressed !== null) movePlaces(db.$client, accountId, readdressed);
  });
}

function movePlaces(client: Database, accountId: number, { contact, from, to }: AddressChange): void {
  moveAhead(client, accountId, [from, to]);
  // If the old address is still in the target, through another contact or by hand, it belongs to another person, whose enrolment stays.
  const places = client
    .prepare<Record<string, number>, Enrolment>(`
      SELECT e.* FROM automations au CROSS JOIN enrolments e ON e.automation_id = au.id AND e.address_id = @from
      WHERE au.user_id = @user AND au.deleted_at IS NULL AND NOT (${isMember('e')}) AND NOT EXISTS (SELECT 1 FROM contacts o
        WHERE o.id = e.contact_id AND o.address_id = @from AND o.deleted_at IS NULL)`)
    .all({ user: accountId, from });
  // Two active runs become one. Otherwise an earlier run of one address belongs to the same run of the other.
  const present = client.prepare<Record<string, string | number>, Enrolment>(`
    SELECT * FROM enrolments WHERE automation_id = @automation AND address_id = @to AND (run = @run OR (state = 'active' AND @state = 'active'))
    ORDER BY state = 'active' AND @state = 'active' DESC LIMIT 1`);
  for (const place of places) {
    const { automation_id: automation, run, state } = place;
    const other = present.get({ automation, to, run, state });
    if (other === undefined) movePlace(client, place, to);
    else joinPlaces(client, place, other, contact);
  }
}

/**
 * Moves the enrolment to the new address and leaves a row for the old one with the state of a contact that has exited. The enrolment
 * keeps its contact: another contact with the new address gets the next mail only if it is in the target when the mail is claimed.
 */
function movePlace(client: Database, place: Enrolment, to: number): void {
  client.prepare('UPDATE enrolments SET address_id = ? WHERE id = ?').run(to, place.id);
  addReaddressed(client, place);
}

/**
 * Merges two enrolments if the new address has been in the automation too: from now on both are one person, at the later place
 * of the two, so that a mail that reached one is not sent to the other. A mail queued for the enrolment that ends is not sent.
 */
function joinPlaces(client: Database, place: Enrolment, other: Enrolment, contact: number): void {
  const further = place.position >= other.position ? place : other;
  const behind = further === place ? other : place;
  // If the same mail is queued for both, the delivery of the new address stays.
  const isSame = place.position === other.position && other.delivery_id !== null;
  const [kept, dropped] = isSame ? [other, place] : [further, behind];
  const isActive = further.state === 'active' || (further.state === 'left' && behind.state === 'active');
  const after = lastStep(client);
  client
    .prepare(`
      INSERT INTO steps (enrolment_id, schedule_id, delivery_id, outcome, taken_at)
      SELECT ?, schedule_id, delivery_id, outcome, taken_at FROM steps WHERE enrolment_id = ? AND delivery_id IS NOT ?
      ON CONFLICT DO NOTHING`)
    .run(other.id, place.id, dropped.delivery_id);
  logSteps(client, { after });
  const joined = {
    ...further,
    id: other.id,
    contact_id: place.contact_id === contact ? contact : other.contact_id,
    delivery_id: kept.delivery_id,
    ...(isActive && { state: 'active' as const, reason: null, ended_at: null }),
  };
  mergeEnrolments(client, joined, { id: place.id, delivery_id: dropped.delivery_id });
}
