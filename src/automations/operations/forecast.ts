/** Forecasts which mails of an automation a contact will get and when, or why the contact will get no more. */
import type { Database } from 'better-sqlite3';
import Type, { type Static } from 'typebox';
import { findAddressId } from '../../audience/contacts/address-rows.ts';
import { parseAddress } from '../../audience/contacts/addresses.ts';
import { ineligibilityReason } from '../../audience/eligibility.ts';
import type { Db } from '../../database/open.ts';
import { AUTOMATION_STATUS, DELIVERY_STATE, type STEP_OUTCOMES } from '../../database/schema/index.ts';
import { endReason, POSITION, waitMs } from '../../delivery/queue/enrolment-state.ts';
import { type Said, sentence } from '../../errors/sentences.ts';
import { codeOf, readStored } from '../../errors/stored.ts';
import {
  choice,
  described,
  email as emailSchema,
  isoTimestampSchema,
  nullable,
  optionalFlag,
  said,
} from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { type Automation, type ListedSchedule, listSchedules, requireAutomation } from '../automations.ts';
import { TARGET_SEGMENT_JOIN } from '../enrolled-contact.ts';
import { OBSTACLE } from '../enrolment.ts';
import { isDeciding } from '../path.ts';
import { ByUtr } from './automations.ts';
import { type Awaited, findAwaited } from './awaited.ts';

const Forecast = Type.Object({
  state: described(choice('waiting', 'finished', 'left', 'outside'), 'State of the contact in the automation.'),
  reason: nullable(said()),
  reason_code: nullable(Type.String()),
  entered_at: nullable(isoTimestampSchema(), 'When the contact entered, UTC; null before.'),
  awaits: nullable(
    said(),
    'The event or time for which the contact waits at a step; null if the contact waits for none.',
  ),
  change: nullable(said(), 'What would let the contact go on at another time or path; null if nothing would.'),
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
 * What one contact gets and when. `state` is `waiting` if the contact is enrolled and mails are still to come, `finished` or `left` if no
 * mail is to come, and `outside` if the contact never entered. `reason` says why the contact exited, will exit at the next mail, or is
 * outside; it is null if the contact will get the next mail. A mail has no time if it will not be sent, or while the automation is not live.
 */
export type Forecast = Static<typeof Forecast>;

/** A step of an automation for one contact. */
export interface PlannedStep {
  schedule: ListedSchedule;
  /** What was done at the step; undefined before the contact has taken it. */
  taken: TakenStep | undefined;
  /** When the step comes, epoch milliseconds; null if the step does not come, or the time is not known. */
  due_at: number | null;
  /** True if the step is on a path that the contact did not take. */
  is_elsewhere: boolean;
  /** What the contact waits for at the step now; null if the contact does not wait at this step. */
  awaited: Awaited | null;
}

/** The enrolment of a contact, or the enrolment to which a recorded join will lead. Times are epoch milliseconds. */
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
  /** The id of the recorded join that the background thread has not applied yet; 0 for a stored enrolment. */
  change_id: number;
}

interface Plan extends Pick<Forecast, 'state' | 'reason' | 'entered_at'> {
  /** The number of this entry of the contact, counted from 1; 0 before the first entry. */
  run: number;
  steps: PlannedStep[];
}

/**
 * Returns the forecast for the contact with this address; with null, for any contact who enters at `now` (epoch milliseconds). For an
 * address that never entered, returns what the contact would get if it entered at `now`.
 * @param how `zone`: the time zone of contacts whose own is unknown. `asIfLive`: forecasts as if the automation went live at `now`.
 */
export function forecastFor(
  db: Db,
  automation: Automation,
  email: string | null,
  { now, zone, asIfLive }: { now: number; zone: string; asIfLive: boolean },
): Plan {
  const client = db.$client;
  const isLive = asIfLive || automation.status === AUTOMATION_STATUS.live;
  const addressId = findAddressId(db.$client, automation.user_id, email === null ? null : parseAddress(email));
  const schedules = listSchedules(db, automation.id);
  const enrolment =
    addressId === undefined
      ? undefined
      : (findEnrolment(client, automation, addressId) ?? findPendingJoin(client, automation, addressId));
  const obstacle = addressId === undefined ? null : findObstacle(client, automation, addressId, enrolment);
  const isMember = addressId !== undefined && isInTarget(client, automation, addressId);
  if (enrolment === undefined) {
    const { trigger_kind: kind } = automation;
    const reason = obstacle ?? sentence(isMember ? (NOT_ENTERED[kind] ?? 'awaits_trigger') : 'not_in_target');
    // Who is in the target can enter, except by joining it; who is outside can enter only by joining it.
    const wouldEnter = isLive && obstacle === null && (email === null || isMember !== (kind === 'join'));
    const due = wouldEnter ? now + waitMs(schedules[0]) : null;
    return { state: 'outside', reason, entered_at: null, run: 0, steps: planSteps(schedules, 0, due, new Map()) };
  }
  const isActive = enrolment.state === 'active';
  const hasLeftTarget =
    automation.exit_criteria === 1 && hasPendingLeave(client, automation, addressId ?? 0, enrolment);
  const exitReason = hasLeftTarget
    ? sentence('left_target')
    : (findEnd(client, automation, addressId ?? 0) ?? obstacle);
  const getsMore = isActive && exitReason === null && isLive;
  const progress = takenSteps(client, enrolment.id);
  const next = schedules.find(({ position }) => position > enrolment.position);
  const awaited =
    next === undefined || !isActive || exitReason !== null
      ? null
      : findAwaited(db, enrolment.id, next, { now, zone, isLive });
  const due = awaited?.due ?? progress.get(next?.id ?? 0)?.due_at ?? enrolment.waiting_since + waitMs(next);
  const activeReason = exitReason ?? (isLive ? null : sentence('automation_not_live'));
  return {
    state: enrolment.state === 'active' ? 'waiting' : enrolment.state,
    reason: isActive ? activeReason : readStored(enrolment.reason),
    entered_at: isoTimestamp(new Date(enrolment.entered_at)),
    run: enrolment.run,
    steps: planSteps(schedules, enrolment.position, getsMore ? Math.max(now, due) : null, progress).map((step) => ({
      ...step,
      awaited: step.schedule === next ? awaited : null,
    })),
  };
}

/** Why a contact of the target has not entered, by the trigger; `awaits_trigger` for all other triggers. */
const NOT_ENTERED: Partial<Record<Automation['trigger_kind'], 'joined_outside_live' | 'awaits_event'>> = {
  join: 'joined_outside_live',
  event: 'awaits_event',
};

/** Returns the newest enrolment of an address, with its position after all moves that are still to be applied. */
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
 * Returns true if the contact left the target after the join, and the background thread has not applied this yet. The contact may have
 * joined again since then.
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

/**
 * Returns the steps of an automation for one contact: steps up to the position `passed` with what was done at them, and later steps with
 * their due times. `due` is the due time of the first later step in epoch milliseconds, or null if no further step comes.
 */
function planSteps(
  schedules: readonly ListedSchedule[],
  passed: number,
  due: number | null,
  progress: ReadonlyMap<number, TakenStep>,
): PlannedStep[] {
  let next = due;
  return schedules.map((schedule, at) => {
    const taken = progress.get(schedule.id);
    const is_elsewhere = isOnOtherPath(schedule, progress);
    // After a reorder, a mail that the contact has already got can have a position after `passed`.
    const isAhead = schedule.position > passed && !is_elsewhere && (taken === undefined || taken.due_at !== null);
    const due_at = isAhead ? next : (taken?.due_at ?? null);
    const following = schedules
      .slice(at + 1)
      .find((step) => progress.get(step.id) === undefined && !isOnOtherPath(step, progress));
    if (isAhead && next !== null) next += waitMs(following);
    // Before the contact reaches such a step, its path or its wait is unknown, and so are the times of all later steps.
    if (isAhead && (isDeciding(schedule) || schedule.kind === 'wait_until')) next = null;
    return { schedule, taken, due_at, is_elsewhere, awaited: null };
  });
}

/** Returns a moment in epoch milliseconds as an ISO timestamp; null if there is no moment. */
export function timestampOf(moment: number | null | undefined): string | null {
  return moment === null || moment === undefined ? null : isoTimestamp(new Date(moment));
}

/** Returns true if the contact took the other path at the deciding step to whose path this step belongs. */
function isOnOtherPath({ parent_id, branch }: ListedSchedule, progress: ReadonlyMap<number, TakenStep>): boolean {
  const taken = parent_id === null ? undefined : progress.get(parent_id);
  return taken !== undefined && taken.outcome !== branch;
}

/** A step that a contact has taken. Times are epoch milliseconds. */
interface TakenStep {
  schedule_id: number;
  outcome: (typeof STEP_OUTCOMES)[number];
  taken_at: number;
  /** The state of the delivery of a mail, a `DELIVERY_STATE`; null if the step has no delivery. */
  delivery: number | null;
  /** How often the delivery was attempted; null if the step has no delivery. */
  attempts: number | null;
  /** The last reply of the SMTP server, or the stored reason why the mail was not sent; null if the step has no delivery. */
  reply: string | null;
  /** The values that decided at the step, as a stored sentence; null if no values decided, or the log no longer has them. */
  used: string | null;
  /** When the SMTP server accepted the mail, even if it bounced later; null if the mail was not accepted. */
  sent_at: number | null;
  /** When the queued mail is due; null if the mail is not queued. */
  due_at: number | null;
}

/** Returns the steps that an enrolment has taken, by their ids. */
function takenSteps(client: Database, enrolmentId: number): Map<number, TakenStep> {
  const steps = client
    .prepare<[number], TakenStep>(`
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

/** Returns why the contact would not get the next mail, other than that the automation has ended for them; null if nothing prevents the mail. */
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
        CROSS JOIN (SELECT @group AS unsubscribe_group_id) m ${TARGET_SEGMENT_JOIN}
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

/** Returns why the automation has ended for the contact because of their lists and segments; null if it has not ended. */
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
  name: 'Preview what one contact receives from an automation, and when (addition)',
  description: 'If email is absent, the preview is for a contact who enters now.',
  role: 'viewer',
  input: Type.Object({
    ...ByUtr.properties,
    email: Type.Optional(emailSchema()),
    if_live: optionalFlag('1: the preview assumes that the automation goes live now, so that a draft can be tried.'),
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
        sent_at: timestampOf(taken?.sent_at),
        due_at: timestampOf(due_at),
      }));
    const { awaits = null, change = null } = steps.find(({ awaited }) => awaited !== null)?.awaited ?? {};
    return { preview: { state, reason, reason_code: codeOf(reason), entered_at, awaits, change, mails } };
  },
});
