/**
 * Changes the state of enrolments; no other file does. It is part of the delivery engine because the ledger moves a contact on when their
 * mail ends. A contact has at most one mail queued or being sent; the wait for the next mail begins when that mail reaches a final state.
 */
import type { Database } from 'better-sqlite3';
import {
  AUTOMATION_STATUS,
  type automationSchedules,
  type automations,
  BARS_ENTRY,
  type enrolments,
} from '../../database/schema/index.ts';
import { sentence } from '../../errors/sentences.ts';
import { stored, storedSql } from '../../errors/stored.ts';
import { DAY_MS, HOUR_MS } from '../../units.ts';
import { fractionFor } from './variant-groups.ts';

/**
 * SQL: the address id to which a change applies. It is the contact's current address, because the address may have been corrected since.
 */
const CURRENT_ADDRESS =
  'ifnull((SELECT address_id FROM contacts WHERE id = @contact_id AND deleted_at IS NULL), @address_id)';

/** Returns SQL that ends an enrolment with this stored reason. */
const leaveBecause = (reason: string) => `
  UPDATE enrolments SET state = 'left', reason = ${reason}, ended_at = @at
  WHERE automation_id = @automation_id AND address_id = ${CURRENT_ADDRESS} AND state = 'active'`;

/** SQL that ends an enrolment because the contact left the target. Exported so that a test can check its query plan. */
export const LEAVE_TARGET = leaveBecause(storedSql('left_target'));

/** The stored reasons with which an enrolment ends because the contact joined a segment. */
const ENDS = { goal: storedSql('goal_reached'), exit: storedSql('exit_rule') };

/** The stored reason of a contact who was held out. */
export const HELD_OUT = stored(sentence('held_out'));

/** A recorded change of an automation's target. */
interface Membership {
  automation_id: number;
  address_id: number;
  contact_id: number | null;
}

/**
 * Returns functions that enrol a contact in an automation, end the enrolment, and wake it. `at` is in epoch milliseconds. A contact does not
 * enter if the contact is in the automation already, may not enter again, or is outside the target. The target is not checked again if it
 * was checked when the entry was recorded. A contact of the control group enters and exits at once, in every run.
 */
export function enrolmentMoves(client: Database) {
  const updateContact = client.prepare(`
    UPDATE enrolments SET contact_id = @contact_id
    WHERE automation_id = @automation_id AND address_id = ${CURRENT_ADDRESS} AND state = 'active'`);
  const enter = client.prepare<[object], { id: number; address_id: number }>(`
    INSERT INTO enrolments (automation_id, address_id, contact_id, run, event_key, state, entered_at, waiting_since, due_at)
    SELECT au.id, p.address_id, @contact_id,
      1 + ifnull((SELECT max(n.run) FROM enrolments n WHERE n.automation_id = au.id AND n.address_id = p.address_id), 0), @event_key, 'active', @at, @at,
      @at + ifnull((SELECT ${SCHEDULE_WAIT} FROM automation_schedules s WHERE s.automation_id = au.id ORDER BY s.position LIMIT 1), 0)
    FROM automations au CROSS JOIN (SELECT ${CURRENT_ADDRESS} AS address_id) p
    WHERE au.id = @automation_id AND au.deleted_at IS NULL AND NOT EXISTS (
      SELECT 1 FROM enrolments n WHERE n.automation_id = au.id AND n.address_id = p.address_id AND ${BARS_ENTRY})
      AND ${segmentEnd('p')} IS NULL AND (au.trigger_kind IN ('join', 'event') OR ${isMember('p')})
    RETURNING id, address_id`);
  const holdOut = client.prepare<[number], { utr: string; hold_out: number }>(
    'SELECT utr, hold_out FROM automations WHERE id = ?',
  );
  // The goal is recorded also after the run, and for the control group, so that both groups can be compared.
  const setGoal = client.prepare(`
    UPDATE enrolments SET goal_at = @at
    WHERE automation_id = @automation_id AND address_id = ${CURRENT_ADDRESS} AND goal_at IS NULL AND entered_at <= @at`);
  const leave = client.prepare(LEAVE_TARGET);
  const wake = client.prepare(WAKE);
  const endBy = { goal: client.prepare(leaveBecause(ENDS.goal)), exit: client.prepare(leaveBecause(ENDS.exit)) };
  return {
    enter(entry: Membership & { at: number; event_key: string | null }) {
      if (updateContact.run(entry).changes > 0) return;
      const entered = enter.get(entry);
      const automation = holdOut.get(entry.automation_id) ?? { utr: '', hold_out: 0 };
      if (entered !== undefined && isHeldOut(entered.address_id, automation))
        enrolmentEnd(client, entry.at)(entered.id, HELD_OUT);
    },
    leaveTarget: (membership: Membership & { at: number }) => leave.run(membership),
    joinEndSegment(membership: Membership & { at: number }, change: keyof typeof ENDS) {
      if (change === 'goal') setGoal.run(membership);
      endBy[change].run(membership);
    },
    wake: (woken: Membership & { at: number; step_id: number | null; change: 'arrived' | 'changed' }) =>
      wake.run(woken),
  };
}

/** Returns true if the contact with this address is in the control group of an automation, which gets nothing. */
export function isHeldOut(addressId: number, { utr, hold_out }: { utr: string; hold_out: number }): boolean {
  return fractionFor(addressId, `${utr}.hold-out`) < hold_out / 100;
}

/** Returns a function that ends an enrolment with a reason at `now`, epoch milliseconds. */
export function enrolmentEnd(client: Database, now: number): (id: number, reason: string) => void {
  const leave = client.prepare<[string, number, number]>(
    "UPDATE enrolments SET state = 'left', reason = ?, ended_at = ? WHERE id = ?",
  );
  return (id, reason) => {
    leave.run(reason, now, id);
  };
}

/**
 * Ends the enrolments that took an exit step after the step with the id `after`. Returns their number. `now` is in epoch milliseconds. Call
 * it in the transaction that takes the steps.
 */
export function exitByStep(client: Database, after: number, now: number): number {
  return client
    .prepare<[object]>(`UPDATE enrolments SET state = 'left', reason = ${storedSql('exit_step')}, ended_at = @now
    WHERE id IN (SELECT enrolment_id FROM steps WHERE id > @after AND outcome = 'exit')`)
    .run({ after, now }).changes;
}

/** Returns the id of the last step that was taken, for `logSteps`, `passStepTo` and `exitByStep`. */
export function lastStep(client: Database): number {
  return client.prepare<[], number>('SELECT ifnull(max(id), 0) FROM steps').pluck().get() ?? 0;
}

/**
 * Writes a line of the log for each step with an id above `values.after`. Call it in the transaction that takes the steps.
 * @param used SQL over the step `t`, its enrolment `e` and `joins`: what decided the outcome, in its stored form; NULL if nothing did.
 * @param joins SQL joins that `used` needs.
 */
export function logSteps(
  client: Database,
  values: { after: number; [name: string]: number | string | null },
  used = 'NULL',
  joins = '',
): void {
  client
    .prepare<[object]>(`INSERT INTO enrolment_log (automation_id, address_id, run, code, step_id, reason, happened_at)
    SELECT e.automation_id, e.address_id, e.run, t.outcome, t.schedule_id, ${used}, t.taken_at
    FROM steps t CROSS JOIN enrolments e ON e.id = t.enrolment_id ${joins} WHERE t.id > @after ORDER BY t.id`)
    .run(values);
}

/**
 * Moves enrolments that have taken their step to the wait for the next step, which begins at `now`, epoch milliseconds. `ids` are the ids
 * of the enrolments.
 */
export function passStep(client: Database, ids: readonly number[], now: number): void {
  client.prepare<[object]>(passStepText('SELECT value FROM json_each(@ids)')).run({ ids: JSON.stringify(ids), now });
}

/** Returns SQL that moves the enrolments in `ids`, a query, to the wait for their next step. */
const passStepText = (ids: string) => `
  UPDATE enrolments AS e SET position = ${POSITION_BEFORE_UNSENT}, waiting_since = @now, due_at = @now + ifnull(${WAIT_FOR_UNSENT}, 0)
  WHERE id IN (${ids})`;

/** The next step on a path. */
export interface NextStep {
  /** The id of the step; 0 if no step follows. */
  id: number;
  /** The position right before the next step, or of the last step if no step follows. */
  before: number;
  /** The wait before the step in milliseconds. */
  wait: number;
}

/** Enrolments at one place that have taken the same step with the same outcome. */
export interface PassedStep {
  automation: number;
  /** The position at which the enrolments were. */
  position: number;
  /** The id of the last step that was taken before. */
  after: number;
  outcome: string;
}

/**
 * Moves the enrolments that passed a step to the wait for the next step, which begins at `now`, epoch milliseconds. Returns their number.
 * One statement counts all of them, because the trigger would count each separately. Enrolments that have also taken the next step, because
 * a reorder moved it behind, are not moved: `passTaken` moves them. Call it in the transaction that takes the steps.
 */
export function passStepTo(client: Database, passed: PassedStep, now: number, next: NextStep): number {
  const { automation, position } = passed;
  const parameters = { ...passed, ...next, now };
  const passedIds = 'SELECT enrolment_id FROM steps WHERE id > @after AND outcome = @outcome';
  client.prepare<[number]>('INSERT INTO batch_moves (automation_id) VALUES (?)').run(automation);
  const { changes } = client
    .prepare<[object]>(`UPDATE enrolments AS e SET position = @before, waiting_since = @now, due_at = @now + @wait
    WHERE id IN (${passedIds}) AND NOT EXISTS (SELECT 1 FROM steps t WHERE t.enrolment_id = e.id AND t.schedule_id = @id)`)
    .run(parameters);
  client.prepare<[]>('DELETE FROM batch_moves').run();
  const count = client.prepare<[object]>(`
    INSERT INTO enrolment_counts (automation_id, state, position, people) VALUES (@automation, 'active', @position, @people)
    ON CONFLICT DO UPDATE SET people = people + @people`);
  count.run({ automation, position, people: -changes });
  count.run({ automation, position: next.before, people: changes });
  return changes;
}

/** SQL after WHERE for the enrolments `e` of a `DuePlace`, in the order of their due times. */
export const DUE_AT_PLACE = `e.automation_id = @automation AND e.position = @position AND e.state = 'active' AND e.delivery_id IS NULL AND e.due_at <= @now
  ORDER BY e.due_at, e.id LIMIT @rows`;
const IDS_DUE_AT_PLACE = `SELECT e.id FROM enrolments e INDEXED BY enrolments_place WHERE ${DUE_AT_PLACE}`;

/** Describes a page of the enrolments that are due at one place. */
export interface DuePlace {
  automation: number;
  position: number;
  /** The current time in epoch milliseconds. */
  now: number;
  /** The maximum number of enrolments in the page. */
  rows: number;
}

/**
 * Moves on the due enrolments of a page that have already taken the step `schedule`, because a reorder moved it behind. Returns their
 * number.
 */
export function passTaken(client: Database, place: DuePlace, schedule: number): number {
  return client
    .prepare<[object]>(
      `${passStepText(IDS_DUE_AT_PLACE)} AND EXISTS (SELECT 1 FROM steps t WHERE t.enrolment_id = e.id AND t.schedule_id = @schedule)`,
    )
    .run({ ...place, schedule }).changes;
}

/** Lets enrolments wait at their step until `due`, epoch milliseconds. */
export function waitAtStep(client: Database, waits: readonly { id: number; due: number }[]): void {
  client
    .prepare<[object]>(
      `UPDATE enrolments SET due_at = w.value ->> 'due' FROM json_each(@waits) w WHERE enrolments.id = w.value ->> 'id'`,
    )
    .run({ waits: JSON.stringify(waits) });
}

/** Finishes a page of due enrolments that have received every mail. Returns their number. */
export function finishDueEnrolments(client: Database, place: DuePlace): number {
  return client
    .prepare<[object]>(
      `UPDATE enrolments AS e SET state = 'finished', ended_at = @now WHERE id IN (${IDS_DUE_AT_PLACE}) AND ${NEXT_SCHEDULE} IS NULL`,
    )
    .run(place).changes;
}

/** Tells which enrolments a change of an automation's mails affects. */
export interface OrderChange {
  /** The positions of the affected enrolments, from `low` to below `high`; null if all are affected, because the mails were reordered. */
  places: { low: number; high: number } | null;
  /** True if a mail was removed, so that contacts with no mail left have finished. */
  isRemoval: boolean;
}

/** Selects the enrolments that are handled at once by their addresses: those above `after`, up to `to`. */
export interface AddressRange {
  automation: number;
  after: number;
  to: number;
}

const ENROLMENTS_OF_RANGE = `enrolments AS e INDEXED BY enrolments_person`;
const IN_RANGE = 'e.automation_id = @automation AND e.address_id > @after AND e.address_id <= @to';
/** SQL: the change affects the enrolment. */
const IS_MOVED = '(@low IS NULL OR (e.delivery_id IS NULL AND e.position >= @low AND e.position < @high))';

/** The contacts who share the same position before a change and the same position after it. */
export interface PlannedMove {
  before: number;
  after: number;
  /** 1 if their mail is queued, 0 if they wait. */
  is_queued: 0 | 1;
  people: number;
  /** The number of contacts whose due time changes. */
  shifted: number;
  /** The number of contacts who are due now. */
  due: number;
  /** The earliest due time of these contacts, epoch milliseconds. */
  first: number;
  /** The latest due time of these contacts, epoch milliseconds. */
  last: number;
}

/** Returns what `moveEnrolments` would do to the enrolments in the range, by position. `now` is in epoch milliseconds. */
export function plannedMoves(client: Database, range: AddressRange, change: OrderChange, now: number): PlannedMove[] {
  return client
    .prepare<[object], PlannedMove>(`
    WITH moved AS MATERIALIZED (
      SELECT e.position AS before, e.due_at AS due_before, e.delivery_id IS NOT NULL AS is_queued,
        CASE WHEN NOT ${IS_MOVED} THEN e.position WHEN e.delivery_id IS NULL THEN ${POSITION_BEFORE_UNSENT} ELSE ${POSITION} END AS after,
        CASE WHEN ${IS_MOVED} AND e.delivery_id IS NULL THEN e.waiting_since + ifnull(${WAIT_FOR_UNSENT}, 0) ELSE e.due_at END AS due
      FROM ${ENROLMENTS_OF_RANGE} WHERE ${IN_RANGE} AND e.state = 'active')
    SELECT before, after, is_queued, count(*) AS people, sum(due <> due_before) AS shifted, sum(due <= @now) AS due,
      min(due) AS first, max(due) AS last
    FROM moved GROUP BY 1, 2, 3`)
    .all({ ...range, ...boundsOf(change), now });
}

/**
 * Moves the enrolments in the range to their correct positions after the mails were changed: a waiting contact is placed before the next
 * mail they have not received, and waits for it from the time of their last mail. Enrolments that were already moved do not change. If a
 * removed mail was the last one, the contacts of an active automation have finished; those of a paused automation stay enrolled, because
 * the owner may be about to replace the mail.
 */
export function moveEnrolments(client: Database, range: AddressRange, change: OrderChange): void {
  client
    .prepare<[object]>(`
    UPDATE ${ENROLMENTS_OF_RANGE} SET
      position = iif(e.state = 'active' AND e.delivery_id IS NULL, ${POSITION_BEFORE_UNSENT}, ${POSITION}),
      due_at = iif(e.state = 'active' AND e.delivery_id IS NULL, e.waiting_since + ifnull(${WAIT_FOR_UNSENT}, 0), e.due_at),
      state = iif(@isRemoval = 1 AND e.state = 'active' AND e.delivery_id IS NULL AND ${WAIT_FOR_UNSENT} IS NULL
        AND EXISTS (SELECT 1 FROM automations WHERE id = @automation AND status = ${AUTOMATION_STATUS.live}), 'finished', e.state)
    WHERE ${IN_RANGE} AND ${IS_MOVED} AND (e.state = 'active' OR @low IS NULL)`)
    .run({ ...range, ...boundsOf(change), isRemoval: change.isRemoval ? 1 : 0 });
}

function boundsOf({ places }: OrderChange) {
  return { low: places?.low ?? null, high: places?.high ?? null };
}

/** An enrolment as it is stored. */
export interface Enrolment extends Omit<typeof enrolments.$inferSelect, 'reason' | 'goal_at'> {
  reason: string | null;
}

/** Records that this address exited the automation, because its enrolment now has another address. */
export function addReaddressed(client: Database, enrolment: Enrolment): void {
  client
    .prepare(`
      INSERT INTO enrolments (automation_id, address_id, run, event_key, state, reason, entered_at, position, waiting_since, due_at)
      VALUES (@automation_id, @address_id, @run, @event_key, 'left', ${READDRESSED}, @entered_at, @position, @waiting_since, @due_at)`)
    .run(enrolment);
}

/** Merges two enrolments of one contact: stores the columns of `kept`, and ends the enrolment `givenUp` with its delivery. */
export function mergeEnrolments(
  client: Database,
  kept: Omit<Enrolment, 'automation_id' | 'address_id' | 'entered_at' | 'run' | 'event_key'>,
  givenUp: Pick<Enrolment, 'id' | 'delivery_id'>,
): void {
  client
    .prepare(`UPDATE enrolments SET state = 'left', reason = ${READDRESSED}, delivery_id = ? WHERE id = ?`)
    .run(givenUp.delivery_id, givenUp.id);
  client
    .prepare(`
      UPDATE enrolments SET contact_id = @contact_id, state = @state, reason = @reason, position = @position,
        waiting_since = @waiting_since, due_at = @due_at, arrived_step = @arrived_step, arrived_at = @arrived_at, delivery_id = @delivery_id, ended_at = @ended_at WHERE id = @id`)
    .run(kept);
}

/**
 * Continues the enrolments of deliveries of one mailing that have just reached a final state. Does nothing for mailings that do not belong
 * to an automation. `through`: the mail was accepted, bounced or failed, so the wait for the next mail begins. `cancelled`: the mail was
 * not sent, and the contacts wait for its replacement. `suppressed`: the contacts exit. Call it inside the transaction that records the
 * state. `now` is in epoch milliseconds.
 */
export function advanceEnrolments(
  client: Database,
  mailingId: number,
  deliveryIds: readonly number[],
  outcome: 'through' | 'cancelled' | 'suppressed',
  now: number,
): void {
  const isLive = client
    .prepare<[number], 0 | 1>(
      `SELECT au.status = ${AUTOMATION_STATUS.live} FROM mailings m JOIN automations au ON au.id = m.automation_id WHERE m.id = ?`,
    )
    .pluck()
    .get(mailingId);
  if (isLive === undefined) return;
  const ids = JSON.stringify(deliveryIds);
  const isOfDeliveries = 'delivery_id IN (SELECT value FROM json_each(@ids))';
  if (outcome === 'cancelled') {
    client
      .prepare<[object]>(`
        UPDATE enrolments AS e SET delivery_id = NULL, position = ${POSITION_BEFORE_UNSENT},
          due_at = waiting_since + ifnull(${WAIT_FOR_UNSENT}, 0)
        WHERE ${isOfDeliveries}`)
      .run({ ids });
    return;
  }
  if (outcome === 'suppressed') {
    client
      .prepare<[object]>(`
        UPDATE enrolments SET state = 'left', reason = (SELECT reply FROM deliveries WHERE id = delivery_id), delivery_id = NULL, ended_at = @now
        WHERE ${isOfDeliveries} AND state = 'active' AND (SELECT reply FROM deliveries WHERE id = delivery_id) <> ${READDRESSED}`)
      .run({ ids, now });
  }
  // After the last mail of a paused automation contacts stay enrolled, because another mail may be added before it resumes.
  client
    .prepare<[object]>(`
      WITH n AS MATERIALIZED (SELECT e.id, ${POSITION_BEFORE_UNSENT} AS before, ${WAIT_FOR_UNSENT} AS wait FROM enrolments e WHERE ${isOfDeliveries})
      UPDATE enrolments SET position = n.before, waiting_since = @now, due_at = @now + ifnull(n.wait, 0), delivery_id = NULL,
        ended_at = iif(state = 'active' AND @isLive = 1 AND n.wait IS NULL, @now, ended_at),
        state = iif(state = 'active' AND @isLive = 1 AND n.wait IS NULL, 'finished', state)
      FROM n WHERE enrolments.id = n.id`)
    .run({ ids, now, isLive });
}

/** SQL: the wait before a schedule `s` in milliseconds. It starts at the previous mail, or at the enrolment for the first mail. */
export const SCHEDULE_WAIT = `CASE s.waiting_type WHEN 'hours' THEN s.waiting_period * ${HOUR_MS} WHEN 'days' THEN s.waiting_period * ${DAY_MS} ELSE 0 END`;

/** Returns the wait before a schedule in milliseconds; 0 if the schedule is undefined. */
export function waitMs(
  schedule: Pick<typeof automationSchedules.$inferSelect, 'waiting_type' | 'waiting_period'> | undefined,
): number {
  if (schedule === undefined || schedule.waiting_type === 'instantly') return 0;
  return schedule.waiting_period * (schedule.waiting_type === 'days' ? DAY_MS : HOUR_MS);
}

/**
 * SQL: the position of an enrolment `e` in the automation. Mails with a higher position are still to come. After a reorder, the background
 * thread moves enrolments; this expression returns the new position even before that. A mail that is being sent counts as sent.
 */
export const POSITION = `ifnull((SELECT m.landing FROM moved_mails m WHERE m.automation_id = e.automation_id AND m.position > e.position
    AND (e.delivery_id IS NULL OR NOT EXISTS (SELECT 1 FROM steps t WHERE t.enrolment_id = e.id AND t.schedule_id = m.schedule_id))
    ORDER BY m.position LIMIT 1), e.position)`;

/**
 * SQL: the id of the schedule that an enrolment `e` waits for, which is the first after its position; null at the end of the automation.
 */
export const NEXT_SCHEDULE = `(SELECT s.id FROM automation_schedules s
    WHERE s.automation_id = e.automation_id AND s.position > ${POSITION} ORDER BY s.position LIMIT 1)`;

/** SQL condition: the enrolment waits in this automation, without a queued mail. */
const isWaiting = (row: string, automation: string) =>
  `${row}.automation_id = ${automation} AND ${row}.state = 'active' AND ${row}.delivery_id IS NULL`;

/**
 * SQL that begins a SELECT: the enrolments `e` that are due first at each place of an automation, as `FROM firsts CROSS JOIN enrolments e ON
 * e.id = firsts.id`. Reads one row of the index for each place, of which there are as many as steps.
 * @param automation SQL for the id of the automation.
 */
export const withFirsts = (automation: string) => `
  WITH RECURSIVE firsts (id) AS (
    SELECT (SELECT n.id FROM enrolments n INDEXED BY enrolments_place WHERE ${isWaiting('n', automation)} ORDER BY n.position, n.due_at LIMIT 1)
    UNION ALL SELECT (SELECT n.id FROM enrolments n INDEXED BY enrolments_place
      WHERE ${isWaiting('n', automation)} AND n.position > e.position ORDER BY n.position, n.due_at LIMIT 1)
    FROM firsts CROSS JOIN enrolments e ON e.id = firsts.id)`;

/**
 * SQL: when the first enrolment of an automation is due, in epoch milliseconds; null if nobody waits. `automation` is SQL for the
 * automation's id.
 */
export const firstDueAt = (automation: string) =>
  `(${withFirsts(automation)} SELECT min(e.due_at) FROM firsts CROSS JOIN enrolments e ON e.id = firsts.id)`;

/**
 * SQL that wakes an enrolment that waits at a step, unless its wait has not begun. An event does not wake the enrolment if it happened
 * before the step awaited it or after the time ran out, as it can while the automation is paused. Exported so that a test can check its
 * query plan.
 */
export const WAKE = `
  UPDATE enrolments AS e SET due_at = @at, arrived_step = iif(@change = 'arrived', @step_id, arrived_step),
    arrived_at = iif(@change = 'arrived', @at, arrived_at)
  WHERE automation_id = @automation_id AND address_id = ${CURRENT_ADDRESS} AND state = 'active' AND delivery_id IS NULL
    AND ${NEXT_SCHEDULE} = @step_id AND EXISTS (SELECT 1 FROM automation_schedules s WHERE s.id = @step_id
      AND @at > e.waiting_since + ${SCHEDULE_WAIT}
      AND (@change = 'changed' OR @at > ifnull(s.event_since, 0) AND @at <= e.waiting_since + ${SCHEDULE_WAIT} + s.timeout_hours * ${HOUR_MS}))`;

/**
 * SQL after FROM: the steps after the position of an enrolment `e` that it has not taken yet, on the paths it takes. After a reorder, steps
 * that it has taken can be there, too.
 */
const UNSENT = `automation_schedules s WHERE s.automation_id = e.automation_id AND s.position > ${POSITION}
    AND NOT EXISTS (SELECT 1 FROM steps t WHERE t.enrolment_id = e.id AND t.schedule_id = s.id)
    AND (s.parent_id IS NULL OR EXISTS (
      SELECT 1 FROM steps b WHERE b.enrolment_id = e.id AND b.schedule_id = s.parent_id AND b.outcome = s.branch))`;

/** SQL: the position right before the next unsent mail of an enrolment `e`; if no mail follows, the position of the last mail. */
export const POSITION_BEFORE_UNSENT = `ifnull((SELECT min(s.position) - 1 FROM ${UNSENT}),
    max(${POSITION}, ifnull((SELECT max(s.position) FROM automation_schedules s WHERE s.automation_id = e.automation_id), 0)))`;

/** SQL: the wait of an enrolment `e` before its next unsent mail, in milliseconds; null if no mail follows. */
export const WAIT_FOR_UNSENT = `(SELECT ${SCHEDULE_WAIT} FROM ${UNSENT} ORDER BY s.position LIMIT 1)`;

/** Returns SQL that is true if the contact of the row `row` is in the list or segment of the automation `au` now. */
export function isMember(row: string): string {
  return `
  CASE au.automation_for_table
    WHEN 'contacts' THEN EXISTS (SELECT 1 FROM contacts k
      WHERE k.contact_type_id = au.automation_for AND k.address_id = ${row}.address_id AND k.deleted_at IS NULL)
    ELSE EXISTS (SELECT 1 FROM segment_recipients k
      WHERE k.segment_id = au.automation_for AND k.address_id = ${row}.address_id AND k.is_removed = 0)
  END`;
}

/** Returns SQL for the stored reason why a segment keeps the contact of the row `row` out of the automation `au`; null if none does. */
function segmentEnd(row: string): string {
  const isIn = (segment: string) => `EXISTS (
    SELECT 1 FROM segment_recipients x JOIN segments g ON g.id = x.segment_id AND g.deleted_at IS NULL
    WHERE x.segment_id = au.${segment} AND x.address_id = ${row}.address_id AND x.is_removed = 0)`;
  return `CASE WHEN ${isIn('goal_segment_id')} THEN ${ENDS.goal} WHEN ${isIn('exit_segment_id')} THEN ${ENDS.exit} END`;
}

/** Returns SQL for the reason of `segmentEnd`, or for the one that the contact left the target, if the automation ends enrolments then. */
export function endReason(row: string): string {
  return `ifnull(${segmentEnd(row)}, iif(au.exit_criteria = 1 AND NOT (${isMember(row)}), ${storedSql('left_target')}, NULL))`;
}

/**
 * Returns SQL as `endReason` does, for an automation that has been read. If the automation has no rule that ends enrolments, the SQL needs
 * no lookups for each contact.
 */
export function endReasonOf(
  {
    goal_segment_id,
    exit_segment_id,
    exit_criteria,
  }: Pick<typeof automations.$inferSelect, 'goal_segment_id' | 'exit_segment_id' | 'exit_criteria'>,
  row: string,
): string {
  return goal_segment_id === null && exit_segment_id === null && exit_criteria !== 1 ? 'NULL' : endReason(row);
}

/**
 * SQL: why the recipient of delivery `d` has exited the automation that sends it; null while the recipient is enrolled. A recipient who
 * exits while the mail is queued does not get it.
 */
export const EXIT_REASON = `(
  SELECT iif(e.state = 'left', e.reason, ${endReason('d')})
  FROM enrolments e INDEXED BY enrolments_delivery CROSS JOIN automations au ON au.id = e.automation_id
  WHERE e.delivery_id = d.id)`;

/** SQL: the reason of a suppressed mail whose contact has a new address, if that address gets a mail of its own or is excluded. */
export const READDRESSED = storedSql('readdressed');
