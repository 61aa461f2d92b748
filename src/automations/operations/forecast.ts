/** Forecasts which mails of an automation a contact will get and when, or why the contact will get no more. */
import type { Database } from 'better-sqlite3';
import Type, { type Static } from 'typebox';
import { ineligibilityReason } from '../../audience/eligibility.ts';
import type { Db } from '../../database/open.ts';
import { AUTOMATION_STATUS, DELIVERY_STATE, type STEP_OUTCOMES } from '../../database/schema/index.ts';
import { endReason, POSITION, waitMs } from '../../delivery/queue/enrolment-state.ts';
import { findAddressId } from '../../delivery/reporting/why.ts';
import { type Said, sentence } from '../../errors/sentences.ts';
import { codeOf, readStored } from '../../errors/stored.ts';
import { choice, described, email, flag, isoTimestampSchema, nullable, said } from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { type Automation, type ListedSchedule, listSchedules, requireAutomation } from '../automations.ts';
import { ENROLLED_PERSON } from '../enrolled-person.ts';
import { OBSTACLE } from '../enrolment.ts';
import { isDeciding } from '../path.ts';
import { ByUtr } from './automations.ts';
import { type Awaited, findAwaited } from './awaited.ts';

const Forecast = Type.Object({
  state: described(choice('waiting', 'finished', 'left', 'outside'), 'State of the contact in the automation.'),
  reason: nullable(said()),
  reason_code: nullable(Type.String()),
  entered_at: nullable(isoTimestampSchema(), 'When the contact entered, UTC; null before.'),
  awaits: nullable(said(), 'What the contact waits for at a step that waits until something comes; null: nothing.'),
  change: nullable(said(), 'What would change that; null if there is nothing.'),
  mails: Type.Array(
    Type.Object({
      utr: Type.String(),
      subject: Type.String(),
      sent_at: nullable(isoTimestampSchema()),
      due_at: nullable(isoTimestampSchema()),
    }),
    { description: 'The e-mails, and when the contact gets each.' },
  ),
});
/**
 * What one contact gets and when. waiting: enrolled, with mails to come; finished and left: no more mails; outside: never
 * entered. The reason is why the contact exited, will exit at the next mail, or is outside; null if the contact will get the
 * next mail. A mail has no time if it will not be sent, or while the automation is not live.
 */
export type Forecast = Static<typeof Forecast>;

/** A step of an automation for one contact. */
export interface PlannedStep {
  schedule: ListedSchedule;
  /** What was done at it; undefined before. */
  taken: MailProgress | undefined;
  /** When the step comes, epoch milliseconds; null if the step does not come, or the time is not known. */
  due_at: number | null;
  /** Whether the contact took the other path. */
  is_elsewhere: boolean;
  /** What the contact waits for at it now; null: nothing. */
  awaited: Awaited | null;
}

interface Enrolment {
  id: number;
  run: number;
  state: 'active' | 'finished' | 'left';
  /** In its stored form. */
  reason: string | null;
  entered_at: number;
  position: number;
  waiting_since: number;
  contact_id: number | null;
  /** The recorded join that the background thread has not applied yet; 0 for a stored enrolment. */
  change_id: number;
}

interface Plan extends Pick<Forecast, 'state' | 'reason' | 'entered_at'> {
  /** The number of this entry of the contact, counted from 1; 0 before the first entry. */
  run: number;
  steps: PlannedStep[];
}

/**
 * Returns the forecast for this address, or for any contact if it is null. For an address that never entered: what it would get
 * if it joined at `now`. `zone`: the time zone of contacts without one.
 * `asIfLive`: as if the automation went live at `now`.
 */
export function forecastFor(
  db: Db,
  automation: Automation,
  email: string | null,
  { now, zone, asIfLive }: { now: number; zone: string; asIfLive: boolean },
): Plan {
  const client = db.$client;
  const isLive = asIfLive || automation.status === AUTOMATION_STATUS.live;
  const addressId = (email === null ? 0 : findAddressId(client, automation.user_id, email)) || undefined;
  const schedules = listSchedules(db, automation.id);
  const enrolment =
    addressId === undefined
      ? undefined
      : (findEnrolment(client, automation, addressId) ?? findPendingJoin(client, automation, addressId));
  const obstacle = addressId === undefined ? null : findObstacle(client, automation, addressId, enrolment);
  const isMember = addressId !== undefined && isInTarget(client, automation, addressId);
  if (enrolment === undefined) {
    const { trigger_kind: kind } = automation;
    const isByJoining = kind === 'join';
    const outside = isByJoining ? 'joined_outside_live' : kind === 'event' ? 'awaits_event' : 'awaits_trigger';
    const reason = obstacle ?? sentence(isMember ? outside : 'not_in_target');
    const wouldEnter = isLive && obstacle === null && (email === null || isMember !== isByJoining);
    const due = wouldEnter ? now + waitMs(schedules[0]) : null;
    return { state: 'outside', reason, entered_at: null, run: 0, steps: planSteps(schedules, 0, due, new Map()) };
  }
  const isActive = enrolment.state === 'active';
  const hasLeft = automation.exit_criteria === 1 && hasPendingLeave(client, automation, addressId ?? 0, enrolment);
  const leaves = hasLeft ? sentence('left_target') : (findEnd(client, automation, addressId ?? 0) ?? obstacle);
  const getsMore = isActive && leaves === null && isLive;
  const progress = mailProgress(client, enrolment.id);
  const next = schedules.find(({ position }) => position > enrolment.position);
  const awaited =
    next === undefined || !isActive || leaves !== null
      ? null
      : findAwaited(db, enrolment.id, next, { now, zone, isLive });
  const due = awaited?.due ?? progress.get(next?.id ?? 0)?.due_at ?? dueAt(enrolment, schedules);
  return {
    state: enrolment.state === 'active' ? 'waiting' : enrolment.state,
    reason: isActive ? (leaves ?? (isLive ? null : sentence('automation_not_live'))) : readStored(enrolment.reason),
    entered_at: isoTimestamp(new Date(enrolment.entered_at)),
    run: enrolment.run,
    steps: planSteps(schedules, enrolment.position, getsMore ? Math.max(now, due) : null, progress).map((step) => ({
      ...step,
      awaited: step.schedule === next ? awaited : null,
    })),
  };
}

function findEnrolment(client: Database, { id }: Automation, addressId: number): Enrolment | undefined {
  return client
    .prepare<[number, number], Enrolment>(
      `SELECT e.*, ${POSITION} AS position, 0 AS change_id FROM enrolments e WHERE automation_id = ? AND address_id = ? ORDER BY run DESC LIMIT 1`,
    )
    .get(id, addressId);
}

/** Returns the enrolment that will result from a recorded join that the background thread has not applied yet. */
function findPendingJoin(client: Database, { id }: Automation, addressId: number): Enrolment | undefined {
  return client
    .prepare<[number, number], Enrolment>(`
      SELECT 0 AS id, id AS change_id, 1 AS run, contact_id, 'active' AS state, NULL AS reason, happened_at AS entered_at, 0 AS position,
        happened_at AS waiting_since
      FROM membership_changes WHERE automation_id = ? AND address_id = ? AND change IN ('joined', 'let_in') ORDER BY id LIMIT 1`)
    .get(id, addressId);
}

/**
 * Returns true if a leave after the join has been recorded that the background thread has not applied yet. The contact may have
 * joined again since.
 */
function hasPendingLeave(client: Database, { id }: Automation, addressId: number, { change_id }: Enrolment): boolean {
  return (
    client
      .prepare(
        "SELECT 1 FROM membership_changes WHERE automation_id = ? AND address_id = ? AND change = 'left' AND id > ?",
      )
      .get(id, addressId, change_id) !== undefined
  );
}

function dueAt({ waiting_since, position: place }: Enrolment, schedules: readonly ListedSchedule[]): number {
  return waiting_since + waitMs(schedules.find(({ position }) => position > place));
}

/**
 * Returns the steps up to the position `passed` with what was done at them, and the later ones, due from `due` on, each after the
 * wait of its schedule.
 */
function planSteps(
  schedules: readonly ListedSchedule[],
  passed: number,
  due: number | null,
  progress: ReadonlyMap<number, MailProgress>,
): PlannedStep[] {
  let next = due;
  return schedules.map((schedule, at) => {
    const taken = progress.get(schedule.id);
    const is_elsewhere = isOnOtherPath(schedule, progress);
    // After mails were moved, a mail that the contact has got may come after its place.
    const isAhead = schedule.position > passed && !is_elsewhere && (taken === undefined || taken.due_at !== null);
    const due_at = isAhead ? next : (taken?.due_at ?? null);
    const following = schedules
      .slice(at + 1)
      .find((step) => progress.get(step.id) === undefined && !isOnOtherPath(step, progress));
    if (isAhead && next !== null) next += waitMs(following);
    // Which path the contact takes or how long they wait, and so when later mails come, is not known before the step.
    if (isAhead && (isDeciding(schedule) || schedule.kind === 'wait_until')) next = null;
    return { schedule, taken, due_at, is_elsewhere, awaited: null };
  });
}

/** Returns a moment in epoch milliseconds as a timestamp; null for none. */
export function timed(moment: number | null | undefined): string | null {
  return moment === null || moment === undefined ? null : isoTimestamp(new Date(moment));
}

/** Returns true if the contact took the other path at the step on whose path this one is. */
function isOnOtherPath({ parent_id, branch }: ListedSchedule, progress: ReadonlyMap<number, MailProgress>): boolean {
  const taken = parent_id === null ? undefined : progress.get(parent_id);
  return taken !== undefined && taken.outcome !== branch;
}

interface MailProgress {
  schedule_id: number;
  outcome: (typeof STEP_OUTCOMES)[number];
  taken_at: number;
  /** The state of the delivery of a mail, a `DELIVERY_STATE`, its attempts and the reply; null without one. */
  delivery: number | null;
  attempts: number | null;
  reply: string | null;
  /** The values that decided at the step, a stored sentence; null if there were none or the log no longer has them. */
  used: string | null;
  sent_at: number | null;
  due_at: number | null;
}

/**
 * Returns the mails of an enrolment so far: `sent_at` once the relay has accepted it, even if it bounced later; `due_at` while
 * it is queued.
 */
function mailProgress(client: Database, enrolmentId: number): Map<number, MailProgress> {
  const steps = client
    .prepare<[number], MailProgress>(`
      SELECT t.schedule_id, t.outcome, t.taken_at, d.state AS delivery, d.attempt AS attempts, d.reply,
        (SELECT l.reason FROM enrolments e CROSS JOIN enrolment_log l INDEXED BY enrolment_log_person ON l.address_id = e.address_id
          AND l.automation_id = e.automation_id AND l.run = e.run AND l.step_id = t.schedule_id
          WHERE e.id = t.enrolment_id ORDER BY l.id DESC LIMIT 1) AS used,
        CASE d.state WHEN ${DELIVERY_STATE.accepted} THEN d.updated_at WHEN ${DELIVERY_STATE.bounced} THEN t.taken_at END AS sent_at,
        iif(d.state IN (${DELIVERY_STATE.queued}, ${DELIVERY_STATE.sending}), max(d.due_at, t.taken_at), NULL) AS due_at
      FROM steps t LEFT JOIN deliveries d ON d.id = t.delivery_id WHERE t.enrolment_id = ?`)
    .all(enrolmentId);
  return new Map(steps.map((progress) => [progress.schedule_id, progress]));
}

/** Returns why the contact would not get the next mail, except for leaving the target; null if nothing prevents it. */
function findObstacle(
  client: Database,
  automation: Automation,
  addressId: number,
  enrolment: Enrolment | undefined,
): Said | null {
  const reason = client
    .prepare<Record<string, number | null>, string | null>(`
      SELECT ${enrolment === undefined ? ineligibilityReason('e', 'm.unsubscribe_group_id') : OBSTACLE} FROM automations au
        CROSS JOIN (SELECT @address AS address_id, @contact AS contact_id) e
        CROSS JOIN (SELECT @group AS unsubscribe_group_id) m ${ENROLLED_PERSON}
      WHERE au.id = @automation`)
    .pluck()
    .get({
      automation: automation.id,
      group: Number(automation.unsubscribe_group_id),
      address: addressId,
      contact: enrolment?.contact_id ?? null,
    });
  return readStored(reason ?? null);
}

/** Returns why the automation ends for the contact by their lists and segments; null if it does not. */
function findEnd(client: Database, { id }: Automation, address: number): Said | null {
  const reason = client
    .prepare<[object], string | null>(
      `SELECT ${endReason('e')} FROM automations au CROSS JOIN (SELECT @address AS address_id) e WHERE au.id = @id`,
    )
    .pluck()
    .get({ id, address });
  return readStored(reason ?? null);
}

function isInTarget(
  client: Database,
  { automation_for, automation_for_table }: Automation,
  addressId: number,
): boolean {
  const members =
    automation_for_table === 'segments'
      ? 'SELECT 1 FROM segment_recipients WHERE segment_id = ? AND address_id = ? AND is_removed = 0'
      : 'SELECT 1 FROM contacts WHERE contact_type_id = ? AND address_id = ? AND deleted_at IS NULL';
  return client.prepare(members).get(automation_for, addressId) !== undefined;
}

export const previewAutomation = operation({
  name: 'Preview what one person receives from an automation, and when (addition)',
  description: 'Without email: what a contact receives who enters now.',
  role: 'viewer',
  input: Type.Object({
    ...ByUtr.properties,
    email: Type.Optional(email()),
    if_live: Type.Optional(
      Type.Unsafe<0 | 1>({
        ...flag('1: as if it went live now, so that one that is not live can be tried.'),
        empty: 0,
      }),
    ),
  }),
  output: Type.Object({ preview: Forecast }),
  run({ db, clock, config, accountId }, { utr, email = null, if_live }) {
    const automation = requireAutomation(db, accountId, utr);
    const { state, reason, entered_at, steps } = forecastFor(db, automation, email, {
      now: clock.now().getTime(),
      zone: config.TIME_ZONE,
      asIfLive: if_live === 1,
    });
    const mails = steps
      .filter(({ schedule, is_elsewhere }) => schedule.kind === 'mail' && !is_elsewhere)
      .map(({ schedule: { utr: mail, subject }, taken, due_at }) => ({
        utr: mail,
        subject,
        sent_at: timed(taken?.sent_at),
        due_at: timed(due_at),
      }));
    const { awaits = null, change = null } = steps.find(({ awaited }) => awaited !== null)?.awaited ?? {};
    return { preview: { state, reason, reason_code: codeOf(reason), entered_at, awaits, change, mails } };
  },
});
