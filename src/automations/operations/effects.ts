/** The effects of a change of an automation on its enrolments, found by making the change and comparing. */

import { setTimeout } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import Type, { type Static } from 'typebox';
import type { Config } from '../../config.ts';
import { inChunks } from '../../database/bulk.ts';
import type { Db } from '../../database/open.ts';
import type { automationSchedules } from '../../database/schema/index.ts';
import {
  type AddressRange,
  endReason,
  type OrderChange,
  type PlannedMove,
  plannedMoves,
} from '../../delivery/queue/enrolment-state.ts';
import { integer, isoTimestampSchema, nullable, zeroOrOne } from '../../http/requests/schemas.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { CONTACT, WITH_PERSON } from '../enrolled-person.ts';
import { hasFewEnrolments, isMoving, moveOrStore, nextRange, untilMovesDone, wholeRange } from '../move-enrolments.ts';
import { mayReach } from '../path.ts';
import { dateColumn, goesOnAt, type WaitingContact, type WaitStep, waitColumns } from '../waits.ts';

/**
 * The effects of a change in the form of the API: for each mail waited for before the change and each waited for after it, the
 * number of enrolments.
 */
export const Effects = Type.Object({
  people: Type.Array(
    Type.Object({
      from: nullable(Type.String(), 'utr of the e-mail they waited for; null when they had every e-mail.'),
      to: nullable(Type.String(), 'utr of the e-mail they wait for now; null when no further e-mail is for them.'),
      is_queued: zeroOrOne('1: the e-mail they waited for was queued already.'),
      people: integer({ description: 'The number of contacts.' }),
      moved: integer({ description: 'The number of these for whom the next e-mail or its time changes.' }),
      due_now: integer({
        description:
          'The number of these who are due at once; after the settings of a wait are changed, who go on from it at once.',
      }),
      first_due_at: nullable(
        isoTimestampSchema(),
        'When the first of them gets the e-mail, UTC; null if there is no mail or it was queued.',
      ),
      last_due_at: nullable(isoTimestampSchema(), 'When the last of them gets the e-mail, UTC.'),
    }),
    { description: 'What the change does to the contacts who wait.' },
  ),
  ahead: integer({
    description:
      'The number of contacts on the way for whom what is changed is still to come. They go on with the change.',
  }),
  behind: integer({
    description:
      'The number of contacts on the way who are past it or on another path. The change does not touch them.',
  }),
  leaving: integer({
    description:
      'The number of waiting contacts who are outside the target, or in the segment of the goal or exit rule, and exit.',
  }),
});
export type Effects = Static<typeof Effects>;
type Effect = Effects['people'][number];

type Placed = Pick<typeof automationSchedules.$inferSelect, 'id' | 'utr' | 'position' | 'parent_id' | 'branch'>;

/** SQL after FROM: the enrolments that wait at the place of the counts `c` and have no queued mail. */
const WAITING_THERE = `enrolments e INDEXED BY enrolments_place
  WHERE e.automation_id = c.automation_id AND e.position = c.position AND e.state = 'active' AND e.delivery_id IS NULL`;

/** The number of enrolments for which a change is tried at once: at first, and at most. */
const SLICE_ROWS = 200;
const MAX_SLICE_ROWS = 1500;
/** How long a slice should take. */
const SLICE_MS = 6;
/** How long a trial waits while another connection writes, before the request is answered with 503. */
const LOCK_WAIT_MS = 1500;

/** A step at which contacts wait, before and after a change of its settings. */
interface ChangedWait {
  before: WaitStep;
  after: WaitStep;
}

/**
 * The result of a change, and the enrolments that it moves (null: none). `concerns` is the step that it adds, changes or removes, or says
 * whom else it concerns.
 */
export interface ChangeResult<Result> {
  result: Result;
  moves: OrderChange | null;
  wait?: ChangedWait;
  concerns: { utr: string } | 'everybody' | 'nobody';
}

/** The state before and after a change, for some enrolments. */
interface TriedChange {
  before: readonly Placed[];
  after: readonly Placed[];
  people: PlannedMove[];
  concerns: ChangeResult<unknown>['concerns'];
  leaving: number;
  /** True if the change may affect further enrolments. */
  hasMore: boolean;
}

/**
 * Makes a change in one transaction. Returns its result and its effects on enrolments at `now`. With `isOnlyAsked` (a dry run) the change
 * is rolled back and the result is null. If there are many enrolments, the change is first tried for some hundreds at a time, so that
 * other requests are answered in between; `change` is told when it will be rolled back. When it resolves, all enrolments have been moved.
 */
export async function withEffects<Result>(
  { db, config, wake }: { db: Db; config: Pick<Config, 'TIME_ZONE'>; wake(): void },
  { automationId: id, isOnlyAsked, now }: { automationId: number; isOnlyAsked: boolean; now: Date },
  change: (isRolledBack: boolean) => ChangeResult<Result>,
): Promise<{ result: Result | null; effects: Effects }> {
  const at = now.getTime();
  const client = db.$client;
  await untilMovesDone(client, id);
  const movedPeople = (range: AddressRange, moves: OrderChange, wait: ChangedWait | undefined): PlannedMove[] => {
    const planned = plannedMoves(client, range, moves, at);
    return wait === undefined
      ? planned
      : withGoingOn(db, planned, { range, moves, wait, now: at, zone: config.TIME_ZONE });
  };
  const placesAndMoves = (
    before: readonly Placed[],
    { moves, wait, concerns }: ChangeResult<Result>,
    range: AddressRange,
  ): TriedChange => {
    const mayLeave = endsByMembership(client, id);
    return {
      before,
      after: listPlaces(client, id),
      people: moves === null ? unmovedPeople(client, id, at) : movedPeople(range, moves, wait),
      concerns,
      leaving: mayLeave ? countLeaving(client, range) : 0,
      hasMore: moves !== null || mayLeave,
    };
  };
  const tryChange = (range: AddressRange) =>
    rolledBack(client, () => {
      const before = listPlaces(client, id);
      return placesAndMoves(before, change(true), range);
    });
  if (hasFewEnrolments(client, id)) {
    if (isOnlyAsked) return { result: null, effects: compare([await tryChange(wholeRange(id))], at) };
    return client
      .transaction(() => {
        const before = listPlaces(client, id);
        const changed = change(false);
        const effects = compare([placesAndMoves(before, changed, wholeRange(id))], at);
        if (changed.moves !== null) moveOrStore(client, id, changed.moves);
        return { result: changed.result, effects };
      })
      .immediate();
  }
  const effects = compare(await tryInSlices(client, id, tryChange), at);
  if (isOnlyAsked) return { result: null, effects };
  const result = await writeWithoutMoves(client, id, () => {
    const changed = change(false);
    if (changed.moves !== null) moveOrStore(client, id, changed.moves);
    return changed.result;
  });
  wake();
  await untilMovesDone(client, id);
  return { result, effects };
}

/**
 * Returns the planned moves with the times at which contacts go on from a changed wait. The moves themselves only let the background
 * look at those contacts, most of whom go on waiting.
 */
function withGoingOn(
  db: Db,
  planned: readonly PlannedMove[],
  input: { range: AddressRange; moves: OrderChange; wait: ChangedWait; now: number; zone: string },
): PlannedMove[] {
  const { range, moves, wait, now } = input;
  const low = moves.places?.low ?? 0;
  const high = moves.places?.high ?? 0;
  const contacts = db.$client
    .prepare<[object], WaitingContact & { position: number; date_before: string | null }>(`
    SELECT e.id, e.address_id, e.position, ${CONTACT} AS contact_id, ${waitColumns(db, wait.after)},
      ${dateColumn(db, wait.before.user_id, wait.before.field_id)} AS date_before
    FROM enrolments e INDEXED BY enrolments_person JOIN automations au ON au.id = e.automation_id ${WITH_PERSON}
    WHERE e.automation_id = @automation AND e.address_id > @after AND e.address_id <= @to AND e.state = 'active' AND e.delivery_id IS NULL
      AND e.position >= @low AND e.position < @high
      AND NOT EXISTS (SELECT 1 FROM steps t WHERE t.enrolment_id = e.id AND t.schedule_id = @step)`)
    .all({ ...range, low, high, step: wait.after.id });
  const times = contacts.map((contact) => ({
    position: contact.position,
    before: goesOnAt(wait.before, { ...contact, date: contact.date_before }, input),
    after: goesOnAt(wait.after, contact, input),
  }));
  const byPosition = Map.groupBy(times, ({ position }) => position);
  return planned.map((move) => {
    const theirs = move.is_queued === 0 && move.after < high ? byPosition.get(move.before) : undefined;
    if (theirs === undefined) return move;
    const due = theirs.map(({ after }) => after);
    return {
      ...move,
      shifted: theirs.filter(({ before, after }) => Math.max(before, now) !== Math.max(after, now)).length,
      due: due.filter((time) => time <= now).length,
      first: due.reduce((least, one) => Math.min(least, one)),
      last: due.reduce((most, one) => Math.max(most, one)),
    };
  });
}

/** Tries a change for all enrolments of an automation, in slices that take some milliseconds each. */
async function tryInSlices(
  client: Database,
  id: number,
  tryChange: (range: AddressRange) => Promise<TriedChange>,
): Promise<TriedChange[]> {
  const tried: TriedChange[] = [];
  let rows = SLICE_ROWS;
  for (let range = nextRange(client, id, 0, rows); range !== null; range = nextRange(client, id, range.to, rows)) {
    const started = performance.now();
    const slice = await tryChange(range);
    tried.push(tried.length > 0 && !slice.hasMore ? { ...slice, people: [] } : slice);
    if (!slice.hasMore) break;
    const took = performance.now() - started;
    rows = Math.round(Math.min(MAX_SLICE_ROWS, Math.max(SLICE_ROWS, rows * Math.min(2, SLICE_MS / took))));
    // Leaves the lock free for as long as the slice held it.
    await setTimeout(took);
  }
  return tried;
}

/**
 * Runs a write in a transaction while no moves are pending. Waits for the lock here, because the request is not repeated after its trials.
 */
async function writeWithoutMoves<Result>(client: Database, id: number, write: () => Result): Promise<Result> {
  let found: { value: Result } | undefined;
  while (found === undefined) {
    await untilMovesDone(client, id);
    const attempt = () => {
      if (!isMoving(client, id)) found = { value: write() };
      return false;
    };
    await inChunks(client, attempt, LOCK_WAIT_MS);
  }
  return found.value;
}

/**
 * Runs a write in a transaction that is rolled back, and returns its result. While another connection writes, other requests are answered.
 */
async function rolledBack<Found>(client: Database, write: () => Found): Promise<Found> {
  let found: { value: Found } | undefined;
  const rollback = new Error('rolled back');
  try {
    const attempt = () => {
      found = { value: write() };
      throw rollback;
    };
    await inChunks(client, attempt, LOCK_WAIT_MS);
  } catch (error) {
    if (error !== rollback || found === undefined) throw error;
  }
  if (found === undefined) throw rollback;
  return found.value;
}

/** Returns the enrolments of an automation by their places, after a change that moved none. */
function unmovedPeople(client: Database, automation: number, now: number): PlannedMove[] {
  return client
    .prepare<Record<string, number>, PlannedMove>(`
      SELECT position AS before, position AS after, is_queued, people, 0 AS shifted,
        iif(is_queued, 0, (SELECT count(*) FROM ${WAITING_THERE} AND e.due_at <= @now)) AS due,
        ifnull((SELECT min(e.due_at) FROM ${WAITING_THERE}), 0) AS first, ifnull((SELECT max(e.due_at) FROM ${WAITING_THERE}), 0) AS last
      FROM enrolment_counts c WHERE automation_id = @automation AND state = 'active' AND people > 0`)
    .all({ automation, now });
}

/** Returns true if contacts exit the automation by leaving its target or by being in a segment. */
function endsByMembership(client: Database, automation: number): boolean {
  return (
    client
      .prepare(
        'SELECT 1 FROM automations WHERE id = ? AND (exit_criteria = 1 OR goal_segment_id IS NOT NULL OR exit_segment_id IS NOT NULL)',
      )
      .get(automation) !== undefined
  );
}

/** Returns how many active enrolments end when their next step is due. */
function countLeaving(client: Database, range: AddressRange): number {
  const leaving = client
    .prepare<[AddressRange], number>(`
      SELECT count(*) FROM automations au CROSS JOIN enrolments e INDEXED BY enrolments_person ON e.automation_id = au.id
        AND e.address_id > @after AND e.address_id <= @to AND e.state = 'active'
      WHERE au.id = @automation AND ${endReason('e')} IS NOT NULL`)
    .pluck()
    .get(range);
  return leaving ?? 0;
}

function listPlaces(client: Database, automationId: number): Placed[] {
  return client
    .prepare<[number], Placed>(
      'SELECT id, utr, position, parent_id, branch FROM automation_schedules WHERE automation_id = ? ORDER BY position',
    )
    .all(automationId);
}

function compare(slices: readonly TriedChange[], now: number): Effects {
  const next = (mails: readonly Placed[], at: number) => mails.find(({ position }) => position > at)?.utr ?? null;
  const rows = slices.flatMap(({ people }) => people);
  rows.sort((a, b) => a.after - b.after || a.before - b.before || a.is_queued - b.is_queued);
  const people = new Map<string, Effect & { first: number; last: number }>();
  for (const row of rows) {
    const [from, to] = [next(slices[0]?.before ?? [], row.before), next(slices[0]?.after ?? [], row.after)];
    const isDue = to !== null && row.is_queued === 0;
    const key = `${from} ${to} ${row.is_queued}`;
    const known = people.get(key);
    people.set(key, {
      from,
      to,
      is_queued: row.is_queued,
      people: row.people + (known?.people ?? 0),
      moved: (isDue ? (from === to ? row.shifted : row.people) : 0) + (known?.moved ?? 0),
      due_now: (isDue ? row.due : 0) + (known?.due_now ?? 0),
      first: Math.min(row.first, known?.first ?? row.first),
      last: Math.max(row.last, known?.last ?? row.last),
      first_due_at: null,
      last_due_at: null,
    });
  }
  const moment = (at: number) => isoTimestamp(new Date(Math.max(at, now)));
  return {
    people: [...people.values()].map(({ first, last, ...effect }) => {
      const isDue = effect.to !== null && effect.is_queued === 0;
      return { ...effect, first_due_at: isDue ? moment(first) : null, last_due_at: isDue ? moment(last) : null };
    }),
    ...countConcerned(slices, rows),
    leaving: slices.reduce((sum, { leaving }) => sum + leaving, 0),
  };
}

/** Counts the contacts in the automation to whom the changed part is still to come, and the others. */
function countConcerned([first]: readonly TriedChange[], rows: readonly PlannedMove[]) {
  const sum = (some: readonly PlannedMove[]) => some.reduce((all, { people }) => all + people, 0);
  if (first === undefined) return { ahead: 0, behind: 0 };
  const { before, after, concerns } = first;
  if (typeof concerns === 'string')
    return concerns === 'everybody' ? { ahead: sum(rows), behind: 0 } : { ahead: 0, behind: sum(rows) };
  // A step that is removed is among the steps before.
  const isAfter = after.some(({ utr }) => utr === concerns.utr);
  const steps = isAfter ? after : before;
  const isAhead = (row: PlannedMove) => {
    const next = steps.find(({ position }) => position > (isAfter ? row.after : row.before));
    return next !== undefined && mayReach(steps, next.utr, concerns.utr);
  };
  const [ahead = [], behind = []] = [true, false].map((is) => rows.filter((row) => isAhead(row) === is));
  return { ahead: sum(ahead), behind: sum(behind) };
}
