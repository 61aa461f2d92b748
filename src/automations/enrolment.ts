/**
 * Enrolments in automations: entering, waiting, getting the next mail, and exiting. Entering and sending process one page of rows,
 * found through an index, in one short transaction, so that a hundred thousand contacts who enter at once delay nothing else.
 */

import type { Database } from 'better-sqlite3';
import { eq, sql } from 'drizzle-orm';
import { ineligibilityReason, isLiveContact } from '../audience/eligibility.ts';
import { listCustomFields } from '../audience/fields/custom-fields.ts';
import type { Db } from '../database/open.ts';
import { prepared } from '../database/prepared.ts';
import {
  AUTOMATION_STATUS,
  automationSchedules,
  automations,
  type SegmentRule,
  segments,
} from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { isTransientSqliteError } from '../database/write-lock.ts';
import {
  endReason,
  endReasonOf,
  enrolmentEnd,
  enrolmentMoves,
  finishDueEnrolments,
  NEXT_SCHEDULE,
  passStep,
  passStepTo,
  waitMs,
} from '../delivery/queue/enrolment-state.ts';
import { deliveryQueue } from '../delivery/queue/ledger/enqueue.ts';
import { fractionFor } from '../delivery/queue/variant-groups.ts';
import { findZone } from '../delivery/timing/local-times.ts';
import { sentence } from '../errors/sentences.ts';
import { stored, storedSql } from '../errors/stored.ts';
import type { Log } from '../log.ts';
import { isoTimestamp } from '../time/clock.ts';
import {
  type Automation,
  type AutomationDeps,
  createScheduleMailing,
  freezeSchedule,
  listSchedules,
  problemOf,
  type Schedule,
} from './automations.ts';
import { stepAfter } from './path.ts';
import { holdAutomations, holdFailedAutomation } from './status.ts';
import { type Acting, type AtStep, act, type Taken } from './step-actions.ts';
import { lastLine, noteUsed, saidValues, type Used, usedField, usedFields } from './used-values.ts';
import { endWaits, type WaitingContact, type Waits, waitColumns } from './waits.ts';

const PAGE_ROWS = 250;
/**
 * The number of contacts who take a step at once, by the kind of the step, where that takes a few milliseconds because less is
 * written for each.
 */
const STEP_ROWS: Partial<Record<Schedule['kind'], number>> = { if: 1000, split: 1000, set_field: 500 };

interface Change {
  id: number;
  automation_id: number;
  address_id: number;
  contact_id: number | null;
  change: 'joined' | 'let_in' | 'left' | 'goal' | 'exit' | 'arrived' | 'changed';
  step_id: number | null;
  event_key: string | null;
  happened_at: number;
}

/** SQL: a page of recorded changes that have not been applied, oldest first. */
export const MEMBERSHIP_CHANGES_PAGE = `
  SELECT m.id, m.automation_id, m.address_id, m.contact_id, m.change, m.step_id, m.event_key, m.happened_at FROM membership_changes m ORDER BY m.id LIMIT ${PAGE_ROWS}`;

/**
 * Applies the next page of recorded changes in their order: enrols contacts who joined, ends the enrolments of contacts
 * who left, and wakes contacts who waited for what happened. Returns how many changes were applied. A join is recorded
 * only while the automation is live, so it still counts if the automation was paused since.
 */
export function applyMembershipChanges(client: Database): number {
  // Checked first, because an immediate transaction takes the write lock from requests even if there is nothing to do.
  if (prepared(client, 'SELECT 1 FROM membership_changes LIMIT 1').get() === undefined) return 0;
  return client
    .transaction(() => {
      const page = prepared<[], Change>(client, MEMBERSHIP_CHANGES_PAGE).all();
      const last = page.at(-1);
      if (last === undefined) return 0;
      const { enter, leaveTarget, joinEnd, wake } = enrolmentMoves(client);
      for (const { id: _id, change, happened_at: at, ...row } of page) {
        if (change === 'joined' || change === 'let_in') enter({ ...row, at });
        else if (change === 'left') leaveTarget({ ...row, at });
        else if (change === 'arrived' || change === 'changed') wake({ ...row, at, change });
        else joinEnd({ ...row, at }, change);
      }
      prepared(client, 'DELETE FROM membership_changes WHERE id <= ?').run(last.id);
      return page.length;
    })
    .immediate();
}

/**
 * SQL: true if steps of the automation can be taken: it is live, and no enrolment is still to be moved. Until then due times may be from
 * before a change of its mails.
 */
const IS_GOING = `automations.status = ${AUTOMATION_STATUS.live} AND automations.deleted_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM automation_moves v WHERE v.automation_id = automations.id)`;

interface DueSchedule {
  automation_id: number;
  schedule_id: number | null;
}

/** SQL: the next step of the first due enrolment; `schedule_id` is null after the last step. */
export const FIRST_DUE = `
  SELECT e.automation_id, ${NEXT_SCHEDULE} AS schedule_id FROM enrolments e INDEXED BY enrolments_due
  WHERE e.automation_id = ? AND e.state = 'active' AND e.delivery_id IS NULL AND e.due_at <= ? ORDER BY e.due_at LIMIT 1`;

/**
 * Takes the next step of due enrolments, a page for each automation: enqueues its mail, decides on the path or changes the contacts. Returns
 * the number of enrolments. An automation that fails becomes a draft with a reason, and the others continue. Throws if the disk fails.
 * `keepsValues`: false in a replay, because the values that the contacts had in the past are not known.
 */
export async function enqueueDueMails(deps: AutomationDeps & { log: Log }, keepsValues = true): Promise<number> {
  const { db, clock, log } = deps;
  const client = db.$client;
  const now = clock.now().getTime();
  let moved = 0;
  const live = prepared<[], { id: number }>(client, `SELECT id FROM automations WHERE ${IS_GOING}`).all();
  const due = prepared<[number, number], DueSchedule>(client, FIRST_DUE);
  const step = prepared<[number], Pick<Schedule, 'kind'>>(client, 'SELECT kind FROM automation_schedules WHERE id = ?');
  for (const { id } of live) {
    const first = due.get(id, now);
    if (first === undefined) continue;
    try {
      if (first.schedule_id === null) moved += finishDueEnrolments(client, id, now, PAGE_ROWS);
      else if (step.get(first.schedule_id)?.kind === 'mail')
        moved += await sendSchedule(deps, id, first.schedule_id, now);
      else moved += takeStep(deps, id, first.schedule_id, now, keepsValues);
    } catch (error) {
      if (isTransientSqliteError(error)) throw error;
      log({ automation: id, err: String(error) }, 'an automation could not go on', 'error');
      holdFailedAutomation(db, id, error, clock.now());
    }
  }
  return moved;
}

async function sendSchedule(
  deps: AutomationDeps,
  automationId: number,
  scheduleId: number,
  now: number,
): Promise<number> {
  const { db } = deps;
  const mailing = newestMailing(db.$client, scheduleId) ?? (await createMissingMailing(deps, automationId, scheduleId));
  return mailing === undefined ? 0 : enqueueScheduleMail(db.$client, automationId, scheduleId, mailing, now);
}

/** Returns the id of the newest mailing of a schedule; undefined if it has none. */
function newestMailing(client: Database, scheduleId: number): number | undefined {
  return prepared<[number], { id: number }>(
    client,
    `SELECT id FROM mailings WHERE owner_kind = 'schedule' AND owner_id = ? ORDER BY revision DESC LIMIT 1`,
  ).get(scheduleId)?.id;
}

/**
 * Creates the mailing of a schedule that was added while the automation was live. If its content cannot be sent, the automation
 * becomes a draft.
 */
async function createMissingMailing(
  deps: AutomationDeps,
  automationId: number,
  scheduleId: number,
): Promise<number | undefined> {
  const { db, clock } = deps;
  const schedule = db.select().from(automationSchedules).where(eq(automationSchedules.id, scheduleId)).get();
  const automation = db.select().from(automations).where(eq(automations.id, automationId)).get();
  if (schedule === undefined || automation === undefined) return;
  const result = await freezeSchedule(deps, automation, schedule);
  const now = isoTimestamp(clock.now());
  return inTransaction(db, () => {
    if ('problem' in result) {
      holdAutomations(
        db,
        sql`id = ${automationId}`,
        {
          held_code: result.code,
          held_reason: problemOf('held_mail', schedule, result),
        },
        now,
      );
      return;
    }
    const current = listSchedules(db, automationId).find(({ id }) => id === scheduleId);
    if (current?.updated_at !== schedule.updated_at) return;
    createScheduleMailing(db, automation, schedule, result, now);
    return newestMailing(db.$client, scheduleId);
  });
}

/**
 * SQL joins that find the contact of enrolment `e`: `c` is the contact that entered, in whichever contact type it is now; `k` is the
 * contact with the same address in the targeted contact type, for example after another import; `r` is its row in the targeted segment.
 */
export const ENROLLED_PERSON = `
  LEFT JOIN contacts c ON c.id = e.contact_id AND c.address_id = e.address_id AND ${isLiveContact('c')}
  LEFT JOIN contacts k ON au.automation_for_table = 'contacts' AND k.contact_type_id = au.automation_for
    AND k.address_id = e.address_id AND ${isLiveContact('k')}
  LEFT JOIN segment_recipients r ON au.automation_for_table = 'segments' AND r.segment_id = au.automation_for
    AND r.address_id = e.address_id AND r.is_removed = 0`;

/** SQL: the contact whose values the mail gets, after the joins of `ENROLLED_PERSON`; null for a recipient who is not a contact. */
export const CONTACT = 'coalesce(c.id, k.id, r.contact_id)';

/**
 * SQL: why the recipient would not get the next mail, except for leaving the target; null if nothing prevents it. Needs `ENROLLED_PERSON`.
 */
export const OBSTACLE = `ifnull(${ineligibilityReason('e', 'm.unsubscribe_group_id')}, iif(${CONTACT} IS NULL AND r.id IS NULL, ${storedSql('contact_deleted')}, NULL))`;

/**
 * SQL: a page of the enrolments of @automation whose next step is @schedule, due at @now, in the order of their due times. Their positions
 * are from @low to below @high, because `IS_GOING` excludes automations with enrolments that are still to be moved.
 */
const duePage = (columns: string, joins: string, rows: number) => `
  SELECT e.id, e.address_id, ${columns} FROM enrolments e INDEXED BY enrolments_due JOIN automations au ON au.id = e.automation_id ${joins}
  WHERE e.automation_id = @automation AND e.state = 'active' AND e.delivery_id IS NULL AND e.due_at <= @now AND e.position >= @low AND e.position < @high
  ORDER BY e.due_at, e.id LIMIT ${rows}`;

/** Returns the bounds of `duePage` for a step. */
function boundsOf(client: Database, automation: number, schedule: number, now: number) {
  const bounds = prepared<[object], { low: number; high: number }>(
    client,
    `SELECT ifnull((SELECT max(p.position) FROM automation_schedules p WHERE p.automation_id = s.automation_id AND p.position < s.position), 0) AS low,
      s.position AS high FROM automation_schedules s WHERE s.id = @schedule`,
  ).get({ schedule });
  return { automation, schedule, now, low: 0, high: 0, ...bounds };
}

const DUE_FOR_MAIL = duePage(
  `${CONTACT} AS contact_id, r.id AS segment_recipient_id, e.run, ifnull(${endReason('e')}, ${OBSTACLE}) AS reason,
    EXISTS (SELECT 1 FROM steps t WHERE t.enrolment_id = e.id AND t.schedule_id = @schedule) AS is_taken`,
  `JOIN mailings m ON m.id = @mailing ${ENROLLED_PERSON}`,
  PAGE_ROWS,
);
const IN_SEGMENT = `EXISTS (SELECT 1 FROM segment_recipients x JOIN segments g ON g.id = x.segment_id AND g.deleted_at IS NULL
  WHERE x.segment_id = @segment AND x.address_id = e.address_id AND x.is_removed = 0)`;

/** Enqueues the mail for a page of due enrolments, and ends the enrolments of recipients who may not get it, in one transaction. */
function enqueueScheduleMail(
  client: Database,
  automationId: number,
  scheduleId: number,
  mailingId: number,
  now: number,
): number {
  const bounds = { ...boundsOf(client, automationId, scheduleId, now), mailing: mailingId };
  return client
    .transaction(() => {
      // A newer revision may have replaced this mailing. Deliveries added to a finished mailing would never be sent.
      const isLive = prepared(
        client,
        `
          SELECT 1 FROM automations WHERE id = @automation AND ${IS_GOING}
            AND EXISTS (SELECT 1 FROM mailings WHERE id = @mailing AND finished_at IS NULL)`,
      ).get({ automation: automationId, mailing: mailingId });
      if (isLive === undefined) return 0;
      const page = prepared<
        [object],
        AtStep & { segment_recipient_id: number | null; run: number; is_taken: 0 | 1; reason: string | null }
      >(client, DUE_FOR_MAIL).all(bounds);
      const leave = enrolmentEnd(client, now);
      const step = prepared(
        client,
        'INSERT INTO steps (enrolment_id, schedule_id, delivery_id, outcome, taken_at) VALUES (?, ?, ?, ?, ?)',
      );
      const deliver = deliveryQueue(client);
      const send = prepared(client, 'UPDATE enrolments SET delivery_id = ?, contact_id = ? WHERE id = ?');
      for (const { id, address_id, contact_id, segment_recipient_id, run, is_taken, reason } of page) {
        if (reason !== null) {
          leave(id, reason);
          continue;
        }
        const delivery =
          is_taken === 1 ? null : deliver({ mailing_id: mailingId, address_id, contact_id, segment_recipient_id, run });
        if (is_taken === 0) step.run(id, scheduleId, delivery, delivery === null ? 'skipped' : 'mail', now);
        // Without a delivery the contact has got the mail already, for example at another address.
        if (delivery === null) passStep(client, [id], now);
        else send.run(delivery, contact_id, id);
      }
      return page.length;
    })
    .immediate();
}

/** A step other than a mail, with what ends the automation. */
type OtherStep = Pick<Schedule, 'utr' | 'share'> &
  Acting &
  Waits &
  Pick<Automation, 'goal_segment_id' | 'exit_segment_id' | 'exit_criteria'>;

/**
 * Takes a step other than a mail for a page of due enrolments, in one transaction with its lines of the log. Returns how many took it, or wait
 * at it. A contact for whom the automation has ended exits instead.
 */
function takeStep(
  { db, config }: AutomationDeps,
  automation: number,
  schedule: number,
  now: number,
  keepsValues: boolean,
): number {
  const client = db.$client;
  return client
    .transaction(() => {
      const step = prepared<[number, number], OtherStep>(
        client,
        `SELECT s.*, automations.goal_segment_id, automations.exit_segment_id, automations.exit_criteria
        FROM automation_schedules s JOIN automations ON automations.id = s.automation_id WHERE s.id = ? AND s.automation_id = ? AND ${IS_GOING}`,
      ).get(schedule, automation);
      if (step === undefined) return 0;
      const leave = enrolmentEnd(client, now);
      const bounds = boundsOf(client, automation, schedule, now);
      let found = 0;
      const readPage = <Row extends AtStep>(columns: string, joins: string): Row[] => {
        const page = duePage(
          `${columns}, ${endReasonOf(step, 'e')} AS reason`,
          joins,
          STEP_ROWS[step.kind] ?? PAGE_ROWS,
        );
        const rows = prepared<[object], Row & { reason: string | null }>(client, page).all({
          ...bounds,
          segment: step.segment_id ?? 0,
        });
        found = rows.length;
        for (const { id, reason } of rows) if (reason !== null) leave(id, reason);
        return rows.filter(({ reason }) => reason === null);
      };
      const line = lastLine(client);
      const { taken, used } = takenBy(step, readPage, db, { now, zone: config.TIME_ZONE });
      const steps = prepared<[number], PlacedStep>(client, PLACED_STEPS).all(automation);
      for (const [outcome, theirs] of Map.groupBy(taken, (one) => one.outcome)) {
        const ids = theirs.map(({ id }) => id);
        prepared<[object]>(
          client,
          `INSERT INTO steps (enrolment_id, schedule_id, outcome, taken_at)
          SELECT value, @schedule, @outcome, @now FROM json_each(@ids) WHERE true ON CONFLICT DO NOTHING`,
        ).run({ ids: JSON.stringify(ids), schedule, outcome, now });
        const next = stepAfter(steps, schedule, outcome);
        if (outcome === 'exit') for (const id of ids) leave(id, stored(sentence('exit_step')));
        else if (next === null) passStepTo(client, ids, now, { id: 0, before: steps.at(-1)?.position ?? 0, wait: 0 });
        else passStepTo(client, ids, now, { id: next.id, before: next.position - 1, wait: waitMs(next) });
      }
      if (keepsValues) noteUsed(client, line, used);
      return found;
    })
    .immediate();
}

type PlacedStep = Pick<Schedule, 'id' | 'position' | 'parent_id' | 'branch' | 'waiting_type' | 'waiting_period'>;

const PLACED_STEPS =
  'SELECT id, position, parent_id, branch, waiting_type, waiting_period FROM automation_schedules WHERE automation_id = ? ORDER BY position';

/** The enrolments that take a step, and which values of the contacts decided. */
interface TakenStep {
  taken: Taken[];
  used: readonly Used[];
}

/**
 * Takes a step for the next page of enrolments: decides on a path, changes the contacts, or ends a wait. Returns the enrolments that took the
 * step, each with its outcome, and the values that decided.
 */
function takenBy(
  step: OtherStep,
  readPage: <Row extends AtStep>(columns: string, joins: string) => Row[],
  db: Db,
  { now, zone }: { now: number; zone: string },
): TakenStep {
  const account = step.user_id;
  const withPerson = `${ENROLLED_PERSON} LEFT JOIN contacts p ON p.id = ${CONTACT}`;
  switch (step.kind) {
    case 'if': {
      const fields = usedFields(db, account, rulesOf(db, step.segment_id));
      const columns = `NULL AS contact_id, ${IN_SEGMENT} AS is_in, json_array(${fields.map(({ sql }) => sql).join()}) AS found`;
      const people = readPage<AtStep & { is_in: 0 | 1; found: string }>(columns, fields.length === 0 ? '' : withPerson);
      return {
        taken: people.map(({ id, is_in }) => ({ id, outcome: is_in === 1 ? 'yes' : 'no' })),
        used: fields.length === 0 ? [] : people.map(({ id, found }) => ({ id, used: saidValues(fields, found) })),
      };
    }
    case 'split': {
      const share = (step.share ?? 0) / 100;
      const taken = readPage('NULL AS contact_id', '').map(
        ({ id, address_id }): Taken => ({
          id,
          outcome: fractionFor(address_id, step.utr) < share ? 'yes' : 'no',
        }),
      );
      return { taken, used: [] };
    }
    case 'exit':
      return { taken: readPage('NULL AS contact_id', '').map(({ id }) => ({ id, outcome: 'exit' })), used: [] };
    case 'wait_until': {
      const people = readPage<WaitingContact>(`${CONTACT} AS contact_id, ${waitColumns(db, step)}`, withPerson);
      const taken = endWaits(db.$client, step, people, { now, zone });
      return { taken, used: step.until === 'event' ? [] : usedTimes(db, step, people, taken, zone) };
    }
    default: {
      const field =
        step.kind === 'set_field' ? usedField(db, account, { field: step.field ?? '', customId: step.field_id }) : null;
      const people = readPage<AtStep & { before: string }>(
        `${CONTACT} AS contact_id, ${field?.sql ?? "''"} AS before`,
        field === null ? ENROLLED_PERSON : withPerson,
      );
      const done = act(db, step, people, new Date(now));
      const changed = field === null ? [] : people.filter(({ id }) => done.has(id));
      return {
        taken: people.map(({ id }) => ({ id, outcome: done.has(id) ? 'done' : 'not_done' })),
        used: changed.map(({ id, before }) => ({
          id,
          used: sentence('used_change', { field: field?.name ?? '', before: before || '–', after: step.value || '–' }),
        })),
      };
    }
  }
}

/** Returns the rules of a segment; none if there is no such segment. */
function rulesOf(db: Db, segment: number | null): SegmentRule[] {
  const found = db
    .select({ rules: segments.rules })
    .from(segments)
    .where(eq(segments.id, segment ?? 0))
    .get();
  return found?.rules ?? [];
}

/** Returns by which time zone, and which date, those waited who go on. */
function usedTimes(
  db: Db,
  step: OtherStep,
  people: readonly WaitingContact[],
  taken: readonly Taken[],
  zone: string,
): Used[] {
  const name = listCustomFields(db, step.user_id).find(({ id }) => id === step.field_id)?.field_name ?? '';
  const goOn = new Set(taken.map(({ id }) => id));
  return people
    .filter(({ id }) => goOn.has(id))
    .map((contact) => {
      const theirs = findZone(contact) ?? zone;
      return {
        id: contact.id,
        used:
          step.until === 'date'
            ? sentence('used_date', { field: name, date: contact.date || '–', zone: theirs })
            : sentence('used_zone', { zone: theirs }),
      };
    });
}
