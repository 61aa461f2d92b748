/**
 * Makes a change of an automation, or only tries it, and finds the effects on the enrolments by comparing them before and after the
 * change.
 */
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
import { CONTACT_ID, CONTACT_JOINS } from '../enrolled-contact.ts';
import { hasFewEnrolments, isMoving, moveOrStore, nextRange, untilMovesDone, wholeRange } from '../move-enrolments.ts';
import { mayReach } from '../path.ts';
import { dateColumn, goesOnAt, type WaitingContact, type WaitStep, waitColumns } from '../waits.ts';

/**
 * The effects of a change in the form of the API. Enrolments are counted by the step for which they wait before the change, and the
 * step for which they wait after it.
 */
export const Effects = Type.Object({
  people: Type.Array(
    Type.Object({
      from: nullable(
        Type.String(),
        'utr of the step (such as an e-mail) for which these contacts waited before the change; null if no step was left.',
      ),
      to: nullable(
        Type.String(),
        'utr of the step for which these contacts wait after the change; null if no step is left.',
      ),
      is_queued: zeroOrOne('1: the e-mail for which these contacts waited was queued already.'),
      people: integer({ description: 'The number of these contacts.' }),
      moved: integer({ description: 'The number of these contacts whose next step, or its time, changes.' }),
      due_now: integer({
        description:
          'The number of these contacts whose next step is due at once. If the settings of a wait change: who go on from the wait at once.',
      }),
      first_due_at: nullable(
        isoTimestampSchema(),
        'When the first of these contacts takes the next step, UTC; null if no step is left or the e-mail was queued.',
      ),
      last_due_at: nullable(isoTimestampSchema(), 'When the last of these contacts takes the next step, UTC.'),
    }),
    { description: 'What the change does to the waiting contacts.' },
  ),
  ahead: integer({
    description:
      'The number of active contacts for whom the changed part of the automation is still to come. The change applies to them.',
  }),
  behind: integer({
    description:
      'The number of active contacts who have passed the changed part, or are on another path. The change does not affect them.',
  }),
  leaving: integer({
    description:
      'The number of waiting contacts who will exit, because they are outside the target, or in the segment of the goal or exit rule.',
  }),
});
export type Effects = Static<typeof Effects>;
type Effect = Effects['people'][number];

type Placed = Pick<typeof automationSchedules.$inferSelect, 'id' | 'utr' | 'position' | 'parent_id' | 'branch'>;

/** SQL after FROM: the enrolments that wait at the position of row `c` of `enrolment_counts`, without a queued mail. */
const WAITING_AT_POSITION = `enrolments e INDEXED BY enrolments_place
  WHERE e.automation_id = c.automation_id AND e.position = c.position AND e.state = 'active' AND e.delivery_id IS NULL`;

/** The number of enrolments in the first slice, for which a change is tried at once. No slice has fewer, except the last. */
const MIN_SLICE_ROWS = 200;
const MAX_SLICE_ROWS = 1500;
/** How long a slice should take, in milliseconds. */
const SLICE_MS = 6;
/** How long a trial waits in milliseconds while another connection writes, before the request is answered with 503. */
const LOCK_WAIT_MS = 1500;

/** A step at which contacts wait, before and after a change of its settings. */
interface ChangedWait {
  before: WaitStep;
  after: WaitStep;
}

/** What a change did. */
export interface ChangeResult<Result> {
  result: Result;
  /** The enrolments that must be moved; null if the change moves no enrolment. */
  moves: OrderChange | null;
  /** The settings of a wait, if the change may have changed them. */
  wait?: ChangedWait;
  /** The step that was added, changed or removed; or whether a change of the whole automation concerns all its contacts or none. */
  concerns: { utr: string } | 'everybody' | 'nobody';
}

/** The effects of a change on some enrolments. */
interface TriedChange {
  /** The steps of the automation before the change. */
  before: readonly Placed[];
  /** The steps of the automation after the change. */
  after: readonly Placed[];
  people: PlannedMove[];
  concerns: ChangeResult<unknown>['concerns'];
  /** The number of enrolments that end when their next step is due. */
  leaving: number;
  /** True if the change can affect each enrolment differently, so that it must be tried for further enrolments. */
  hasMore: boolean;
}

/**
 * Makes a change in one transaction. Returns its result, and its effects on enrolments at `now`. With `isDryRun`, the change is rolled
 * back and the result is null. If there are many enrolments, the change is first tried for some hundreds of them at a time, and each trial
 * is rolled back, so that other requests are answered in between. When the promise resolves, all enrolments have been moved.
 * @param change Makes the change. `isRolledBack` tells whether this call is only a trial.
 */
export async function withEffects<Result>(
  { db, config, wake }: { db: Db; config: Pick<Config, 'TIME_ZONE'>; wake(): void },
  { automationId: id, isDryRun, now }: { automationId: number; isDryRun: boolean; now: Date },
  change: (isRolledBack: boolean) => ChangeResult<Result>,
): Promise<{ result: Result | null; effects: Effects }> {
  const at = now.getTime();
  const client = db.$client;
  await untilMovesDone(client, id);
  const movedPeople = (range: AddressRange, moves: OrderChange, wait: ChangedWait | undefined): PlannedMove[] => {
    const planned = plannedMoves(client, range, moves, at);
    if (wait === undefined) return planned;
    return withWaitTimes(db, planned, { range, moves, wait, now: at, zone: config.TIME_ZONE });
  };
  const effectsOn = (
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
      return effectsOn(before, change(true), range);
    });
  if (hasFewEnrolments(client, id)) {
    if (isDryRun) return { result: null, effects: sumEffects([await tryChange(wholeRange(id))], at) };
    return client
      .transaction(() => {
        const before = listPlaces(client, id);
        const changed = change(false);
        const effects = sumEffects([effectsOn(before, changed, wholeRange(id))], at);
        if (changed.moves !== null) moveOrStore(client, id, changed.moves);
        return { result: changed.result, effects };
      })
      .immediate();
  }
  const effects = sumEffects(await tryInSlices(client, id, tryChange), at);
  if (isDryRun) return { result: null, effects };
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
 * Returns the planned moves with the times at which contacts go on from a changed wait. By the planned moves alone, all these contacts
 * would be due at once, but then the background thread only looks at them again, and most of them go on waiting.
 */
function withWaitTimes(
  db: Db,
  planned: readonly PlannedMove[],
  input: { range: AddressRange; moves: OrderChange; wait: ChangedWait; now: number; zone: string },
): PlannedMove[] {
  const { range, moves, wait, now } = input;
  const low = moves.places?.low ?? 0;
  const high = moves.places?.high ?? 0;
  const contacts = db.$client
    .prepare<[object], WaitingContact & { position: number; date_before: string | null }>(`
    SELECT e.id, e.address_id, e.position, ${CONTACT_ID} AS contact_id, ${waitColumns(db, wait.after)},
      ${dateColumn(db, wait.before.user_id, wait.before.field_id)} AS date_before
    FROM enrolments e INDEXED BY enrolments_person JOIN automations au ON au.id = e.automation_id ${CONTACT_JOINS}
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
    const moveTimes = move.is_queued === 0 && move.after < high ? byPosition.get(move.before) : undefined;
    if (moveTimes === undefined) return move;
    const dueTimes = moveTimes.map(({ after }) => after);
    return {
      ...move,
      shifted: moveTimes.filter(({ before, after }) => Math.max(before, now) !== Math.max(after, now)).length,
      due: dueTimes.filter((time) => time <= now).length,
      first: Math.min(...dueTimes),
      last: Math.max(...dueTimes),
    };
  });
}

/** Tries a change for the enrolments of an automation, in slices that take some milliseconds each. Stops early if one slice tells all. */
async function tryInSlices(
  client: Database,
  id: number,
  tryChange: (range: AddressRange) => Promise<TriedChange>,
): Promise<TriedChange[]> {
  const tried: TriedChange[] = [];
  let rows = MIN_SLICE_ROWS;
  for (let range = nextRange(client, id, 0, rows); range !== null; range = nextRange(client, id, range.to, rows)) {
    const started = performance.now();
    const slice = await tryChange(range);
    tried.push(tried.length > 0 && !slice.hasMore ? { ...slice, people: [] } : slice);
    if (!slice.hasMore) break;
    const took = performance.now() - started;
    rows = Math.round(Math.min(MAX_SLICE_ROWS, Math.max(MIN_SLICE_ROWS, rows * Math.min(2, SLICE_MS / took))));
    // Leave the write lock free for as long as the slice held it.
    await setTimeout(took);
  }
  return tried;
}

/**
 * Runs a write in a transaction, once no enrolment of the automation is still to be moved. Waits for the write lock, because repeating the
 * request would repeat all its trials.
 */
async function writeWithoutMoves<Result>(client: Database, id: number, write: () => Result): Promise<Result> {
  let written: { value: Result } | undefined;
  while (written === undefined) {
    await untilMovesDone(client, id);
    const attempt = () => {
      if (!isMoving(client, id)) written = { value: write() };
      return false;
    };
    await inChunks(client, attempt, LOCK_WAIT_MS);
  }
  return written.value;
}

/**
 * Runs a write in a transaction that is rolled back, and returns its result. Other requests are answered while it waits for the write lock.
 */
async function rolledBack<Result>(client: Database, write: () => Result): Promise<Result> {
  let written: { value: Result } | undefined;
  const rollback = new Error('rolled back');
  try {
    const attempt = () => {
      written = { value: write() };
      throw rollback;
    };
    await inChunks(client, attempt, LOCK_WAIT_MS);
  } catch (error) {
    if (error !== rollback || written === undefined) throw error;
  }
  if (written === undefined) throw rollback;
  return written.value;
}

/** Returns the active enrolments of an automation by position, for a change that moves no enrolment. */
function unmovedPeople(client: Database, automation: number, now: number): PlannedMove[] {
  return client
    .prepare<Record<string, number>, PlannedMove>(`
      SELECT position AS before, position AS after, is_queued, people, 0 AS shifted,
        iif(is_queued, 0, (SELECT count(*) FROM ${WAITING_AT_POSITION} AND e.due_at <= @now)) AS due,
        ifnull((SELECT min(e.due_at) FROM ${WAITING_AT_POSITION}), 0) AS first, ifnull((SELECT max(e.due_at) FROM ${WAITING_AT_POSITION}), 0) AS last
      FROM enrolment_counts c WHERE automation_id = @automation AND state = 'active' AND people > 0`)
    .all({ automation, now });
}

/** Returns true if contacts exit the automation when they leave its target or join a segment. */
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

/** Returns the steps of an automation in their order. */
function listPlaces(client: Database, automationId: number): Placed[] {
  return client
    .prepare<[number], Placed>(
      'SELECT id, utr, position, parent_id, branch FROM automation_schedules WHERE automation_id = ? ORDER BY position',
    )
    .all(automationId);
}

/** Sums the effects of a change over all slices. `now`: epoch milliseconds. */
function sumEffects(slices: readonly TriedChange[], now: number): Effects {
  const next = (steps: readonly Placed[], at: number) => steps.find(({ position }) => position > at)?.utr ?? null;
  const rows = slices.flatMap((slice) => slice.people);
  rows.sort((a, b) => a.after - b.after || a.before - b.before || a.is_queued - b.is_queued);
  const people = new Map<string, Effect & { first: number; last: number }>();
  for (const row of rows) {
    const [from, to] = [next(slices[0]?.before ?? [], row.before), next(slices[0]?.after ?? [], row.after)];
    const isWaiting = to !== null && row.is_queued === 0;
    const moved = from === to ? row.shifted : row.people;
    const key = `${from} ${to} ${row.is_queued}`;
    const known = people.get(key);
    people.set(key, {
      from,
      to,
      is_queued: row.is_queued,
      people: row.people + (known?.people ?? 0),
      moved: (isWaiting ? moved : 0) + (known?.moved ?? 0),
      due_now: (isWaiting ? row.due : 0) + (known?.due_now ?? 0),
      first: Math.min(row.first, known?.first ?? row.first),
      last: Math.max(row.last, known?.last ?? row.last),
      first_due_at: null,
      last_due_at: null,
    });
  }
  const moment = (at: number) => isoTimestamp(new Date(Math.max(at, now)));
  return {
    people: [...people.values()].map(({ first, last, ...effect }) => {
      const isWaiting = effect.to !== null && effect.is_queued === 0;
      return {
        ...effect,
        first_due_at: isWaiting ? moment(first) : null,
        last_due_at: isWaiting ? moment(last) : null,
      };
    }),
    ...countConcerned(slices, rows),
    leaving: slices.reduce((sum, { leaving }) => sum + leaving, 0),
  };
}

/** Counts the active contacts for whom the changed part is still to come (`ahead`), and the other active contacts (`behind`). */
function countConcerned([first]: readonly TriedChange[], rows: readonly PlannedMove[]) {
  if (first === undefined) return { ahead: 0, behind: 0 };
  const sum = (moves: readonly PlannedMove[]) => moves.reduce((total, { people }) => total + people, 0);
  const { before, after, concerns } = first;
  if (concerns === 'everybody') return { ahead: sum(rows), behind: 0 };
  if (concerns === 'nobody') return { ahead: 0, behind: sum(rows) };
  // A removed step is found only among the steps before the change.
  const isRemoved = !after.some(({ utr }) => utr === concerns.utr);
  const steps = isRemoved ? before : after;
  const isAhead = (row: PlannedMove) => {
    const next = steps.find(({ position }) => position > (isRemoved ? row.before : row.after));
    return next !== undefined && mayReach(steps, next.utr, concerns.utr);
  };
  const ahead = sum(rows.filter(isAhead));
  return { ahead, behind: sum(rows) - ahead };
}
