/**
 * Moving the people of an automation after its mails were changed. A few are moved in the transaction of the change. For many, the change
 * stores what is to be done, and the background moves them in short transactions before it enqueues another mail of the automation.
 */
import { setTimeout } from 'node:timers/promises';
import type { Database, Statement } from 'better-sqlite3';
import { inChunks } from '../database/bulk.ts';
import { prepared } from '../database/prepared.ts';
import { withWriteSetAside } from '../database/write-turns.ts';
import { type AddressRange, type Moves, moveEnrolments } from '../delivery/queue/enrolment-state.ts';

/** So many people are moved at once, a few milliseconds. */
const AT_ONCE = 300;
const POLL_MS = 5;
/** The background is busy with other work, or there is none, when it has moved nobody in this time. */
const IDLE_MS = 100;

/** Whether the people of an automation, whatever their state, are few enough to be moved in one transaction. */
export function areFew(client: Database, automationId: number): boolean {
  const people = prepared<[number], { people: number }>(
    client,
    'SELECT ifnull(sum(people), 0) AS people FROM enrolment_counts WHERE automation_id = ?',
  ).get(automationId);
  return (people?.people ?? 0) <= AT_ONCE;
}

/** The next enrolments in order of their addresses, at most `limit`; null after the last. */
export function nextRange(client: Database, automation: number, after: number, limit: number): AddressRange | null {
  const found = prepared<[number, number, number], { last: number | null }>(
    client,
    `SELECT max(address_id) AS last FROM (SELECT address_id FROM enrolments INDEXED BY enrolments_person
      WHERE automation_id = ? AND address_id > ? ORDER BY address_id LIMIT ?)`,
  ).get(automation, after, limit);
  return found?.last ? { automation, after, to: found.last } : null;
}

/** Every enrolment of an automation. */
export function wholeRange(automation: number): AddressRange {
  return { automation, after: 0, to: Number.MAX_SAFE_INTEGER };
}

/** Moves people, or stores that the background is to do it where they are many. Call inside the transaction of the change. */
export function moveOrNote(client: Database, automation: number, moves: Moves): void {
  if (areFew(client, automation)) {
    moveEnrolments(client, wholeRange(automation), moves);
    endMoves(client, automation);
    return;
  }
  client
    .prepare('INSERT INTO automation_moves (automation_id, low, high, is_removal) VALUES (?, ?, ?, ?)')
    .run(automation, moves.places?.low ?? null, moves.places?.high ?? null, moves.isRemoval ? 1 : 0);
}

interface Noted {
  automation_id: number;
  low: number | null;
  high: number | null;
  is_removal: 0 | 1;
  moved_to_address: number;
}

const movesOf = ({ low, high, is_removal }: Noted): Moves => ({
  places: low === null || high === null ? null : { low, high },
  isRemoval: is_removal === 1,
});

const NOTE = 'SELECT * FROM automation_moves WHERE automation_id = ?';

/** Moves people as long as `mayContinue`; gives whether some are left. It is for the background. */
export async function continueMoves(client: Database, mayContinue: () => boolean): Promise<boolean> {
  const notes = prepared<[], Noted>(client, 'SELECT * FROM automation_moves');
  for (const { automation_id } of notes.all()) await moveSome(client, automation_id, mayContinue);
  return notes.get() !== undefined;
}

/** Moves people of an automation in short transactions, each of which stores how far it came, so that several threads may do it. */
async function moveSome(client: Database, automation: number, mayContinue: () => boolean): Promise<void> {
  const note = prepared<[number], Noted>(client, NOTE);
  const keep = prepared<[number, number]>(
    client,
    'UPDATE automation_moves SET moved_to_address = ? WHERE automation_id = ?',
  );
  const write = (rows: number) => {
    const noted = note.get(automation);
    if (noted === undefined) return false;
    const range = nextRange(client, automation, noted.moved_to_address, rows);
    if (range === null) {
      endMoves(client, automation);
      return false;
    }
    moveEnrolments(client, range, movesOf(noted));
    keep.run(range.to, automation);
    return mayContinue();
  };
  await inChunks(client, write, Number.POSITIVE_INFINITY);
}

/** Moves the enrolments of these addresses at once, where they are still to be moved, so that they can be compared with others. */
export function moveAhead(client: Database, accountId: number, addressIds: readonly number[]): void {
  const notes = prepared<[number], Noted>(
    client,
    'SELECT v.* FROM automation_moves v CROSS JOIN automations au ON au.id = v.automation_id WHERE au.user_id = ?',
  ).all(accountId);
  for (const note of notes)
    for (const address of addressIds)
      moveEnrolments(client, { automation: note.automation_id, after: address - 1, to: address }, movesOf(note));
}

function endMoves(client: Database, automationId: number): void {
  for (const text of [
    'DELETE FROM automation_moves WHERE automation_id = ?',
    'DELETE FROM moved_mails WHERE automation_id = ?',
    'DELETE FROM enrolment_counts WHERE automation_id = ? AND people = 0',
  ])
    prepared<[number]>(client, text).run(automationId);
}

/** Whether people of an automation are still to be moved. */
export function isMoving(client: Database, automationId: number): boolean {
  return prepared<[number]>(client, NOTE).get(automationId) !== undefined;
}

/**
 * Waits until the people of an automation are where they belong, and moves them itself while nobody else does. It is for requests that
 * have announced a write.
 */
export async function untilMoved(client: Database, automationId: number): Promise<void> {
  const note = prepared<[number], Noted>(client, NOTE);
  if (!isMoving(client, automationId)) return;
  await withWriteSetAside(() => waitOrMove(client, automationId, note));
}

async function waitOrMove(client: Database, automationId: number, note: Statement<[number], Noted>): Promise<void> {
  let seen = -1;
  for (let idle = 0; ; idle += POLL_MS) {
    const noted = note.get(automationId);
    if (noted === undefined) return;
    if (noted.moved_to_address !== seen) idle = 0;
    seen = noted.moved_to_address;
    if (idle >= IDLE_MS) await moveSome(client, automationId, () => true);
    else await setTimeout(POLL_MS);
  }
}
