/**
 * Moves enrolments when the steps of an automation or the addresses of its contacts change, so that each enrolment keeps its
 * place, and no contact gets a mail twice. A few enrolments are moved in the transaction of the change. If there are many, the
 * change stores the moves, and the background thread carries them out in short transactions before it enqueues another
 * mail of the automation.
 */
import { setTimeout } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
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

/** The maximum number of enrolments that are moved in the transaction of a change, which takes a few milliseconds. */
const MAX_AT_ONCE = 300;
/** The interval in milliseconds at which a request looks for the progress of the background thread. */
const POLL_MS = 5;
/** If the background thread has moved no enrolment in this time (milliseconds), it does not run or is busy, and the request moves them. */
const IDLE_MS = 100;

/** Returns true if an automation has so few enrolments, in any state, that they can be moved in one transaction. */
export function hasFewEnrolments(client: Database, automationId: number): boolean {
  const people = client
    .prepare<[number], { people: number }>(
      'SELECT ifnull(sum(people), 0) AS people FROM enrolment_counts WHERE automation_id = ?',
    )
    .get(automationId);
  return (people?.people ?? 0) <= MAX_AT_ONCE;
}

/** Returns the range of the next enrolments after the address id `after`, at most `limit` of them; null if none follows. */
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

/** A row of `automation_moves`. */
interface StoredMoves {
  automation_id: number;
  low: number | null;
  high: number | null;
  is_removal: 0 | 1;
  moved_to_address: number;
}

const toOrderChange = ({ low, high, is_removal }: StoredMoves): OrderChange => ({
  places: low === null || high === null ? null : { low, high },
  isRemoval: is_removal === 1,
});

const FIND_MOVES = 'SELECT * FROM automation_moves WHERE automation_id = ?';

/** Carries out some stored moves, and more while `mayContinue` returns true. Returns true if further moves are stored. For the background thread. */
export async function continueMoves(client: Database, mayContinue: () => boolean): Promise<boolean> {
  const pending = client.prepare<[], StoredMoves>('SELECT * FROM automation_moves ORDER BY moved_to_address');
  for (const { automation_id } of pending.all()) {
    await moveSome(client, automation_id, mayContinue);
    if (!mayContinue()) break;
  }
  return pending.get() !== undefined;
}

/** Moves enrolments of an automation in short transactions. Each transaction stores the progress, so that several threads can take turns. */
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
    moveEnrolments(client, range, toOrderChange(stored));
    storeProgress.run(range.to, automation);
    return mayContinue();
  };
  await inChunks(client, write, Number.POSITIVE_INFINITY);
}

/** Moves the enrolments of these addresses that are still to be moved, so that their positions can be compared. */
function moveAhead(client: Database, accountId: number, addressIds: readonly number[]): void {
  const pending = client
    .prepare<[number], StoredMoves>(
      'SELECT v.* FROM automation_moves v CROSS JOIN automations au ON au.id = v.automation_id WHERE au.user_id = ?',
    )
    .all(accountId);
  for (const moves of pending)
    for (const address of addressIds)
      moveEnrolments(
        client,
        { automation: moves.automation_id, after: address - 1, to: address },
        toOrderChange(moves),
      );
}

/** Removes what is stored for moves of an automation, because all its enrolments have been moved. */
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
 * Waits until no enrolment of the automation is still to be moved, and moves the enrolments itself if no other thread does. For
 * requests that have announced a write.
 */
export async function untilMovesDone(client: Database, automationId: number): Promise<void> {
  if (isMoving(client, automationId)) await withWriteWithdrawn(() => waitOrMove(client, automationId));
}

async function waitOrMove(client: Database, automationId: number): Promise<void> {
  const find = client.prepare<[number], StoredMoves>(FIND_MOVES);
  let lastProgress = -1;
  for (let idle = 0; ; idle += POLL_MS) {
    const stored = find.get(automationId);
    if (stored === undefined) return;
    if (stored.moved_to_address !== lastProgress) idle = 0;
    lastProgress = stored.moved_to_address;
    if (idle >= IDLE_MS) await moveSome(client, automationId, () => true);
    else await setTimeout(POLL_MS);
  }
}

/**
 * Returns the moves of the enrolments that wait for the step at this position: after the step was added at the end, removed or changed.
 * Call inside the transaction of the change.
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

/** Returns a position after all steps of an automation, and after the positions of all its enrolments. */
export function nextPosition(client: Database, automationId: number): number {
  const last = client
    .prepare<Record<string, number>, number | null>(`
      SELECT max(position) FROM (SELECT max(position) AS position FROM automation_schedules WHERE automation_id = @id
        UNION ALL SELECT max(position) FROM enrolment_counts WHERE automation_id = @id)`)
    .pluck()
    .get({ id: automationId });
  return (last ?? 0) + 1;
}

interface PositionedStep {
  id: number;
  position: number;
}

/**
 * Puts the steps of an automation in this order of ids. Returns the moves of its enrolments. An enrolment continues at the first
 * step of the new order that it has not passed, and takes no step twice. Call inside the transaction of the change.
 * @param added The id of a newly inserted step, if there is one. Only enrolments that wait for the following step or for an earlier one take
 *   the new step.
 */
export function orderSteps(
  client: Database,
  automationId: number,
  order: readonly number[],
  added?: number,
): OrderChange {
  const before = client
    .prepare<[number], PositionedStep>(
      'SELECT id, position FROM automation_schedules WHERE automation_id = ? ORDER BY position',
    )
    .all(automationId);
  // The new positions are higher than all earlier positions, so the position of an enrolment tells whether it has been moved.
  const endBefore = nextPosition(client, automationId);
  const after = order.map((id, at) => ({ id, position: endBefore + 1 + at }));
  const setPosition = client.prepare('UPDATE automation_schedules SET position = ? WHERE id = ?');
  for (const { id, position } of after) setPosition.run(position, id);
  const oldSteps = before.filter(({ id }) => id !== added);
  const insertMove = client.prepare(
    'INSERT INTO moved_mails (automation_id, position, schedule_id, landing) VALUES (?, ?, ?, ?)',
  );
  for (const [at, { id: step, position }] of oldSteps.entries()) {
    const ahead = new Set(oldSteps.slice(at).map(({ id }) => id));
    const next = after.find(({ id }, index) => ahead.has(id) || (id === added && ahead.has(after[index + 1]?.id ?? 0)));
    insertMove.run(automationId, position, step, (next?.position ?? 0) - 1);
  }
  // Enrolments that have passed every step stay at the end, after the last step or before a step that was added there.
  const endAfter = endBefore + after.length;
  const isAddedAtEnd = added !== undefined && order.at(-1) === added;
  insertMove.run(automationId, endBefore, 0, isAddedAtEnd ? endAfter - 1 : endAfter);
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
    if (readdressed !== null) readdressEnrolments(db.$client, accountId, readdressed);
  });
}

/** Moves the enrolments of a contact from the old address to the new address in all automations of the account. */
function readdressEnrolments(client: Database, accountId: number, { contact, from, to }: AddressChange): void {
  moveAhead(client, accountId, [from, to]);
  // Skip automations whose target still contains the old address, through another contact or by hand, because the enrolment then belongs to
  // somebody else.
  const enrolments = client
    .prepare<Record<string, number>, Enrolment>(`
      SELECT e.* FROM automations au CROSS JOIN enrolments e ON e.automation_id = au.id AND e.address_id = @from
      WHERE au.user_id = @user AND au.deleted_at IS NULL AND NOT (${isMember('e')}) AND NOT EXISTS (SELECT 1 FROM contacts o
        WHERE o.id = e.contact_id AND o.address_id = @from AND o.deleted_at IS NULL)`)
    .all({ user: accountId, from });
  // Two active runs of both addresses are merged. Otherwise runs with the same number are merged.
  const present = client.prepare<Record<string, string | number>, Enrolment>(`
    SELECT * FROM enrolments WHERE automation_id = @automation AND address_id = @to AND (run = @run OR (state = 'active' AND @state = 'active'))
    ORDER BY state = 'active' AND @state = 'active' DESC LIMIT 1`);
  for (const enrolment of enrolments) {
    const { automation_id: automation, run, state } = enrolment;
    const other = present.get({ automation, to, run, state });
    if (other === undefined) readdress(client, enrolment, to);
    else mergeIntoOther(client, enrolment, other, contact);
  }
}

/**
 * Moves the enrolment to the new address, and stores an enrolment of the old address that has exited. The moved enrolment keeps its
 * contact. If another contact has the new address, it gets the next mail only if it is in the target when the mail is claimed.
 */
function readdress(client: Database, enrolment: Enrolment, to: number): void {
  client.prepare('UPDATE enrolments SET address_id = ? WHERE id = ?').run(to, enrolment.id);
  addReaddressed(client, enrolment);
}

/**
 * Merges the enrolment of the old address into the enrolment `other`, which the new address already has. From now on both addresses are one
 * contact at the later position of the two, so that a mail that reached one address is not sent to the other. A mail that is queued for the
 * enrolment that ends is not sent.
 */
function mergeIntoOther(client: Database, enrolment: Enrolment, other: Enrolment, contact: number): void {
  const further = enrolment.position >= other.position ? enrolment : other;
  const behind = further === enrolment ? other : enrolment;
  // If the same mail is queued for both, the delivery of the new address stays.
  const hasSameMail = enrolment.position === other.position && other.delivery_id !== null;
  const [kept, dropped] = hasSameMail ? [other, enrolment] : [further, behind];
  const isActive = further.state === 'active' || (further.state === 'left' && behind.state === 'active');
  const after = lastStep(client);
  client
    .prepare(`
      INSERT INTO steps (enrolment_id, schedule_id, delivery_id, outcome, taken_at)
      SELECT ?, schedule_id, delivery_id, outcome, taken_at FROM steps WHERE enrolment_id = ? AND delivery_id IS NOT ?
      ON CONFLICT DO NOTHING`)
    .run(other.id, enrolment.id, dropped.delivery_id);
  logSteps(client, { after });
  const joined = {
    ...further,
    id: other.id,
    contact_id: enrolment.contact_id === contact ? contact : other.contact_id,
    delivery_id: kept.delivery_id,
    ...(isActive && { state: 'active' as const, reason: null, ended_at: null }),
  };
  mergeEnrolments(client, joined, { id: enrolment.id, delivery_id: dropped.delivery_id });
}
